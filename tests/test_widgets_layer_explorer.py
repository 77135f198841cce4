"""The layer explorer: its stack against `attn.reference`, its gradients against PyTorch."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from attn import reference
from attn_course.widgets import LayerExplorer, layer_explorer

sys.path.insert(0, str(Path(__file__).parent))


TOKENS = ["El", "gato", "camina", "hoy"]
SETTINGS = list(itertools.product((True, False), layer_explorer.NORMS))
RUN = """
import { run, formatSize } from "./layer_explorer.mjs";
const { x, layers, readout, settings } = input;
console.log(JSON.stringify(settings.map(([residual, norm]) => run(x, layers, readout, { residual, norm }))));
"""


def state(explorer):
    return {name: getattr(explorer, name) for name in ("x", "layers", "readout")}


def gradients(x, layers, readout, residual, norm):
    """Return the size of the gradient of sum(readout * output) at every depth, by autograd."""

    def normalise(x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])

    def attend(x, w):
        query, key, value = (
            (x @ w[n]).unflatten(-1, (2, -1)).transpose(0, 1) for n in ("w_q", "w_k", "w_v")
        )
        found = torch.nn.functional.scaled_dot_product_attention(query, key, value)
        return found.transpose(0, 1).flatten(1) @ w["w_o"]

    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    vectors = [x]
    for weights in layers:
        w = {name: torch.tensor(matrix, dtype=torch.float64) for name, matrix in weights.items()}
        for step in (attend, lambda x, w: (x @ w["w_1"]).relu() @ w["w_2"]):
            computed = step(normalise(x) if norm == "pre" else x, w)
            x = x + computed if residual else computed
            x = normalise(x) if norm == "post" else x
        x.retain_grad()
        vectors.append(x)
    output = normalise(x) if norm == "pre" else x
    (torch.tensor(readout) * output).sum().backward()
    return np.array([vector.grad.norm().item() for vector in vectors])


@pytest.mark.parametrize("seed", (0, 3))
def test_javascript_equals_the_reference_and_its_gradients_pytorch(node, seed):
    explorer = LayerExplorer(TOKENS, seed=seed)
    given = state(explorer)
    got = node(RUN, {**given, "settings": SETTINGS})
    for answer, (residual, norm) in zip(got, SETTINGS, strict=True):
        vectors = layer_explorer.stack(given["x"], given["layers"], residual, norm)
        np.testing.assert_allclose(answer["vectors"], vectors, rtol=1e-6, atol=1e-9)
        explorer.residual, explorer.norm = residual, norm
        np.testing.assert_allclose(answer["similarity"], explorer.similarity, atol=1e-9)
        sizes = gradients(**given, residual=residual, norm=norm)
        np.testing.assert_allclose(answer["gradient"], sizes / sizes[-1], rtol=1e-4)


@pytest.mark.parametrize("norm", ("post", "pre"))
def test_with_residuals_the_stack_is_that_of_the_reference(norm):
    explorer = LayerExplorer(TOKENS, n_layers=3, seed=5)
    x = np.array(explorer.x)
    same = {"gain": np.ones(4), "bias": np.zeros(4)}
    for layer, vectors in zip(
        explorer.layers, layer_explorer.stack(x, explorer.layers, True, norm)[1:], strict=True
    ):
        attention = {name: layer[name] for name in ("w_q", "w_k", "w_v", "w_o")}
        feed = {"w_1": layer["w_1"], "b_1": np.zeros(16), "w_2": layer["w_2"], "b_2": np.zeros(4)}
        parameters = {"self_attention": attention, "feed_forward": feed}
        parameters |= {"norm_1": same, "norm_2": same}
        x = reference.encoder_layer(x, parameters, n_heads=2, norm=norm)
        np.testing.assert_allclose(vectors, x)


def test_the_steps_have_the_order_of_the_norm_and_lead_into_one_another(node):
    given = state(LayerExplorer(TOKENS, n_layers=2))
    post, pre, none = node(RUN, {**given, "settings": [(True, n) for n in layer_explorer.NORMS]})
    names = [[step["name"] for step in answer["steps"][1]] for answer in (post, pre, none)]
    assert names[0] == names[2] == ["attend", "add", "normalise", "feed", "add", "normalise"]
    assert names[1] == ["normalise", "attend", "add", "normalise", "feed", "add"]
    assert [step.get("skipped") for step in none["steps"][0]] == [None, False, True] * 2
    for answer in (post, pre, none):
        for layer, steps in enumerate(answer["steps"]):
            assert steps[0]["input"] == answer["vectors"][layer]
            assert steps[-1]["output"] == answer["vectors"][layer + 1]


def test_sizes_as_text(node):
    script = (
        RUN.replace("console.log", "//") + "console.log(JSON.stringify(input.n.map(formatSize)));"
    )
    given = {"n": [0.243, 1, 16.32, 8.2e-7, 112345, 0.0099], "settings": []}
    assert node(script, given) == ["0.24", "1.00", "16.3", "8.2×10⁻⁷", "1.1×10⁵", "9.9×10⁻³"]


def test_measurements_follow_changed_settings_and_invalid_ones_are_refused():
    explorer = LayerExplorer(TOKENS)
    with_sum = explorer.similarity
    explorer.residual = False
    assert explorer.similarity[-1] > with_sum[1] and len(explorer.similarity) == 13
    for name, value in (("norm", "batch"), ("layer", 13), ("step", 7), ("token", 4)):
        with pytest.raises(ValueError, match=f"{name}: expected"):
            setattr(explorer, name, value)
    for wrong in (
        {"tokens": ["a"]},
        {"tokens": TOKENS, "n_layers": 0},
        {"tokens": TOKENS, "seed": -1},
    ):
        with pytest.raises(ValueError, match="expected"):
            LayerExplorer(**wrong)
