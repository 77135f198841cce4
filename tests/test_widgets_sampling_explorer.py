"""SamplingExplorer: its arithmetic against attn.decoding's own, its checks, its table."""

import numpy as np
import pytest
import torch

from attn.decoding import next_token_probabilities
from attn_course.widgets import SamplingExplorer
from tests.refusals import refusals

RNG = np.random.default_rng(0)
TOKENS = [f"word{i}" for i in range(30)]
SETTINGS = [
    {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    for temperature in (0.1, 0.7, 1.0, 4.0)
    for top_k in (1, 3, 30)
    for top_p in (0.05, 0.5, 0.95, 1.0)
]


def wanted(logits, settings):
    return next_token_probabilities(torch.tensor(logits, dtype=torch.float64), **settings).numpy()


def test_javascript_and_python_filter_as_decoding_does(node):
    rows = [
        RNG.normal(scale=2, size=30).tolist(),
        [*[0.0] * 28, -1.0, -2.0],
        np.linspace(-50, 800, 30).tolist(),
    ]
    cases = [[row, settings] for row in rows for settings in SETTINGS]
    found = node(
        """
        import { nextTokenProbabilities } from "./sampling_explorer.mjs";
        console.log(JSON.stringify(input.map(([logits, s]) => nextTokenProbabilities(
          logits, { temperature: s.temperature, topK: s.top_k, topP: s.top_p }))));
        """,
        cases,
    )
    for (row, settings), javascript in zip(cases, found, strict=True):
        right = wanted(row, settings)
        python = SamplingExplorer(TOKENS, [("x", "y", row)], **settings).probabilities
        np.testing.assert_allclose(javascript, right, atol=1e-12, err_msg=str(settings))
        np.testing.assert_allclose(python, right, atol=1e-12, err_msg=str(settings))


def test_draws_follow_the_probabilities_and_the_seed(node):
    probabilities = [0.0, 0.5, 0.25, 0.0, 0.25, 0.0]
    found = node(
        """
        import { drawn, generator } from "./sampling_explorer.mjs";
        const many = (seed) => {
          const random = generator(seed);
          return Array.from({ length: 4000 }, () => drawn(input, random()));
        };
        const edges = [0, 0.499999, 0.5, 0.75, 0.9999999999999999].map((x) => drawn(input, x));
        console.log(JSON.stringify([many(1), many(1), many(2), edges]));
        """,
        probabilities,
    )
    assert found[0] == found[1] != found[2]
    assert found[3] == [1, 1, 2, 4, 4]
    counts = np.bincount(found[0], minlength=6) / 4000
    np.testing.assert_allclose(counts, probabilities, atol=0.03)
    assert counts[[0, 3, 5]].tolist() == [0, 0, 0]


def test_the_fallback_shows_the_largest_and_the_sum_of_the_rest():
    logits = np.log([0.4, *np.full(28, 0.01), 0.32])
    html = SamplingExplorer(TOKENS, [("a < b", "", logits)], language="en", top_k=2)._html()
    assert "“a &lt; b”, after “the start”" in html and "top-k 2 and top-p 1." in html
    assert '<th scope="row">word0</th><td>0.400</td><td>0.556</td>' in html
    assert '<th scope="row">the other 21</th><td>0.210</td><td>0.000</td>' in html
    whole = SamplingExplorer(TOKENS[:2], [("x", "y", [0, 0])], language="es")._html()
    assert "top-k entero" in whole and "las otras" not in whole


def test_probabilities_follow_a_changed_setting_and_invalid_settings_are_refused():
    explorer = SamplingExplorer(TOKENS, [("x", "y", range(30)), ("z", "", range(30))])
    explorer.context, explorer.top_k, explorer.top_p, explorer.temperature = 1, 4, 0.8, 2.0
    settings = {"temperature": 2.0, "top_k": 4, "top_p": 0.8}
    np.testing.assert_allclose(explorer.probabilities, wanted(range(30), settings), atol=1e-12)
    for name, value in (
        ("context", 2),
        ("top_k", 0),
        ("top_k", 31),
        ("top_p", 0.0),
        ("top_p", 1.1),
        ("temperature", 0.0),
    ):
        with pytest.raises(ValueError, match=f"^{name}: expected"):
            setattr(explorer, name, value)


test_invalid_constructor_arguments_are_refused = refusals(
    ({"tokens": []}, "tokens: expected"),
    ({"contexts": []}, "contexts: expected at least one, got none"),
    ({"contexts": [("x", "", [1.0])]}, r"contexts\[0\].logits: expected 2, one per token, got 1"),
    ({"contexts": [("x", "", [1.0, np.nan])]}, r"contexts\[0\].logits: expected a finite"),
    ({"contexts": [(" ", "", [1.0, 2.0])]}, r"contexts\[0\].source: expected a sentence"),
    ({"contexts": [("x", None, [1.0, 2.0])]}, r"contexts\[0\].written: expected a sentence"),
    ({"context": 1}, "context: expected a whole number from 0 to 0"),
    ({"top_k": 3}, "top_k: expected a whole number from 1 to 2"),
    ({"top_p": 1.5}, "top_p: expected a number above 0 and at most 1"),
    of=lambda bad: SamplingExplorer(
        **{"tokens": ["a", "b"], "contexts": [("x", "", [1.0, 2.0])], **bad}
    ),
)
