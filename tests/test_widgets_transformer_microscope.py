"""`TransformerMicroscope` without a browser: its arguments, errors, state and fallback."""

import json
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from attn_course import widgets
from attn_course.widgets.transformer_microscope import TEXT
from tests.refusals import refusals

TransformerMicroscope = partial(widgets.TransformerMicroscope, pretrained="grammar")

SOURCE, TARGET = ["the", "red", "house"], ["la", "casa", "roja", "<eos>"]
N_LAYERS, N_HEADS = 2, 3


def example(**changes):
    rng = np.random.default_rng(0)
    sizes = {"encoder": (3, 3), "decoder": (4, 4), "cross": (4, 3)}
    weights = {
        name: rng.dirichlet(np.ones(size[1]), (N_LAYERS, N_HEADS, size[0])).astype(np.float32)
        for name, size in sizes.items()
    }
    return SimpleNamespace(**{"source": SOURCE, "target": TARGET, **weights, **changes})


def test_the_state_holds_the_example_and_no_model():
    widget = TransformerMicroscope(example(), sentences=("The sky is blue",), language="en")
    source = widget._html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', source)[1])
    assert state.keys() == {"example", "sentences", "pretrained", "language"}
    assert state["sentences"] == ["The sky is blue"]
    given = vars(example())
    assert state["example"].keys() == given.keys()
    assert (state["example"]["source"], state["example"]["target"]) == (SOURCE, TARGET)
    for name in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(state["example"][name], given[name], rtol=5e-6)
        # The stored numbers have no more digits than the figure shows.
        digits = re.sub(r"e-\d+|[^\d]", "", str(state["example"][name][0][0][0][0]))
        assert len(digits.lstrip("0")) <= 6
    assert set(widget.trained) == {"weights", "vocabularies", "tokenizer", "maxLen", "punctuated"}
    assert "trained" not in state


def test_sentences_may_be_left_out():
    assert TransformerMicroscope(example()).sentences == []
    assert TransformerMicroscope(example(), sentences=[]).sentences == []


def test_its_repr_shows_the_source_and_the_language():
    said = repr(TransformerMicroscope(example(), language="en"))
    assert said == "TransformerMicroscope(['the', 'red', 'house'], language='en')"


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_is_enough_by_itself(language):
    widget = TransformerMicroscope(example(), language=language)
    source = widget._fallback()
    assert "the red house" in source and "la casa roja" in source
    assert source.index("<ol>") < source.index("<table>")
    steps = re.findall(r"<li>(.*?)</li>", source)
    assert steps == TEXT[language]["steps"] and len(steps) == 11
    mean = example().cross.mean(axis=(0, 1))
    cells = re.findall(r"<td>([\d.]+)</td>", source)
    assert cells == [f"{x:.2f}" for x in mean.ravel()]
    assert re.findall(r'scope="col">(.*?)<', source) == SOURCE
    assert re.findall(r'scope="row">(.*?)<', source) == ["la", "casa", "roja", "&lt;eos&gt;"]
    ended = example(target=["la", "casa", "roja.", "<eos>"])
    said = {"es": "«la casa roja».</p>", "en": "“la casa roja.”</p>"}[language]
    assert said in TransformerMicroscope(ended, language=language)._fallback()


def test_no_token_breaks_out_of_the_html():
    evil = ["</script><b>x</b>", "<!--", "</table>"]
    source = TransformerMicroscope(example(source=evil), sentences=evil)._html()
    assert source.count("</script>") == source.count("</table>") == 1
    assert "<b>" not in source and "<!--" not in source


test_invalid_examples_are_refused = refusals(
    ({"source": []}, r"example\.source: expected a list of one or more non-empty strings"),
    ({"target": ["la", ""]}, r"example\.target: expected a list of one or more non-empty"),
    (
        {"encoder": np.ones((2, 3, 3, 4))},
        (
            r"example\.encoder: expected shape \(n_layers, n_heads, 3, 3\), as the others, "
            r"got \(2, 3, 3, 4\)"
        ),
    ),
    ({"encoder": np.ones((3, 3))}, r"example\.encoder: expected shape .*got \(3, 3\)"),
    ({"encoder": np.ones((0, 3, 3, 3))}, r"example\.encoder: expected shape"),
    ({"decoder": np.ones((2, 3, 3, 4))}, r"example\.decoder: expected shape .*, 4, 4\)"),
    ({"decoder": np.ones((1, 3, 4, 4))}, r"example\.decoder: expected shape .*as the others"),
    ({"cross": np.ones((2, 3, 3, 4))}, r"example\.cross: expected shape .*, 4, 3\)"),
    ({"cross": np.full((2, 3, 4, 3), np.nan)}, r"example\.cross: expected finite numbers"),
    ({"cross": np.full((2, 3, 4, 3), "x")}, r"example\.cross: expected finite numbers"),
    of=lambda changes: TransformerMicroscope(example(**changes)),
)


def test_invalid_sentences_are_refused():
    for sentences in ([""], ["a", 3]):
        with pytest.raises(ValueError, match="sentences: expected a list of one or more"):
            TransformerMicroscope(example(), sentences=sentences)
    with pytest.raises(ValueError, match="language: expected"):
        TransformerMicroscope(example(), language="fr")
