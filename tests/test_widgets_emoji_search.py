"""EmojiSearch: what it computes and says, against the Python it stands for."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest

from attn_course.emoji import plain
from attn_course.emoji.model import batch_of
from attn_course.emoji.searcher import EmojiSearcher
from attn_course.widgets import EmojiSearch, _source
from tests.refusals import refusals

TEXTS = [
    "corazón azul",
    "BLUE heart",
    "zebra",
    "ñandú",
    "a",
    "  cara   feliz ",
    "日本",
    "x" * 99,
    "¿qué es esto?",
    "person riding a bicycle",
    "gato enamorado",
    "3 o'clock",
]
FOUND = [
    SimpleNamespace(emoji="💙", cosine=0.91234, seen=True),
    SimpleNamespace(emoji="❤️", cosine=-0.5, seen=False),
]


@pytest.fixture(scope="module")
def searcher():
    return EmojiSearcher.pretrained()


def test_the_page_searches_as_python_does(node, searcher):
    trained = _source.emoji()
    parts = trained | {"weights": base64.b64encode(trained["weights"]).decode()}
    found = node(
        """
        import { loadEmoji, plain, search, textVector } from "./emoji_search.mjs";
        const weights = Uint8Array.from(atob(input.parts.weights), (c) => c.charCodeAt(0));
        const trained = await loadEmoji({ get: () => ({ ...input.parts, weights }) });
        console.log(JSON.stringify(input.texts.map((text) => ({
          plain: plain(text), ids: trained.tokenizer.encode(plain(text)).slice(0, trained.maxTokens),
          vector: [...textVector(trained, text)], all: search(trained, text, 2000), unseen: search(trained, text, 5, true),
        }))));
        """,
        {"parts": parts, "texts": TEXTS},
    )
    for text, got in zip(TEXTS, found, strict=True):
        ids, lengths = batch_of(searcher.tokenizer, [text])
        assert got["plain"] == plain(text) and got["ids"] == ids[0].tolist()
        vector = searcher.tower(ids, lengths)[0].detach().numpy()
        np.testing.assert_allclose(got["vector"], vector, atol=2e-5)
        wanted = {one.emoji: one for one in searcher.search(text, 2000)}
        assert len(got["all"]) == len(wanted) == len(searcher.emoji)
        for one in got["all"]:
            same = wanted[one["emoji"]]
            assert (
                one["cosine"] == pytest.approx(same.cosine, abs=3e-5) and one["seen"] == same.seen
            )
        cosines = [one["cosine"] for one in got["all"]]
        assert cosines == sorted(cosines, reverse=True)
        assert got["unseen"] == [one for one in got["all"] if not one["seen"]][:5]
    assert np.std([got["vector"][0] for got in found]) > 0.01


def test_the_fallback_is_a_table_with_code_points():
    html = EmojiSearch("corazón <azul>", FOUND, language="es")._html()
    assert (
        "«corazón &lt;azul&gt;»" in html and "<td>U+1F499</td><td>0.91</td><td>visto</td>" in html
    )
    assert "<td>U+2764 U+FE0F</td><td>−0.50</td><td>no visto</td>" in html
    assert "<td>unseen</td>" in EmojiSearch("blue heart", FOUND, language="en")._html()


test_invalid_constructor_arguments_are_refused = refusals(
    ("", FOUND, "query: expected"),
    ("x", [], "found: expected at least one"),
    ("x", [SimpleNamespace(emoji="x", cosine=np.nan, seen=True)], r"found\[0\].cosine: expected"),
    of=EmojiSearch,
)
