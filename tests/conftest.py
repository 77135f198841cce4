"""Settings and inputs for every test: one thread, the same hypothesis examples on every run."""

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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
