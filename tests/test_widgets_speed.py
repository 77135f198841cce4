"""`RooflineExplorer` and `TileExplorer` without a page: what they take, refuse and show; their JavaScript."""

import itertools
import math
import re

import numpy as np
import pytest

from attn.reference import softmax
from attn.transformer import TransformerConfig
from attn_course.serving import matrix_numbers, prefill_and_decode
from attn_course.widgets import RooflineExplorer, TileExplorer
from attn_course.widgets.roofline_explorer import BATCHES, BITS, CONTEXTS, counts, seconds
from attn_course.widgets.tile_explorer import BASES, TILES, walk
from tests.refusals import refusals

MODELS = [("small", 134.5e6, 30, 576, 192), ("large", 7.5e9, 32, 4096, 1024)]
CARDS = [("card", 989e12, 3.35e12, 80e9, 2.0), ("laptop", 6e10, 1.2e10, 16e9, 0)]
SCORES, VALUES = [1, 2, 4, 3], [4, 1, 2, 8]


def roofline(**options):
    return RooflineExplorer(MODELS, CARDS, **{"language": "en"} | options)


@pytest.fixture
def javascript(node):
    """Evaluate an expression in which `roof` and `tile` are the two modules, and `input`."""

    def evaluate(expression, input=None):
        return node(
            'import * as roof from "./roofline_explorer.mjs";\nimport * as tile from "./tile_explorer.mjs";\n'
            f"console.log(JSON.stringify({expression}));",
            input,
        )

    return evaluate


def test_a_prefill_counts_as_the_sum_of_its_decoding_steps():
    """A step sees itself and all before it; the sum of the steps is the prefill, and its last cache too."""
    for model, context in itertools.product(MODELS, (1, 2, 7, 50)):
        (flops, moved), _ = counts(model, 1, context, 16)
        steps = [counts(model, 1, length, 16)[1] for length in range(1, context + 1)]
        assert flops == sum(step[0] for step in steps)
        assert moved == steps[-1][1]


def test_a_batch_shares_the_weights_and_nothing_else():
    model = MODELS[1]
    for bits, context in itertools.product(BITS, (128, 4096)):
        one, many = (counts(model, batch, context, bits)[1] for batch in (1, 16))
        assert many[0] == 16 * one[0]
        weights = model[1] * bits / 8
        assert many[1] - weights == 16 * (one[1] - weights)
        # Two numbers of two bytes in each layer, as wide as the keys, for each token.
        assert one[1] - weights == context * 32 * 1024 * 2 * 2


@pytest.mark.parametrize("n_kv_heads", [None, 2, 1])
def test_the_figure_counts_like_the_library(n_kv_heads):
    config = TransformerConfig(
        vocab_size=100, d_model=32, n_heads=4, n_layers=3, d_ff=64, n_kv_heads=n_kv_heads
    )
    row = ("", matrix_numbers(config), 3, 32, 8 * (n_kv_heads or 4))
    for batch, context, bits in [(1, 7, 16), (5, 100, 4)]:
        prefill, decode = counts(row, batch, context, bits)
        assert prefill == prefill_and_decode(config, 1, context, bits, 16)[0]
        assert decode == prefill_and_decode(config, batch, context, bits, 16)[1]


def test_the_page_counts_what_python_counts(javascript):
    assert javascript("[roof.BITS, roof.BATCHES, roof.CONTEXTS]") == [
        *map(list, (BITS, BATCHES, CONTEXTS))
    ]
    for model, card, batch, context, bits in [
        (0, 0, 1, 128, 16),
        (1, 0, 64, 4096, 8),
        (1, 1, 256, 131072, 4),
    ]:
        shown = roofline(model=model, card=card, batch=batch, context=context, bits=bits)
        found = javascript(
            "((c) => [c.prefill, c.decode].map((w) => roof.at(w, input[1])))"
            f"(roof.counts(input[0], {batch}, {context}, {bits}))",
            [shown.models[model], shown.cards[card]],
        )
        for one, expected in zip(found, counts(MODELS[model], batch, context, bits), strict=True):
            assert (one["flops"], one["bytes"]) == expected
            assert one["seconds"] == pytest.approx(seconds(*expected, CARDS[card]))
            assert one["speed"] == pytest.approx(
                min(CARDS[card][1], CARDS[card][2] * one["intensity"])
            )
        np.testing.assert_allclose(shown.seconds, [one["seconds"] for one in found])


def test_numbers_have_three_digits_and_a_unit(javascript):
    found = javascript(
        "[[16.06e9, 'B'], [999.9e9, 'FLOP'], [512, 'B'], [0, 'B']].map(([x, u]) => roof.measure(x, u))"
        ".concat([4.8e-3, 75e-6, 1.5, 4800, 9000, 3e5]"
        ".map((x) => roof.duration(x, { minutes: 'min', hours: 'h', days: 'd' })))"
    )
    assert [one.replace("\u202f", " ") for one in found] == [
        *("16.1 GB", "1 TFLOP", "512 B", "0 B"),
        *("4.8 ms", "75 µs", "1.5 s", "80 min", "2.5 h", "3.47 d"),
    ]


def test_the_query_string_restores_the_roofline(javascript):
    start = {"model": 0, "card": 0, "batch": 1, "context": 1024, "bits": 16}
    changed = {"model": 1, "card": 0, "batch": 64, "context": 131072, "bits": 4}
    there = "roof.addressOf('https://a.example/x.html?tile=4', input[0], input[1])"
    address = javascript(there, [changed, start])
    assert address == "https://a.example/x.html?tile=4&model=1&batch=64&context=131072&bits=4"
    back = "roof.settingsIn(new URL(input[0]).search, input[1], 2, 2)"
    assert javascript(back, [address, start]) == changed
    assert javascript(there, [start, start]) == "https://a.example/x.html?tile=4"
    for bad in ("model=2", "batch=3", "context=1e9", "bits=x", "bits=", "card=-1", "batch=0"):
        assert javascript(back, [f"https://a.example/?{bad}", start]) == start, bad


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("tile", TILES)
def test_tiles_end_at_the_softmax(javascript, tile, base):
    rng = np.random.default_rng(tile)
    for n in (2, 5, 8):
        scores, values = rng.normal(0, 3, n).round(2).tolist(), rng.uniform(-9, 9, n).tolist()
        weights = softmax(np.array(scores) * (math.log(2) if base == "2" else 1))
        shown = TileExplorer(scores, values, tile=tile, base=base, step=math.ceil(n / tile))
        assert shown.output == pytest.approx(weights @ values)
        kept = javascript(
            f"tile.walk(input[0], input[1], {tile}, '{base}')"
            ".map((k) => [k.peak, k.factor ?? 0, k.total, k.output])",
            [scores, values],
        )
        # JSON has no infinity: the peak before the first tile comes as null.
        assert kept[0] == [None, 0, 0, 0]
        np.testing.assert_allclose(kept[1:], walk(scores, values, tile, base)[1:])
        whole = javascript(f"tile.whole(input[0], input[1], '{base}')", [scores, values])
        assert whole == pytest.approx(weights @ values)


def test_after_each_tile_the_state_is_the_softmax_of_the_scores_read():
    kept = walk([*SCORES, -7, 9], [*VALUES, 3, 5], 2, "e")
    for i, (_, _, total, output) in enumerate(kept[1:], 1):
        weights = softmax(np.array([*SCORES, -7, 9][: 2 * i], dtype=float))
        assert output / total == pytest.approx(weights @ [*VALUES, 3, 5][: 2 * i])


def test_a_line_of_numbers_is_read(javascript):
    good = {
        "1 2": [1, 2],
        "1, −2.5;3": [1, -2.5, 3],
        " 1 | 2 | -20 ": [1, 2, -20],
        "1,2,3,4,5,6,7,8": [*range(1, 9)],
    }
    found = javascript("input.map(tile.numbersIn)", [*good])
    assert found == [*good.values()]
    for bad in ("", "1", "1 x", "1 21", "1 2 3 4 5 6 7 8 9", "1 NaN", "1 Infinity"):
        assert javascript("tile.numbersIn(input)", bad) is None, bad


def test_the_query_string_restores_the_tiles(javascript):
    start = {"scores": SCORES, "values": VALUES, "tile": 2, "base": "2", "step": 0}
    changed = {"scores": [0.5, -1, 3], "values": [1, 2, 3], "tile": 1, "base": "e", "step": 3}
    there = "tile.addressOf('https://a.example/x.html?batch=8', input[0], input[1])"
    address = javascript(there, [changed, start])
    back = "tile.settingsIn(new URL(input[0]).search, input[1])"
    assert javascript(back, [address, start]) == changed
    assert javascript(there, [start, start]) == "https://a.example/x.html?batch=8"
    for bad in ("scores=1+2", "values=1", "tile=3", "base=10", "step=-1", "step=x", "scores=a+b"):
        assert javascript(back, [f"https://a.example/?{bad}", start]) == start, bad
    assert javascript(back, ["https://a.example/?step=99", start]) == start | {"step": 2}


def test_the_fallbacks_hold_the_numbers():
    shown = roofline(model=1, batch=64)._fallback()
    rows = re.findall(r'<th scope="row">(.*?)</th>', shown)
    assert rows == [
        "read the prompt",
        *(f"write, batch of {n}" for n in (1, 16, 256, 64)),
    ]
    one = re.search(r"batch of 1</th>(.*?)</tr>", shown)[1]
    cells = re.findall(r"<td>(.*?)</td>", one)
    assert cells == ["15.5 GFLOP", "15.1 GB", "1.03", "4.52 ms", "4.52 ms"]
    tiles = TileExplorer(SCORES, VALUES, language="es")._fallback()
    last = re.search(r'<th scope="row">2</th>(.*?)</tr>', tiles)[1]
    assert re.findall(r"<td>(.*?)</td>", last) == ["4, 3", "4", "0.25", "1.875", "6.75"]
    assert "o / l = 3.6" in tiles


test_invalid_constructor_arguments_are_refused = refusals(
    (lambda: RooflineExplorer([], CARDS), "models: expected one or more rows"),
    (lambda: RooflineExplorer([("a", 1e9)], CARDS), "models: expected one or more rows"),
    (lambda: RooflineExplorer([("a", 0, 1, 1, 1)], CARDS), "models: expected a finite number"),
    (lambda: RooflineExplorer([("a", 1, 1.5, 1, 1)], CARDS), "models: expected a whole number"),
    (lambda: RooflineExplorer(MODELS, [("a", 1, 0, 1, 0)]), "cards: expected a finite number"),
    (lambda: roofline(model=2), "model: expected a whole number from 0 to 1, got 2"),
    (lambda: roofline(batch=3), "batch: expected one of 1, 2, 4"),
    (lambda: roofline(context=64), "context: expected one of 128"),
    (lambda: roofline(bits=2), "bits: expected one of 16, 8, 4, got 2"),
    (lambda: TileExplorer([1], [1]), "scores: expected from 2 to 8 numbers"),
    (lambda: TileExplorer([1, 21], [1, 1]), "scores: expected numbers from -20 to 20"),
    (lambda: TileExplorer([1, 2], [1, 2, 3]), "values: expected as many as scores, 2, got 3"),
    (lambda: TileExplorer([1, 2], [1, 2], tile=3), "tile: expected 1, 2 or 4, got 3"),
    (lambda: TileExplorer([1, 2], [1, 2], base="10"), "base: expected '2' or 'e'"),
    (lambda: TileExplorer([1, 2], [1, 2], step=2), "step: expected a whole number from 0 to 1"),
)


def test_settings_can_be_set():
    shown = roofline()
    before = shown.seconds
    shown.batch, shown.model = 64, 1
    assert shown.seconds != before
    with pytest.raises(ValueError, match="bits: expected"):
        shown.bits = 3
    tiles = TileExplorer(SCORES, VALUES)
    assert tiles.output == 0
    tiles.step = 1
    assert tiles.output == 2
    assert repr(shown) == "RooflineExplorer('large', 'card', language='en')"
