"""Links that open a notebook without an installation, and how it then installs its package.

All of them need one setting, the URL of the repository: ``ATTN_REPOSITORY``, such as
``https://github.com/someone/attn``. Without it a page offers the notebook alone.
"""

import json
import os
import re
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
# The branch that the publishing workflow fills with notebooks that install their package.
BRANCH = "launch"

INSTALL = """\
# Outside a clone of the course, this brings its package and the measurements that it shows.
import importlib.util
from pathlib import Path

if not Path("../data").is_dir():
    if not Path("attn/notebooks").is_dir():
        !git init -q attn && cd attn && git fetch -q --depth 1 {home} {commit} && git checkout -q FETCH_HEAD
    if importlib.util.find_spec("attn_course") is None:
        %pip install --quiet "./attn[course]"
    %cd -q attn/notebooks/{language}
"""


def repository():
    """Return the URL of the repository, or an empty string.

    Raises
    ------
    ValueError
        If it is not the URL of a repository on GitHub, which Colab and Binder need.
    """
    address = os.environ.get("ATTN_REPOSITORY", "").rstrip("/").removesuffix(".git")
    start, _, rest = address.partition("://github.com/")
    if address and (start != "https" or rest.count("/") != 1 or not all(rest.split("/"))):
        wanted = "https://github.com/ and the names of its owner and of the repository"
        raise ValueError(f"ATTN_REPOSITORY: expected {wanted}, got {address!r}")
    return address


def addresses(language, name):
    """Return the URLs at which a chapter opens, by service.

    Parameters
    ----------
    language : {"es", "en"}
    name : str
        Of the notebook, without its ending.

    Returns
    -------
    dict of str to str
        Empty if the repository is not set.
    """
    if not (home := repository()):
        return {}
    path = home.partition("://github.com/")[2]
    return {
        "Colab": f"https://colab.research.google.com/github/{path}/blob/{BRANCH}/{language}/{name}.ipynb",
        "Binder": f"https://mybinder.org/v2/gh/{path}/HEAD?labpath=notebooks%2F{language}%2F{name}.ipynb",
    }


def reports(body, page, label):
    """Put a link that reports an error in the section beside each section's own link.

    Parameters
    ----------
    body : str
        The HTML of a page.
    page : str
        The name of the page, with which the report begins.
    label : str
        The text of the link.

    Returns
    -------
    str
        The unchanged page if the repository is not set.
    """
    if not (home := repository()):
        return body

    def beside(link):
        title = quote(f"{page}#{link['id']}: ")
        report = (
            f'<a class="headerlink" href="{home}/issues/new?title={title}" title="{label}">✎</a>'
        )
        return link[0] + report

    return re.sub(
        r'<a class="headerlink" href="#(?P<id>[^"]+)"[^>]*>#</a>(?=</h[123]>)', beside, body
    )


def prepared(notebook, language):
    """Return the text of a notebook that installs its package if it is missing.

    Parameters
    ----------
    notebook : str
        A notebook of the course, as JSON.
    language : {"es", "en"}

    Returns
    -------
    str
        The unchanged notebook if the repository is not set.
    """
    if not (home := repository()):
        return notebook
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    # A workflow sets the commit of the site; elsewhere the version is used.
    commit = os.environ.get("GITHUB_SHA") or f"v{version}"
    source = INSTALL.format(commit=commit, home=home, language=language)
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "install",
        "outputs": [],
        "metadata": {"tags": ["hide-input"]},
        "source": source.splitlines(keepends=True),
    }
    content = json.loads(notebook)
    # After the first heading, where a reader looks for the first code to run.
    at = next(n for n, each in enumerate(content["cells"]) if each["cell_type"] == "code")
    content["cells"].insert(at, cell)
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def write(folder):
    """Write the notebooks of both languages, prepared, into a folder.

    Parameters
    ----------
    folder : Path
    """
    for path in sorted((ROOT / "notebooks").glob("e[sn]/*.ipynb")):
        target = folder / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            prepared(path.read_text(encoding="utf-8"), path.parent.name), encoding="utf-8"
        )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
