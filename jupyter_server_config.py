"""What JupyterLab does with the notebooks of the course.

`make lab`, Binder and whoever unpacks the zip of notebooks name this folder in JUPYTER_CONFIG_PATH.
"""

import platform

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

VIEW = "application/vnd.jupyter.widget-view+json"


def without_views(notebook):
    """Leave out the live views of widgets where the figure that needs no kernel lies beside them.

    A view is only the number of a model in a kernel. Once that kernel has stopped, JupyterLab would
    show an error in its place.
    """
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output["data"].pop(VIEW, None)


class Contents(AsyncLargeFileManager):
    """The files of the course as they are opened and saved."""

    def mark_trusted_cells(self, nb, path=""):
        """Prepare a notebook that is opened: the server calls this for each of them."""
        super().mark_trusted_cells(nb, path)
        without_views(nb)  # it may have been saved elsewhere
        # JupyterLab writes what the kernel says of itself into every notebook that it opens, and would
        # mark as changed one that another Python has saved.
        kernel, language = (nb.metadata.get(key, {}) for key in ("kernelspec", "language_info"))
        try:
            spec = self.parent.kernel_spec_manager.get_kernel_spec(kernel.get("name", ""))
        except NoSuchKernel:
            return
        kernel["display_name"] = spec.display_name
        if language.get("name") == "python":
            language["version"] = platform.python_version()

    def check_and_sign(self, nb, path=""):
        """Prepare a notebook that is saved: the server calls this before it writes."""
        without_views(nb)
        super().check_and_sign(nb, path)


def for_learners(handler, page_config):
    """Leave out the menus of Nbgrader: who teaches starts JupyterLab in the folder of the class.

    The notebooks are plain Markdown, which an older installation may still show in a way of its own.
    """
    page_config["disabledExtensions"] += ["@jupyter/nbgrader", "jupyterlab-myst"]
    return page_config


c = get_config()  # noqa: F821 - Jupyter gives it to this file
c.ServerApp.contents_manager_class = Contents
c.ServerApp.tornado_settings = {"page_config_hook": for_learners}
c.ServerApp.jpserver_extensions = {
    f"nbgrader.server_extensions.{name}": False
    for name in ("assignment_list", "course_list", "formgrader", "validate_assignment")
}
