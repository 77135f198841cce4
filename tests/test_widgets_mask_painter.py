"""`MaskPainter` without a page: its weights are the reference's, its table says what is wrong."""

import json
import re

import numpy as np
import pytest

from attn import reference
from attn_course.widgets import MaskPainter

TOKENS = ["<sos>", "El", "cielo", "<pad>"]
REAL = [True, True, True, False]


def painter(**options):
    scores = np.random.default_rng(0).normal(size=(4, 4))
    return MaskPainter(TOKENS, scores, **options)


@pytest.fixture
def javascript(node):
    """Evaluate an expression with the module as `painter` and what it is given as `input`."""

    def run(expression, given):
        return node(
            'import * as painter from "./mask_painter.mjs";\n'
            f"console.log(JSON.stringify({expression}));",
            given,
        )

    return run


def test_javascript_weights_and_reach_are_those_of_the_reference(javascript):
    rng = np.random.default_rng(1)
    given = []
    for n in (1, 2, 5, 10):
        for share in (0.2, 0.5, 0.9):
            mask, scores = rng.random((n, n)) < share, 5 * rng.normal(size=(n, n))
            given += [
                {"mask": mask.tolist(), "scores": scores.tolist(), "layers": layers}
                for layers in (1, 2, 3, 4)
            ]
    got = javascript(
        "input.map((x) => [painter.weigh(x.scores, x.mask), painter.reachable(x.mask, x.layers), "
        "painter.leaks(x.mask).length])",
        given,
    )
    assert len(got) == 48
    for x, (weights, reached, leaks) in zip(given, got, strict=True):
        masked = np.where(x["mask"], x["scores"], -np.inf)
        np.testing.assert_allclose(weights, reference.softmax(masked), atol=1e-12)
        assert np.array_equal(reached, reference.reachable(x["mask"], x["layers"]))
        assert leaks == np.triu(x["mask"], 1).sum()


def test_the_presets_are_the_masks_of_the_package(javascript):
    names = ["all", "causal", "padding", "both", "ahead", "inverted"]
    got = javascript(
        "input.names.map((name) => painter.preset(name, 4, input.real))",
        {"names": names, "real": REAL},
    )
    everything, causal = np.ones((4, 4), dtype=bool), reference.causal_mask(4)
    padding = everything & reference.padding_mask([3], 4)[0]
    wanted = [everything, causal, padding, causal & padding, np.tri(4, k=1, dtype=bool), ~causal]
    for name, mask, right in zip(names, got, wanted, strict=True):
        assert np.array_equal(mask, right), name


def test_the_mask_is_causal_at_first_and_can_be_set():
    widget = painter()
    assert np.array_equal(widget.mask, reference.causal_mask(4))
    inverted = ~np.array(widget.mask)
    widget.mask = inverted.tolist()
    masked = np.where(inverted, widget.scores, -np.inf)
    np.testing.assert_array_equal(widget.weights, reference.softmax(masked))
    widget.n_layers = 3
    assert np.array_equal(widget.reached, reference.reachable(inverted, 3))


@pytest.mark.parametrize(
    "language, dead, leaks, through",
    [
        ("es", "Sin nada permitido: &lt;pad&gt;.", "posterior: 6.", "A través de 2 capas: 6."),
        ("en", "With nothing allowed: &lt;pad&gt;.", "later key: 6.", "Through 2 layers: 6."),
    ],
)
def test_the_fallback_says_what_is_wrong_with_a_mask(language, dead, leaks, through):
    mask = ~reference.causal_mask(4)
    source = painter(mask=mask, n_layers=2, language=language)._fallback()
    assert dead in source and leaks in source and through in source
    # The inverted causal mask of four tokens forbids ten weights; one dash is not in the table.
    assert source.count("—") == 10 + 1
    # The sentence about several layers is not there for one.
    assert through[:9] not in painter(mask=mask, language=language)._fallback()


def test_its_state_holds_what_the_page_needs_and_no_more():
    source = painter(padding=REAL)._html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', source)[1])
    wanted = ["tokens", "scores", "mask", "padding", "n_layers", "answers", "language"]
    assert state.keys() == {*wanted}
    assert state["padding"] == REAL
    assert repr(painter(language="en")) == f"MaskPainter({TOKENS!r}, language='en')"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"tokens": ["a"] * 11}, r"number of tokens: expected a whole number from 1 to 10, got 11"),
        ({"scores": np.ones((4, 3))}, r"scores: expected numbers of shape \(4, 4\), got float64"),
        ({"scores": np.full((4, 4), "x")}, r"scores: expected numbers of shape \(4, 4\)"),
        ({"scores": np.full((4, 4), np.nan)}, "scores: expected finite numbers, got NaN or inf"),
        ({"mask": np.ones((4, 4))}, r"mask: expected booleans of shape \(4, 4\).*got float64"),
        ({"mask": np.ones((3, 4), dtype=bool)}, r"mask: expected booleans of shape \(4, 4\)"),
        ({"padding": [True]}, r"padding: expected booleans of shape \(4,\)"),
        ({"answers": TOKENS}, r"answers: expected \['El', 'cielo', '<pad>'\] and one token more"),
        ({"n_layers": 5}, "n_layers: expected a whole number from 1 to 4, got 5"),
    ],
)
def test_invalid_constructor_arguments_are_refused(changes, message):
    arguments = {"tokens": TOKENS, "scores": np.ones((4, 4)), **changes}
    with pytest.raises(ValueError, match=message):
        MaskPainter(**arguments)


def test_an_invalid_setting_leaves_the_widget_unchanged():
    widget = painter()
    for name, value in (("mask", [[True]]), ("n_layers", 0)):
        before = getattr(widget, name)
        with pytest.raises(ValueError, match=name):
            setattr(widget, name, value)
        assert getattr(widget, name) == before
