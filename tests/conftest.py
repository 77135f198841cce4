"""Settings and inputs for every test, and the one place where a test may be skipped."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import attn_course

# pytest shows both sides of a failed assertion only where it rewrites it: in test modules and in
# the modules named here, which hold assertions for several tests.
pytest.register_assert_rewrite(
    "tests.exercise_proofs", "tests.grader", "tests.test_assignments", "tests.test_site"
)

# The result of a sum depends on the number of threads. PyTorch reads this variable when a test
# imports it. We do not import it here: that takes two seconds, also in processes that run no test.
os.environ["OMP_NUM_THREADS"] = "1"

# The folder extends pytest for `make mutation`. It has no doctests, and it imports a compiler.
collect_ignore = ["mutation"]

settings.register_profile(
    "attn", derandomize=True, database=None, deadline=None, max_examples=100, print_blob=True
)
# This profile draws a quarter of the examples. `make test-fast` uses it; `make test` draws all.
settings.register_profile("quick", settings.get_profile("attn"), max_examples=25)
settings.load_profile("attn")


@pytest.fixture(autouse=True)
def fresh_settings():
    """Every test starts with the same settings and random numbers, whichever ran before it."""
    attn_course.set_language("es")
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)
    # The cells of a chapter, which some tests run, change how NumPy prints.
    with np.printoptions():
        yield
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)


@pytest.fixture(params=["es", "en"])
def language(request):
    """Each language of the course in turn, set as the language in use."""
    attn_course.set_language(request.param)
    return request.param


@pytest.fixture(scope="session")
def corpus():
    """The parts of the grammar's corpus; drawn once, since that takes ten seconds."""
    from attn_course.grammar import splits

    return splits()


@pytest.fixture(scope="session")
def attention_inputs():
    """A strategy for NumPy (query, key, value, mask): any lengths, batches that broadcast."""
    return _attention_inputs()


@st.composite
def _attention_inputs(draw):
    *leads, mask_lead = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=4, max_dims=2, max_side=3)
    ).input_shapes
    batch = np.broadcast_shapes(*leads)
    tgt_len, src_len = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    d_k, d_v = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    sizes = ((tgt_len, d_k), (src_len, d_k), (src_len, d_v))
    query, key, value = (rng.standard_normal((*a, *b)) for a, b in zip(leads, sizes, strict=True))

    if not draw(st.booleans()):
        return query, key, value, None
    if np.broadcast_shapes(mask_lead, batch) != batch:
        mask_lead = ()
    rows, columns = draw(st.sampled_from([1, tgt_len])), draw(st.sampled_from([1, src_len]))
    density = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    return query, key, value, rng.random((*mask_lead, rows, columns)) < density


def pytest_collection_modifyitems(config, items):
    """Keep few combinations of a test marked `pairwise`, but every pair of values occurs in one.

    Most faults need one value or a pair of them, and hardly any needs five. The combination with
    the most pairs that are still missing is kept, until none is missing; the rest is dropped.
    """
    grids = {}
    for item in items:
        if item.get_closest_marker("pairwise"):
            grids.setdefault((item.path, item.originalname), []).append(item)
    dropped = set()
    for grid in grids.values():
        pairs = {}
        for item in grid:
            choices = [(name, id(value)) for name, value in item.callspec.params.items()]
            pairs[item] = set(itertools.combinations(choices, 2))
        missing = set().union(*pairs.values())
        while missing:
            chosen = max(pairs, key=lambda item: len(pairs[item] & missing))
            missing -= pairs.pop(chosen)
        dropped |= set(pairs)
    if dropped:
        items[:] = [item for item in items if item not in dropped]
        config.hook.pytest_deselected(items=sorted(dropped, key=lambda item: item.nodeid))


@pytest.fixture(scope="session")
def needed():
    """Return a function that takes a name in `tests.machine.PARTS` and returns that part's value.

    This is the one place where a test is skipped: when the machine lacks the part and nothing
    could install it. The last lines of a run name each such part. In CI the test fails instead,
    unless the part is a `machine.NotGiven`, which CI need not have.
    """

    try:
        from tests import machine
    except ModuleNotFoundError as missing:
        # Where attn alone is tested, Playwright is not installed.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no module {missing.name}")

    def needed(name):
        try:
            return machine.PARTS[name]()
        except machine.NotGiven as missing:
            pytest.skip(str(missing))
        except machine.Missing as missing:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(missing))

    return needed


@pytest.fixture(scope="session")
def smollm2(needed):
    """SmolLM2 and its tokenizer, read once, since that takes three seconds; no test changes them."""
    from attn.pretrained import load  # This import loads PyTorch, which many tests need not.

    return load(needed("smollm2"))


@pytest.fixture(scope="session")
def sandbox(needed):
    """Bubblewrap, in which submissions run."""
    needed("sandbox")


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """Return a function that runs a script on `input`; the script may import ./<stem>.mjs."""
    from attn_course.widgets import _source  # which imports ipywidgets
    from tests import machine

    folder = tmp_path_factory.mktemp("modules")
    for stem in (*_source.WIDGETS, *_source.ENGINE, "own_sentence"):
        (folder / f"{stem}.mjs").write_text(_source.module(stem), encoding="utf-8")

    def run(script, input=None):
        path = folder / "script.mjs"
        path.write_text(
            f'import {{ readFileSync }} from "node:fs";\n'
            f'const input = JSON.parse(readFileSync(0, "utf8"));\n{script}',
            encoding="utf-8",
        )
        done = subprocess.run(
            [str(machine.node()), str(path)],
            input=json.dumps(input),
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


@pytest.fixture
def javascript(node, request):
    """Return a function that evaluates an expression of `input` and what a widget's module exports.

    The widget is the one after which the file of the test is named.
    """
    stem = request.path.stem.removeprefix("test_widgets_")
    return lambda expression, input=None: node(
        f'import * as widget from "./{stem}.mjs";\nObject.assign(globalThis, widget);\n'
        f"console.log(JSON.stringify({expression}));",
        input,
    )
