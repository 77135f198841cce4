"""The shape of the repository: who imports whom, what is pinned, what must not be there."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TRACKED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.split("\n")[:-1]  # fmt: skip

# What each part of attn may import from attn. Imports go one way: down this table.
MAY_IMPORT = {
    "attn": {"attn.language"},
    "attn.language": set(),
    "attn.palette": set(),
    "attn._checks": set(),
    "attn.reference": {"attn.reference", "attn._checks"},
    "attn.masks": {"attn._checks"},
    "attn.attention": {"attn.attention", "attn._checks", "attn.masks"},
    "attn.recurrent": {"attn._checks"},
    "attn.positions": {"attn.positions", "attn._checks"},
    "attn.cache": {"attn._checks"},
    "attn.layers": {"attn._checks", "attn.attention"},
    "attn.transformer": {
        "attn.transformer",
        "attn._checks",
        "attn.cache",
        "attn.layers",
        "attn.positions",
    },
    "attn.decoding": {"attn.decoding", "attn._checks"},
    "attn.tokenizer": {"attn.tokenizer", "attn._checks"},
    "attn.training": {"attn.training", "attn._checks"},
    "attn.metrics": {"attn.metrics", "attn._checks"},
    "attn.corpus": {"attn.corpus", "attn._checks"},
    "attn.applications": {
        "attn.applications",
        "attn._checks",
        "attn.attention",
        "attn.corpus",
        "attn.decoding",
        "attn.layers",
        "attn.masks",
        "attn.metrics",
        "attn.positions",
        "attn.tokenizer",
        "attn.training",
        "attn.transformer",
    },
    "attn.__main__": {"attn._checks", "attn.applications", "attn.corpus", "attn.training"},
    "attn.plots": {"attn.plots", "attn.palette", "attn.language", "attn.reference"},
    "attn.exercises": {"attn.exercises", "attn.reference", "attn.language", "attn._checks"},
    "attn.widgets": {
        "attn.widgets",
        "attn.reference",
        "attn.language",
        "attn.palette",
        "attn._checks",
    },
}


def room(module):
    """Return the row of the table a module belongs to: ``attn``, or the part of it."""
    return ".".join(module.split(".")[:2])


def internal_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [node.module]
            if node.module == "attn":
                names = [f"attn.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.split(".")[0] == "attn")


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "attn").rglob("*.py"))
}


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module):
    allowed = MAY_IMPORT[room(module)]
    for imported in internal_imports(MODULES[module]):
        target = room(imported if imported in MODULES else imported.rpartition(".")[0])
        assert target in allowed, f"{module} imports {imported}"


@pytest.mark.parametrize(
    "module", ["attn", "attn.reference", "attn.exercises", "attn.widgets", "attn.plots"]
)
def test_lessons_in_numpy_do_not_load_torch(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_every_module_is_on_the_map_of_the_package():
    import attn

    public = {room(name) for name in MODULES if not name.rpartition(".")[2].startswith("_")}
    for name in public - {"attn"}:
        assert f"`{name}`" in attn.__doc__


def test_every_folder_and_top_file_is_on_the_map_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in sorted({path.split("/")[0] for path in TRACKED}):
        if not name.startswith(".git") and name not in {"README.md"}:
            assert name in readme, f"{name} is not in README.md"


def test_direct_dependencies_are_pinned_to_the_resolved_set():
    def pins(name):
        text = (ROOT / name).read_text()
        return dict(
            re.findall(
                r"^([A-Za-z0-9._-]+)==(\S+)$", text.lower().replace("_", "-"), flags=re.MULTILINE
            )
        )

    resolved = pins("constraints.txt")
    for name in ("requirements.txt", "requirements-book.txt"):
        direct = pins(name)
        assert direct
        for package, version in direct.items():
            assert resolved.get(package) == version, package


def test_each_direct_dependency_has_its_reason():
    reasons = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in ("requirements.txt", "requirements-book.txt"):
        for package in re.findall(
            r"^([A-Za-z0-9._-]+)==", (ROOT / name).read_text(), flags=re.MULTILINE
        ):
            assert f"`{package}`" in reasons, package


def without_captions(toc):
    """Return a table of contents with the names of its parts, which are in its language, left out."""
    return re.sub(r"caption: .+", "caption", toc)


def test_both_editions_have_the_same_pages_in_the_same_order():
    spanish, english = ((ROOT / name).read_text() for name in ("_toc.yml", "_toc.en.yml"))
    assert without_captions(spanish).replace("/es/", "/en/") == without_captions(english)
    pages = re.findall(r"(?:root|file): (\S+)", spanish + english)
    for page in pages:
        assert any((ROOT / f"{page}{suffix}").exists() for suffix in (".md", ".ipynb")), page


def test_the_english_configuration_holds_only_what_differs():
    base = yaml.safe_load((ROOT / "_config.yml").read_text())
    changes = yaml.safe_load((ROOT / "_config.en.yml").read_text())

    def leaves(mapping, other):
        for key, value in mapping.items():
            if isinstance(value, dict):
                yield from leaves(value, other[key])
            else:
                yield value, other[key]

    assert all(changed != original for changed, original in leaves(changes, base))


FORBIDDEN = {
    "a path of somebody's machine": r"/(home|Users)/\w+/|/root/|/work/",
    "a content network or a registry": r"cdnjs|jsdelivr|unpkg|index-url|registry\.npmjs|pypi\.org/simple",
    "unfinished work": r"\b(TODO|FIXME|XXX|lorem ipsum)\b|próximamente|coming soon",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_tracked_holds(what):
    for name in TRACKED:
        path = ROOT / name
        if (
            not path.is_file()
            or path.suffix in {".png", ".safetensors"}
            or path == Path(__file__).resolve()
        ):
            continue
        found = re.search(FORBIDDEN[what], path.read_text(encoding="utf-8"))
        assert not found, f"{name}: {found and found[0]}"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_resolve(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert (ROOT / target).exists(), target
