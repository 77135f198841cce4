"""The configuration of Sphinx, read from Jupyter Book's, for builds without Jupyter Book.

``sphinx-build -c book . build/html`` builds the Spanish edition, as ``jupyter-book build .`` does.
"""

import os
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CONFIG = Path(os.environ.get("ATTN_CONFIG", ROOT / "_config.yml"))
# The place of each of Jupyter Book's settings, and its name in Sphinx or an extension.
NAMES = {
    ("title",): "html_title",
    ("author",): "author",
    ("copyright",): "copyright",
    ("exclude_patterns",): "exclude_patterns",
    ("only_build_toc_files",): "external_toc_exclude_missing",
    ("execute", "execute_notebooks"): "nb_execution_mode",
    ("parse", "myst_enable_extensions"): "myst_enable_extensions",
    ("html", "use_multitoc_numbering"): "use_multitoc_numbering",
}


def settings(written, found=()):
    """Return Sphinx's settings from Jupyter Book's; an unknown name raises an error."""
    if found in NAMES:
        return {NAMES[found]: written}
    if found == ("bibtex_bibfiles",):  # Sphinx looks for these beside this file.
        return {"bibtex_bibfiles": [str(ROOT / file) for file in written]}
    if found == ("sphinx", "config"):
        # Jupyter Book's own extension only declares two settings.
        used = [name for name in written["extensions"] if name != "jupyter_book"]
        return {**written, "extensions": used}
    if found == ("sphinx", "local_extensions"):
        sys.path += [str(CONFIG.parent / folder) for folder in written.values()]
        return {}
    if found == ("latex", "use_jupyterbook_latex"):
        return {}
    if isinstance(written, dict):
        parts = [settings(value, (*found, name)) for name, value in written.items()]
        return {name: value for part in parts for name, value in part.items()}
    raise ValueError(f"{CONFIG}: expected a setting that conf.py knows, got {'.'.join(found)}")


globals().update(settings(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))))
html_sourcelink_suffix = ""  # The page offers the notebook under its own name.
