"""`LiveMachine` and `TranslationRibbons` without a page: what they take, refuse, send and show on paper."""

import json
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

from attn.applications.translation import Translator
from attn_course.drawings import MovingMachine
from attn_course.drawings.parts import PARTS
from attn_course.journey import journey
from attn_course.widgets import LiveMachine, TranslationRibbons, _source


@pytest.fixture(scope="module")
def example():
    return journey(Translator.pretrained(), "We ate fish yesterday.")


def test_the_page_holds_the_numbers_and_no_model(example):
    source = LiveMachine(example, sentences=("Where is it?",), language="en")._html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', source)[1])
    assert state.keys() == {"journey", "sentences", "pretrained", "language"}
    assert state["journey"] == example
    assert state["sentences"] == ["Where is it?"]
    assert state["pretrained"]["name"] == "tatoeba"
    assert len(source) < 20_000


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_gives_the_translation_and_its_attention(language, example):
    widget = LiveMachine(example, language=language)
    source = widget._fallback()
    # A kernel sends the drawing with the widget.
    assert widget.drawing == MovingMachine(language)._repr_html_()
    # The site draws it during the build, so the notebook holds no drawing.
    assert "svg" not in source
    said = {
        "es": "<p>Ejemplo: «We ate fish yesterday.» se traduce como «Ayer comimos pescado».</p>",
        "en": "<p>Example: “We ate fish yesterday.” becomes “Ayer comimos pescado.”</p>",
    }
    assert said[language] in source
    rows = re.findall(
        r'<tr><th scope="row">(.*?)</th><td>(.*?)</td><td>.*?</td><td>(.*?)</td>', source
    )
    assert [row[0] for row in rows] == [
        token.replace("<eos>", "&lt;eos&gt;") for token in example["target"]
    ]
    assert [row[1] for row in rows] == [f"{best[0][2]:.2f}" for best in example["best"]]
    most = [example["source"][i] for i in np.argmax(example["cross"], axis=1)]
    assert [row[2] for row in rows] == most


def test_every_part_that_acts_is_in_both_layouts_of_the_drawing(node):
    acting = node(
        'import { ACTING } from "./live_machine.mjs"; console.log(JSON.stringify(ACTING));'
    )
    figure = ET.fromstring(MovingMachine("en")._repr_html_())
    wide, upright = (
        {name for part in layout.iter() for name in (part.get("class") or "").split()}
        for layout in figure
    )
    for kind, names in acting.items():
        assert all(f"at-{name}" in wide for name in names), kind
        # On a phone the inside of attention is left out, and the attention it belongs to is lit.
        shown = [name for name in names if f"at-{name}" in upright]
        assert shown and all(name.startswith("inside-") for name in set(names) - set(shown)), kind
    assert {name.partition("-")[2] for names in acting.values() for name in names} <= set(PARTS)


def test_the_repr_gives_the_example(example):
    said = repr(LiveMachine(example, language="es"))
    assert said == "LiveMachine('We ate fish yesterday.', 'Ayer comimos pescado.', language='es')"


def test_invalid_constructor_arguments_are_refused(example):
    short = {name: part for name, part in example.items() if name != "cross"}
    with pytest.raises(ValueError, match=r"journey: expected .* got one without \['cross'\]"):
        LiveMachine(short)
    for sentences in ([""], None, 3):
        with pytest.raises(ValueError, match="sentences: expected a list of"):
            LiveMachine(example, sentences=sentences)
    with pytest.raises(ValueError, match="language"):
        MovingMachine("fr")


def test_ribbon_widths_are_mean_weights_and_invalid_arguments_are_refused():
    cross = np.array(
        [[[[0.9, 0.1], [0.0, 1.0], [0.5, 0.5]]], [[[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]]]]
    )
    example = SimpleNamespace(source=["We", " ate"], target=["Co", "mimos", "<eos>"], cross=cross)
    drawn = TranslationRibbons(example, language="en")._fallback()
    widths = [float(width) for width in re.findall(r'stroke-width="(.*?)"', drawn)]
    assert widths == pytest.approx(
        [27 * 0.7, 27 * 0.3, 27], abs=0.051
    )  # a weight of 0 has no ribbon
    for given, message in (
        ({"probabilities": [0.5]}, "probabilities: expected 3 numbers from 0 to 1"),
        ({"probabilities": [0.5, 1.5, 1]}, "probabilities: expected 3 numbers from 0 to 1"),
        ({"probabilities": [0.5, "x", 1]}, r"probabilities\[1\]: expected a finite number"),
        ({"sentences": None}, "sentences: expected a list"),
        ({"language": "fr"}, "language"),
    ):
        with pytest.raises(ValueError, match=message):
            TranslationRibbons(example, **given)
    example.cross = cross[:, :, :2]
    with pytest.raises(
        ValueError, match=r"example.cross: expected shape \(n_layers, n_heads, 3, 2\)"
    ):
        TranslationRibbons(example)


@pytest.mark.parametrize("n_words, width", [((5, 4), 700), ((9, 8), 356), ((43, 39), 286)])
def test_a_pointer_means_the_thinnest_ribbon_under_it_or_the_nearest_beside_it(
    node, n_words, width
):
    rng = np.random.default_rng(0)
    source, target = (rng.uniform(8, 80, size=n).round(1) for n in n_words)
    weights = rng.dirichlet(np.full(n_words[0], 0.15), size=n_words[1])
    points = rng.uniform(0, 1, size=(400, 2)) * [width, 300]
    drawn, found, pitch = node(
        """import { layout, ribbonAt } from "./ribbons.mjs";
        const { source, target, weights, width, points } = input;
        const { ribbons, pitch, upright } = layout(source, target, weights, width, 15);
        console.log(JSON.stringify([ribbons.map(({ path, width }) => [path, width]), points.map(([x, y]) => ribbonAt(ribbons, x, y)), upright && pitch]));""",
        {
            "source": source.tolist(),
            "target": target.tolist(),
            "weights": weights.tolist(),
            "width": width,
            "points": points.tolist(),
        },
    )
    steps = np.linspace(0, 1, 2001)[:, None]
    beside, halves = [], []
    for path, thick in drawn:
        p = np.array(re.findall(r"-?[\d.]+", path), dtype=float).reshape(4, 2)
        curve = sum(
            factor * (1 - steps) ** (3 - k) * steps**k * p[k]
            for k, factor in enumerate((1, 3, 3, 1))
        )
        far = np.linalg.norm(points[:, None] - curve, axis=-1).min(axis=1)
        beside.append(far - thick / 2)
        halves.append(thick / 2)
    beside, halves = np.array(beside).T, np.array(halves)
    n_hit = 0
    for near, chosen in zip(beside, found, strict=True):
        if np.abs(near).min() < 0.3 or abs(near.min() - 6) < 0.3:
            continue  # The page looks at 32 pieces of a curve, and this test at 2000.
        if (near < 0).any():
            assert near[chosen] < 0 and halves[chosen] == halves[near < 0].min()
        elif near.min() < 6:
            assert near[chosen] == pytest.approx(near.min(), abs=0.3)
        else:
            assert chosen == -1
        n_hit += chosen >= 0
    assert 20 < n_hit < 390
    assert pitch is False or pitch >= 24  # a fingertip finds each word of a long sentence


def test_the_other_direction_has_its_own_names_its_model_and_its_sentences():
    spanish = Translator.pretrained(source_language="es")
    text = "Ayer comimos pescado."
    options = {"sentences": [text], "source_language": "es", "language": "en"}
    ribbons = TranslationRibbons(spanish.attention(text), turned=["We ate fish."], **options)
    machine = LiveMachine(journey(spanish, text), **options)
    for widget in (ribbons, machine):
        source = widget._html()
        state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', source)[1])
        assert state["pretrained"]["from"] == "es" and widget.trained == _source.translator(
            "tatoeba", "es"
        )
        # The reader may turn only what has sentences to turn to, and its model is another.
        assert ("turned" in state) == (widget is ribbons)
        assert "Spanish token" in widget._fallback() and "English token" not in widget._fallback()
    assert ribbons.trained_turned == _source.translator("tatoeba", "en")
    drawn = ribbons._fallback()
    assert "Ribbons between each English word and the Spanish words" in drawn
    assert re.findall(r'lang="(..)"', drawn)[0] == "es"
    assert re.findall(r'lang="(..)"', drawn)[-1] == "en"
    with pytest.raises(ValueError, match="source_language: expected 'en' or 'es', got 'fr'"):
        LiveMachine(journey(spanish, text), source_language="fr")


def test_every_text_is_used():
    names = set(re.findall(r"(?:^|, |    )(\w+): [\"\[]", block(), re.MULTILINE))
    code = "".join(
        (_source.FOLDER / f"{stem}.js").read_text("utf-8")
        for stem in ("live_machine", "trained", "loading", "shared")
    )
    kinds = set(
        re.findall(
            r"^  (\w+): \[", (_source.FOLDER / "journey.js").read_text("utf-8"), re.MULTILINE
        )
    )
    used = (
        set(re.findall(r"\bt\.(\w+)", code))
        | kinds
        | {"query_", "mean_", "slow", "normal", "fast", "back", "forward", "skip"}
    )
    assert len(names) > 50
    assert names <= used, names - used


def block():
    text = (_source.FOLDER / "live_machine_text.js").read_text("utf-8")
    texts = re.search(r"  es: \{(.*?)\n  \},", text, re.DOTALL)[1]
    return re.sub(r'"[^"]*"', '""', texts)
