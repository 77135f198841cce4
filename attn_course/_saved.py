"""What a notebook keeps of the widgets when JupyterLab saves it.

The live view of a widget is no more than the number of a model in a kernel. Once that kernel has
stopped, JupyterLab shows an error in its place, although the figure that needs no kernel lies beside it.
``jupyter_server_config.py`` names `without_views` as what the server does before it saves.
"""

VIEW = "application/vnd.jupyter.widget-view+json"
FIGURE = "text/html"


def without_views(model, **_):
    """Leave the live views out of a notebook that is saved, where something else can be shown.

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
