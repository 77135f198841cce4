"""Remove live views of widgets from notebooks that JupyterLab saves.

The live view of a widget only refers to a model in a kernel. After the kernel has stopped,
JupyterLab shows an error in its place, although the static figure is in the notebook too.
``jupyter_server_config.py`` calls `without_views` before each save.
"""

VIEW = "application/vnd.jupyter.widget-view+json"
FIGURE = "text/html"


def without_views(model, **_):
    """Remove live views from a notebook if their output has another format.

    Parameters
    ----------
    model : dict
        What Jupyter's contents manager is about to save; a notebook is changed in place.

    Examples
    --------
    >>> data = {VIEW: {"model_id": "1f"}, FIGURE: "<div></div>"}
    >>> cell = {"cell_type": "code", "outputs": [{"data": data}]}
    >>> without_views({"type": "notebook", "content": {"cells": [cell]}})
    >>> data
    {'text/html': '<div></div>'}
    """
    if model.get("type") != "notebook" or not model.get("content"):
        return
    for cell in model["content"].get("cells", ()):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if FIGURE in data:
                data.pop(VIEW, None)
