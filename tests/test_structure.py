"""The structure of the repository: imports, pinned versions, and what must not be in it."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
# What each part of the two packages may import from them. Imports go one way: down this table, and
# never from `attn` to `attn_course`.
MAY_IMPORT = {
    "attn": {"attn._checks"},
    "attn._checks": set(),
    "attn._letters": set(),
    "attn._lines": {"attn._checks"},
    "attn.io": {"attn._checks"},
    "attn._registry": {"attn._checks"},
    "attn.reference": {"attn._checks"},
    "attn.masks": {"attn._checks"},
    "attn.positions": {"attn._checks", "attn._registry"},
    "attn.cache": {"attn._checks"},
    "attn.attention": {
        "attn._checks",
        "attn._registry",
        "attn.cache",
        "attn.masks",
        "attn.positions",
    },
    "attn.mixers": {
        "attn._checks",
        "attn._registry",
        "attn.attention",
        "attn.cache",
        "attn.masks",
        "attn.positions",
    },
    "attn.layers": {"attn._checks", "attn.attention", "attn.cache", "attn.positions"},
    "attn.experts": {"attn._checks", "attn._registry", "attn.attention", "attn.layers"},
    "attn.transformer": {
        "attn._checks",
        "attn.attention",
        "attn.cache",
        "attn.experts",
        "attn.io",
        "attn.layers",
        "attn.mixers",
        "attn.positions",
    },
    "attn.recurrent": {"attn._checks", "attn.masks"},
    "attn.decoding": {"attn._checks"},
    "attn.tokenizer": {"attn._checks", "attn._letters", "attn.io"},
    "attn.training": {"attn._checks", "attn.io", "attn.positions"},
    "attn.metrics": {"attn._checks", "attn._letters"},
    "attn._fetch": {"attn._checks", "attn.io"},
    "attn.corpus": {"attn._checks", "attn._fetch", "attn._letters", "attn._lines"},
    "attn.applications": {
        "attn._checks",
        "attn._letters",
        "attn._lines",
        "attn.attention",
        "attn.corpus",
        "attn.decoding",
        "attn.io",
        "attn.layers",
        "attn.masks",
        "attn.metrics",
        "attn.positions",
        "attn.tokenizer",
        "attn.training",
        "attn.transformer",
    },
    "attn.pretrained": {
        "attn._checks",
        "attn._fetch",
        "attn.io",
        "attn.positions",
        "attn.tokenizer",
        "attn.transformer",
    },
    "attn.__main__": {"attn._commands"},
    "attn._commands": {
        "attn._checks",
        "attn._lines",
        "attn.applications",
        "attn.corpus",
        "attn.pretrained",
        "attn.training",
    },
    "attn_course": {"attn_course.language"},
    "attn_course.language": set(),
    "attn_course.palette": set(),
    "attn_course._statements": set(),
    "attn_course.tables": set(),
    "attn_course.templates": set(),
    "attn_course.everyday": {"attn.corpus"},
    "attn_course.readings": {"attn.corpus"},
    "attn_course.minilm": {"attn._checks", "attn.pretrained", "attn_course.smollm2"},
    "attn_course.position_schemes": {"attn.positions"},
    "attn_course.low_rank": {"attn._checks"},
    "attn_course.parallel": {
        "attn._checks",
        "attn.attention",
        "attn.experts",
        "attn.layers",
        "attn.training",
    },
    "attn_course.serving": {"attn._checks", "attn.layers", "attn.transformer"},
    "attn_course.interpret": set(),
    "attn_course.contrasts": set(),
    "attn_course.miniatures": {"attn.attention", "attn.layers"},
    "attn_course.smollm2": {"attn.pretrained", "attn_course.language"},
    "attn_course.speculative": {"attn._checks", "attn.transformer"},
    "attn_course.streaming": {"attn._checks", "attn.attention", "attn.masks", "attn.positions"},
    "attn_course.subjects": {"attn._checks"},
    "attn_course.tasks": {"attn._checks"},
    "attn_course.grammar": {"attn._checks", "attn.corpus", "attn.metrics"},
    "attn_course.answering": {"attn._checks", "attn_course.grammar"},
    "attn_course.mixture": {"attn._checks", "attn.corpus", "attn_course.grammar"},
    "attn_course.scaling": {"attn._checks"},
    "attn_course.journey": {"attn._checks"},
    "attn_course.passages": {"attn._checks", "attn.tokenizer", "attn_course.templates"},
    "attn_course.stories": {"attn._checks", "attn_course.templates"},
    "attn_course.emoji": {
        "attn._checks",
        "attn.masks",
        "attn.tokenizer",
        "attn.training",
        "attn.transformer",
    },
    "attn_course.images": {"attn._checks", "attn.applications"},
    "attn_course.drawings": {"attn._checks", "attn_course.language", "attn_course.palette"},
    "attn_course.plots": {"attn.reference", "attn_course.language", "attn_course.palette"},
    "attn_course.exercises": {
        "attn._checks",
        "attn.io",
        "attn.reference",
        "attn_course._statements",
        "attn_course.language",
    },
    "attn_course.in_page": {
        "attn_course._statements",
        "attn_course.exercises",
        "attn_course.language",
    },
    "attn_course.own_machine": {
        "attn._checks",
        "attn.applications",  # where the trained models lie
        "attn.decoding",
        "attn.reference",
        "attn_course.drawings",
        "attn_course.exercises",
        "attn_course.language",
    },
    "attn_course.widgets": {
        "attn._checks",
        "attn.applications",  # where the trained models lie
        "attn.decoding",
        "attn.reference",
        "attn_course.drawings",
        "attn_course.emoji",  # where the trained searcher lies
        "attn_course.exercises",  # where answers are kept
        "attn_course.interpret",
        "attn_course.language",
        "attn_course.minilm",
        "attn_course.palette",
        "attn_course.smollm2",
    },
}
PACKAGES = ("attn", "attn_course")


@pytest.fixture(scope="module")
def tracked(needed):
    """The paths of all tracked files and of untracked files that git does not ignore."""
    listing = [needed("git"), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def room(module):
    """Return the row of the table for a module: ``attn``, or the part of it."""
    return ".".join(module.split(".")[:2])


def internal_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names = [node.module]
            if node.module in PACKAGES:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.split(".")[0] in PACKAGES)


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}


def test_imports_go_one_way():
    for module, path in MODULES.items():
        allowed = MAY_IMPORT[room(module)] | {room(module)}
        for imported in internal_imports(path):
            target = room(imported if imported in MODULES else imported.rpartition(".")[0])
            assert target in allowed, f"{module} imports {imported}"


# These write into temporary folders.
SCRATCH = {"audit.py", "translator_latency.py", "translate_file.py"}


def test_results_are_written_only_by_attn_io():
    """Results are written by `attn.io`: a full disk or a killed process leaves the old file."""
    for path in [
        *MODULES.values(),
        *(ROOT / "benchmarks").glob("*.py"),
        *(ROOT / "experiments").glob("*.py"),
    ]:
        if path.name in SCRATCH or (ROOT / "attn" / "io") in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "attr", None)
            assert name not in {"write_text", "write_bytes", "save_file", "savez"}, path
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "open":
                modes = [arg.value for arg in node.args[1:] if isinstance(arg, ast.Constant)]
                assert not {"w", "wb", "x", "xb", "a", "ab"} & {*modes}, path


def docstrings(tree):
    """Return the string constants that are docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    documented = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return [n.body[0].value for n in documented if ast.get_docstring(n) is not None]


# Strings that look like a folder outside their package, and are none.
NO_PATHS = {
    # a folder among the user's data
    "attn_course.exercises.kept": {"attn"},
    # names that a cell in a page may import
    "attn_course.in_page.plan": {"attn", "attn.reference"},
    # a key in a file of weights, and a salt
    "attn_course.own_machine.weights": {"attn"},
    "attn_course.plots.vector": {"attn"},
}


@pytest.fixture(scope="module")
def folders(tracked):
    """The folders of the repository that are not packages."""
    return {path.split("/")[0] for path in tracked if "/" in path} - set(PACKAGES)


def paths_elsewhere(code, package, folders):
    """Return the strings in a module's code, docstrings aside, of which a part names what is not
    its package's: the other package, one of the folders or, next to a `/`, one of its modules."""
    tree = ast.parse(code)
    (other,) = set(PACKAGES) - {package}
    modules = {name.split(".")[1] for name in MODULES if name.startswith(f"{other}.")}
    paths = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    joined = {part for path in paths for part in ast.walk(path)}
    found = set()
    for node in {*ast.walk(tree)} - {*docstrings(tree)}:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            elsewhere = {other} | folders | (modules if node in joined else set())
            if elsewhere & {*re.split(r"[/\\.]", node.value)}:
                found.add(node.value)
    return found


def test_files_are_found_by_functions_and_not_by_paths_into_the_other_package(folders):
    """A path into the other package is a dependency that the table of imports does not see."""
    for module, path in MODULES.items():
        found = paths_elsewhere(path.read_text(encoding="utf-8"), module.split(".")[0], folders)
        assert found == NO_PATHS.get(module, set()), module


@pytest.mark.parametrize(
    "package, code",
    [
        ("attn", "Path(__file__).parent.parent / 'attn_course' / 'palette.py'"),
        ("attn", "Path(__file__).parents[1] / 'attn_course'"),
        ("attn", "ROOT / 'attn_course/emoji/trained'"),
        ("attn", "ROOT.joinpath('attn_course', 'palette.py')"),
        ("attn", "open('attn_course/palette.py')"),
        ("attn", "open(f'{ROOT}\\\\attn_course\\\\palette.py')"),
        ("attn", "resources.files('attn_course')"),
        ("attn", "importlib.import_module('attn_course.palette')"),
        ("attn", "ROOT / 'assignments' / 'sets'"),
        ("attn_course", "ROOT / 'attn/applications/models'"),
        ("attn_course", "ROOT / 'attn' / name"),
        ("attn_course", "Path(applications.__file__).parents[1] / 'applications' / 'models'"),
        ("attn_course", "open('../tests/solutions/' + name)"),
    ],
)
def test_a_path_into_the_other_package_is_found(package, code, folders):
    assert paths_elsewhere(f'"""See attn/masks.py."""\nfolder = {code}', package, folders)


@pytest.mark.parametrize("text", ["Run `python -m attn fetch`.", '<div class="attn-check">'])
def test_text_may_mention_the_other_package(text, folders):
    code = f'"""See attn/masks.py."""\nshow({text!r})'
    assert not paths_elsewhere(code, "attn_course", folders)


@pytest.mark.parametrize(
    "module",
    [
        "attn",
        "attn.reference",
        "attn_course.exercises",
        "attn_course.widgets",
        "attn_course.plots",
        "attn_course.own_machine",
    ],
)
def test_lessons_in_numpy_do_not_load_torch(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_check_loads_the_exercise_that_it_is_asked_for_and_no_other():
    code = (
        "import sys, numpy; from attn_course.exercises import check, exercises;"
        "chapters = 'attn_course.exercises.chapters.';"
        "loaded = lambda: [m for m in sys.modules if m.startswith(chapters)];"
        "print(sum(map(len, exercises().values())), loaded(), 'attn.reference' in sys.modules);"
        "check('causal_mask', len); print(loaded())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    one = "attn_course.exercises.chapters.ch06_1_causal_mask"
    n = len([*(ROOT / "attn_course" / "exercises" / "chapters").glob("*.toml")])
    assert done.stdout.splitlines() == [f"{n} [] False", f"['{one}']"]


def test_no_exercise_needs_another():
    """Code that several exercises share is in a module of its own, so each exercise loads alone."""
    chapters = "attn_course.exercises.chapters"
    for module, path in MODULES.items():
        if module.startswith(f"{chapters}."):
            imported = [*internal_imports(path)]
            assert not [name for name in imported if name.startswith(chapters)], module


def test_the_packages_import_nothing_of_the_repository_around_them():
    """Students install `attn` and `attn_course` without the answers in `assignments`; the grader
    serves other courses, and imports nothing of this one."""
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    grader = {path.name: path for path in (ROOT / "grader").glob("*.py")}
    assert grader
    for modules, own in ((MODULES, {*PACKAGES}), (grader, {"grader"})):
        for module, path in modules.items():
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [node.module] if isinstance(node, ast.ImportFrom) else []
                names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
                assert not {name.split(".")[0] for name in names} & (folders - own), module


def test_the_files_of_an_exercise_are_packaged():
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folder = ROOT / "attn_course" / "exercises" / "chapters"
    modules = {path.stem for path in folder.glob("ch*.py")} | {p.stem for p in folder.glob("a*.py")}
    assert {path.stem for path in folder.glob("*.toml")} == modules
    assert "*.toml" in packaged["package-data"]["attn_course.exercises.chapters"]


def test_the_reference_needs_numpy_alone():
    code = (
        "import sys; before = set(sys.modules); import numpy; numpys = set(sys.modules) - before;"
        "import attn.reference; new = {m.split('.')[0] for m in set(sys.modules) - before - numpys};"
        "sys.exit(', '.join(new - sys.stdlib_module_names - {'attn', 'numpy'}) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_module_is_on_the_map_of_its_package():
    import attn
    import attn_course

    public = {room(name) for name in MODULES if not name.rpartition(".")[2].startswith("_")}
    for name in public - set(PACKAGES):
        package = attn_course if name.startswith("attn_course") else attn
        assert f"`{name}`" in package.__doc__, name


def test_every_folder_and_top_file_is_on_the_map_of_the_readme(tracked):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in sorted({path.split("/")[0] for path in tracked}):
        if not name.startswith(".git") and name not in {"README.md"}:
            assert name in readme, f"{name} is not in README.md"


def test_the_readme_gives_the_current_numbers_of_lines():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = ["make", "-s", "lines"]
    counted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    told = [
        f"{int(n) / 1000:.1f} thousand"
        for n in re.findall(r"(\d+)(?: lines)?$", counted, re.MULTILINE)
    ]
    assert len(told) == 2 and re.findall(r"[\d.]+ thousand", readme) == told


def test_direct_dependencies_are_pinned_to_the_resolved_set():
    def pins(name):
        text = (ROOT / name).read_text()
        return dict(
            re.findall(
                r"^([A-Za-z0-9._-]+)==(\S+)$", text.lower().replace("_", "-"), flags=re.MULTILINE
            )
        )

    resolved = pins("constraints.txt")
    for name in ("requirements.txt", "requirements-book.txt", "requirements-hub.txt"):
        direct = pins(name)
        assert direct
        for package, version in direct.items():
            assert resolved.get(package) == version, package


def test_each_direct_dependency_has_its_reason():
    reasons = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in ("requirements.txt", "requirements-book.txt", "requirements-hub.txt"):
        for package in re.findall(
            r"^([A-Za-z0-9._-]+)==", (ROOT / name).read_text(), flags=re.MULTILINE
        ):
            assert f"`{package}`" in reasons, package


def without_captions(toc):
    """Return a table of contents without the captions of its parts, which are translated."""
    return re.sub(r"caption: .+", "caption", toc)


def test_both_editions_have_the_same_pages_in_the_same_order():
    spanish, english = ((ROOT / name).read_text() for name in ("_toc.yml", "_toc.en.yml"))
    assert without_captions(spanish).replace("/es/", "/en/") == without_captions(english)
    pages = re.findall(r"(?:root|file|glob): (\S+)", spanish + english)
    for page in pages:
        assert any([*ROOT.glob(f"{page}.md"), *ROOT.glob(f"{page}.ipynb")]), page


def test_the_english_configuration_has_only_settings_that_differ():
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


def test_no_tracked_file_contains_forbidden_text(tracked):
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".webp", ".png", ".safetensors"} or path == Path(__file__).resolve():
            continue
        # Git still lists a deleted file until the deletion is committed.
        if path.is_file():
            # The base64 text of a picture may contain any word by chance, so it is left out.
            text = re.sub(
                r'"image/png": "[^"]*"|base64,[\w+/=]+', "", path.read_text(encoding="utf-8")
            )
            for what, pattern in FORBIDDEN.items():
                found = re.search(pattern, text)
                assert not found, f"{name} holds {what}: {found and found[0]}"


def test_the_citation_names_the_last_release():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, day = re.findall(r"^## (\d\S+) \((\S+)\)$", changes, flags=re.MULTILINE)[0]
    assert version == str(citation["version"]) == project["version"]
    assert day == str(citation["date-released"]) and citation["license"] == project["license"]


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_resolve(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert (ROOT / target).exists(), target
