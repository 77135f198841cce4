"""HeadViewer in Python: what it takes, what it refuses, what it hands to the page."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from attn_course.widgets import HeadViewer, _source
from attn_course.widgets.head_viewer import STACKS, TEXT

SOURCE, TARGET = ["red", "house"], ["casa", "roja", "<eos>"]


def attention(n_layers=2, n_heads=3, source=SOURCE, target=TARGET):
    rng = np.random.default_rng(0)
    sizes = {
        "encoder": (len(source), len(source)),
        "decoder": (len(target), len(target)),
        "cross": (len(target), len(source)),
    }
    arrays = {}
    for name, size in sizes.items():
        weights = rng.random((n_layers, n_heads, *size))
        arrays[name] = weights / weights.sum(axis=-1, keepdims=True)
    return SimpleNamespace(source=source, target=target, **arrays)


def state(widget):
    text = re.search(r'<script type="application/json">(.*?)</script>', widget._html())[1]
    return json.loads(text)


def test_the_page_gets_what_it_draws_and_no_more():
    example = attention()
    found = state(HeadViewer(example, sentences=["a house"], stack="encoder", language="en"))
    assert found.keys() == {"example", "sentences", "stack", "pretrained", "language"}
    assert (found["sentences"], found["stack"]) == (["a house"], "encoder")
    for stack in STACKS:
        np.testing.assert_allclose(found["example"][stack], getattr(example, stack), atol=1e-6)


def test_the_kernel_sends_the_model():
    assert HeadViewer(attention()).trained == _source.translator("grammar")


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("stack", STACKS)
def test_the_fallback_says_where_the_largest_weight_of_each_head_goes(stack, language):
    example = attention()
    fallback = HeadViewer(example, stack=stack, language=language)._fallback()
    columns = ["<sos>", *TARGET[:-1]] if stack == "decoder" else SOURCE
    weights = getattr(example, stack)
    expected = [
        f"{columns[row.argmax()]} {row.max():.2f}".replace("<", "&lt;").replace(">", "&gt;")
        for i in range(weights.shape[2])
        for row in weights[:, :, i].reshape(-1, weights.shape[3])
    ]
    assert re.findall(r"<td>([^<]+)</td>", fallback) == expected
    assert TEXT[language]["stacks"][stack] in fallback
    assert TEXT[language]["head"].format(2, 3) in fallback


def test_no_token_breaks_out_of_the_html():
    evil = ["</script><b>x</b>", "<!--"]
    text = HeadViewer(attention(source=evil, target=evil))._html()
    assert text.count("</script") == 1 and "<b>" not in text and "<!--" not in text


def test_repr():
    widget = HeadViewer(attention(), stack="decoder", language="es")
    assert repr(widget) == "HeadViewer(['red', 'house'], stack='decoder', language='es')"


@pytest.mark.parametrize(
    "options, message",
    [
        (
            {"stack": "sideways"},
            "stack: expected 'encoder' or 'decoder' or 'cross', got 'sideways'",
        ),
        ({"sentences": ["x", ""]}, "sentences: expected a list of one or more non-empty strings"),
        ({"language": "fr"}, "language: expected one of"),
    ],
)
def test_invalid_constructor_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        HeadViewer(attention(), **options)


def test_weights_of_the_wrong_shape_are_refused():
    example = attention()
    example.decoder = example.cross
    with pytest.raises(ValueError, match=r"example\.decoder: expected shape .*3, 3"):
        HeadViewer(example)
