"""Independent computations give the numbers that the drawings of chapters 1 to 5 show."""

import ast
import itertools
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from attn import reference
from attn.applications.translation import Translator
from attn.attention import MultiHeadAttention
from attn.recurrent import RecurrentEncoderDecoder
from attn.tokenizer.byte_pair import merge_pair
from tests.test_drawings import drawn, texts

ROOT = Path(__file__).resolve().parents[1]
WALK = np.array(
    [[0, -0.5, 0], [1.5, 1, 0], [1, 1.5, 0.5], [-0.5, 0, 0.5], [0, -0.5, 0.5], [0, 0.5, 2]]
)


def written(numbers, digits=2):
    """Return numbers as the drawings write them."""
    return [f"{number:.{digits}f}".replace("-", "−") for number in np.ravel(numbers)]


def elements(name, tag, **attributes):
    """Return the elements of a drawing that have these attributes."""
    found = ET.fromstring(drawn(name, "en")).iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    return [e for e in found if all(e.get(k.rstrip("_")) == v for k, v in attributes.items())]


def test_pooling_weighs_the_patches_of_the_chapter():
    shapes = np.array(["010111010", "101010101", "111010010", "100100111"])
    rng = np.random.default_rng(0)
    chosen, framed = rng.integers(4, size=9), rng.integers(9)
    inner = np.array([list(map(float, shapes[i])) for i in chosen]).reshape(9, 3, 3)
    patches = np.pad(inner, ((0, 0), (1, 1), (1, 1)))
    frame = np.pad(np.zeros((3, 3)), 1, constant_values=1)
    patches[framed] += frame
    flat = patches.reshape(9, 25)
    output, weights = reference.attention_pooling(frame.ravel() / 4, flat, flat)
    assert re.findall(r"0\.\d\d", " ".join(texts(drawn("pooling", "en")))) == [
        "0.11"
    ] * 9 + written(weights)
    # Outputs are drawn twice as large: one path for each strength, with one square for each pixel.
    pictures = elements("pooling", "path", class_="cell value")
    large = [p for p in pictures if "h12v12" in p.get("d")]
    for mixed in (flat.mean(axis=0), output):
        wanted = Counter(round(value, 2) for value in mixed if value > 0)
        assert [
            (float(p.get("opacity")), p.get("d").count("M")) for p in large[: len(wanted)]
        ] == sorted(wanted.items())
        del large[: len(wanted)]
    assert not large


def test_the_bottleneck_passes_one_state_and_attention_five():
    d_model = 64
    model = RecurrentEncoderDecoder(vocab_size=27, d_model=d_model, attention=True)
    memory, *_ = model.encode(torch.zeros(1, 5, dtype=torch.long))
    assert memory.shape == (1, 5, d_model)
    said = texts(drawn("bottleneck", "en"))
    assert f"{d_model} numbers" in said and f"5 × {d_model} numbers" in said
    letters = [t for t in said if len(t) == 1]
    assert letters[::2] == list("abcde") * 2 and letters[1::2] == list("edcba") * 2
    # An arc joins the place where a letter is written to the place where it was read.
    arcs = [p.get("d") for p in elements("bottleneck", "path", class_="line query")]
    ends = [(float(d[1:].split()[0]), float(d.split()[-2])) for d in arcs]
    assert sorted(ends) == sorted(ends, key=lambda pair: -pair[1]) and len(ends) == 5


def test_hops_are_the_longest_paths():
    i, j = np.indices((8, 8))
    masks = {"RNN": i == j + 1, "convolution": abs(i - j) <= 2, "attention": i >= 0}
    said = texts(drawn("hops", "en"))
    steps = {name: reference.path_lengths(mask)[7, 0] for name, mask in masks.items()}
    for name, count in steps.items():
        assert said[said.index(name) + 1].split()[0] == str(count)
    assert len(elements("hops", "path", class_="tip lit")) == sum(steps.values())


SENTENCES = {"es": "Marte es rojo y Neptuno es azul", "en": "Roses are red and violets are blue"}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_lookup_is_that_of_the_sentence_and_the_table(language):
    source = (ROOT / "notebooks" / "src" / "02_tokens_and_embeddings.md").read_text("utf-8")
    assert f'{language}="{SENTENCES[language]}"' in source
    table = np.array(
        ast.literal_eval(re.search(r"E = np\.array\((\[\[.*?\]\])\)", source, re.DOTALL)[1])
    )
    tokens = SENTENCES[language].lower().split()
    vocabulary = ["<pad>", "<unk>"]
    for token in tokens:
        vocabulary += [token] if token not in vocabulary else []
    said = texts(drawn("lookup", language))[3:]
    assert said[:14] == [s for token in tokens for s in (token, str(vocabulary.index(token)))]
    rows = [said[14 + 4 * i : 18 + 4 * i] for i in range(8)]
    assert rows == [
        [str(i), token, *written(row, 0)]
        for i, (token, row) in enumerate(zip(vocabulary, table, strict=True))
    ]


@pytest.mark.parametrize(
    ("language", "times", "shown"),
    [
        ("en", {"walk": 4, "walks": 2, "walked": 3, "talked": 3, "talks": 1}, ("walked", "talks")),
        ("es", {"mira": 4, "miras": 2, "mirado": 3, "tirado": 3, "tiras": 1}, ("mirado", "tiras")),
    ],
)
def test_the_merges_are_those_of_byte_pair_encoding(language, times, shown):
    pieces = {word: list(word) for word in times}
    wanted = [letter for word in shown for letter in word]
    for _ in range(5):
        counts = Counter()
        for word, parts in pieces.items():
            for pair in itertools.pairwise(parts):
                counts[pair] += times[word]
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        pieces = {word: merge_pair(parts, best, "".join(best)) for word, parts in pieces.items()}
        wanted += [" + ".join(best), f"× {counts[best]}"]
        wanted += [part for word in shown for part in pieces[word]]
    assert texts(drawn("merges", language))[2:] == wanted


def test_films_are_projected_orthogonally_and_the_projection_matches_the_dot_product():
    films = {
        "Casablanca": (1.5, -0.5),
        "Titanic": (1.5, 0.5),
        "Amélie": (1.0, -1.5),
        "Rocky": (0.5, 1.0),
        "Alien": (-1.0, 0.5),
        "Rambo": (-0.5, 1.5),
    }
    ana = np.array([1.5, -1.0])
    said = texts(drawn("projection", "en"))
    falls = [
        re.findall(r"-?[\d.]+", p.get("d"))
        for p in elements("projection", "path", class_="line key")
    ]
    for (name, film), fall in zip(films.items(), falls, strict=True):
        assert said[said.index(name) + 1] == written(ana @ film)[0]
        (x, y, end_x, end_y) = map(float, fall)
        foot = (np.array([end_x, end_y]) - (158, 150)) / (76, -76)
        shadow = foot @ ana / np.linalg.norm(ana)
        assert np.allclose((np.array([x, y]) - (158, 150)) / (76, -76), film, atol=1e-3)
        assert abs((foot - film) @ ana) < 1e-3
        assert np.isclose(shadow * np.linalg.norm(ana), ana @ film, atol=1e-3)


def test_the_drawn_softmax_is_that_of_one_row_of_scores():
    scores = WALK @ WALK[2]
    weights = reference.softmax(scores)
    said = texts(drawn("softmax", "en"))
    assert [w for w in said if w in written(scores)] == written(scores)
    assert [w for w in said if w in written(np.exp(scores))] == written(np.exp(scores))
    assert said[-1] == f"z = ({', '.join(written(weights @ WALK))})"
    bars = [r for r in elements("softmax", "rect") if r.get("class") == "cell value"]
    assert np.allclose([(float(r.get("width")) + 1) / 300 for r in bars], weights, atol=1e-4)


def test_the_roles_are_those_of_the_chapter():
    person, plural, pronoun, _ = np.eye(4)
    x = np.array([plural + pronoun, person])
    query, key = x @ (2 * pronoun), x @ (2 * person)
    said = texts(drawn("roles", "en"))
    for row, word in enumerate(("they", "John")):
        start = said.index(word)
        assert said[start + 1 : start + 5] == written(x[row], 0)
        views = said[start + 5 : start + 11]
        assert views == [
            *written(query[row], 0),
            "query",
            " ".join(written(x[row], 0)),
            "value",
            *written(key[row], 0),
            "key",
        ]
    products = [query[0] * key[1], query[1] * key[0]]
    assert [said[-5], said[-1]] == [f"= {product:.0f}" for product in products]


def test_attention_outputs_do_not_depend_on_word_order():
    order = np.random.default_rng(0).permutation(6)
    output, _ = reference.scaled_dot_product_attention(WALK[order], WALK[order], WALK[order])
    found = {}
    for rect in elements("shuffle", "rect", class_="cell value"):
        side = float(rect.get("x")) > 178
        found.setdefault((side, float(rect.get("y"))), []).append(float(rect.get("opacity")))
    right = [row for (side, _), row in sorted(found.items()) if side]
    assert np.allclose(right, output / 1.4, atol=0.006)
    assert (
        texts(drawn("shuffle", "en"))[-1]
        == f"cat: ({', '.join(written(output[list(order).index(1)]))})"
    )


def test_areas_are_proportional_to_parameters():
    def parameters(n_heads, copies):
        module = MultiHeadAttention(256, n_heads, bias=False)
        return copies * module.q_proj.weight.numel()

    areas = Counter()
    for rect in elements("copies", "rect", class_="head"):
        if float(rect.get("height")) > 20:
            areas[float(rect.get("y"))] += float(rect.get("width")) * float(rect.get("height"))
    one, copies, parts = (area for _, area in sorted(areas.items()))
    assert copies / one == parameters(1, 4) / parameters(1, 1)
    assert parts / one == parameters(4, 1) / parameters(1, 1)
    assert [t for t in texts(drawn("copies", "en")) if t.startswith("×")] == ["× 1", "× 4", "× 1"]


def test_each_head_contributes_through_its_own_rows_of_the_output_projection():
    z, w_o = np.ones((2, 2)), np.ones((4, 4)).reshape(2, 2, 4)
    added = reference.multi_head_attention(*[np.ones((1, 4))] * 3, *[np.eye(4)] * 4, n_heads=2)[0][
        0
    ]
    cells = {}
    for path in elements("contributions", "path", class_="head"):
        cells.setdefault(path.get("opacity"), []).append(path.get("d").count("M"))
    # For each head: its output for a token, its rows, their product, and its part of the sum.
    assert list(cells.values()) == [
        [z[i].size, w_o[i].size, (z[i] @ w_o[i]).size, added.size] for i in range(2)
    ]


def test_cross_attention_is_that_of_the_translator():
    attended = Translator.pretrained("grammar").attention("the red house")
    weights = attended.cross.mean(axis=(0, 1))
    widths = [
        float(re.search(r"[\d.]+$", p.get("style"))[0])
        for p in elements("cross", "path", class_="line query")
    ]
    assert np.allclose((np.reshape(widths, (4, 3)) - 0.6) / 7, weights, atol=0.0075)
    said = texts(drawn("cross", "en"))
    for word, row in zip(attended.target, weights, strict=True):
        assert word in said and f"{attended.source[row.argmax()]} {row.max():.2f}" in said


def test_the_drawn_feed_forward_network_gives_its_output_for_each_token():
    w_1, b_1 = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]), np.array([0.0, -1.0])
    w_2 = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -2.0]])
    said = texts(drawn("feed_forward", "en"))[5:]
    for i, (a, b) in enumerate(itertools.product((0, 1), repeat=2)):
        x = np.array([a, b, 0.0])
        hidden = x @ w_1 + b_1
        out = x + reference.feed_forward(x, w_1, b_1, w_2, np.zeros(3))
        wanted = np.concatenate([x, hidden, np.maximum(hidden, 0), out])
        assert said[10 * i : 10 * i + 10] == written(wanted, 0)
