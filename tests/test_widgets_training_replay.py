"""TrainingReplay in Python, and the little that its JavaScript computes."""

import json
import re

import numpy as np
import pytest

from attn.metrics import align
from attn_course.widgets import TrainingReplay
from experiments.training_curves import REPLAY

FILM = json.loads(REPLAY.read_text(encoding="utf-8"))


def replay(**changes):
    rng = np.random.default_rng(0)
    sentence = {
        "source": ["red", "house"],
        "target": ["casa", "roja", "<eos>"],
        "sure": [[1, 0]],
        "possible": [[0, 1], [1, 0]],
        "texts": ["", "la " * 20 + "la"],
        "weights": rng.integers(0, 100, (2, 3, 2)).tolist(),
    }
    whole = {
        "steps": [0, 800],
        "train": [7.1, 1.2],
        "validation": [7.2, 0.2],
        "exact": [0, 0.86],
        "aer": [0.85, 0.09],
        "sentences": [sentence | changes.pop("sentence", {})],
    }
    return whole | changes


@pytest.mark.parametrize("language", ["es", "en"])
def test_the_fallback_tells_every_moment(language):
    fallback = TrainingReplay(replay(), language=language)._fallback()
    assert "red house" in fallback
    assert re.findall(r'<th scope="row">(\d+)</th>', fallback) == ["0", "800"]
    cells = re.findall(r"<td>(.*?)</td>", fallback)
    assert cells == [
        *("7.10", "7.20", "0.00", "0.85", "–"),
        *("1.20", "0.20", "0.86", "0.09", " ".join(10 * ["la"]) + " …"),
    ]


def test_the_page_gets_only_the_shown_data():
    html = TrainingReplay(FILM)._html()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    assert state.keys() == {"replay", "sentence", "frame", "attention", "language"}
    assert state["replay"] == {k: v for k, v in FILM.items() if k != "first_losses"}
    assert len(html) < 60_000


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"replay": {"steps": [0, 1]}}, "replay: expected an entry 'train'"),
        ({"replay": replay(steps=[0], train=[1])}, "replay: expected two steps or more"),
        ({"replay": replay(train=[1, 2, 3])}, "replay.train: expected 2 finite numbers"),
        ({"replay": replay(aer=[1, float("nan")])}, "replay.aer: expected 2 finite numbers"),
        (
            {"replay": replay(sentence={"weights": [[[1, 2]]]})},
            "sentences.weights: expected integers",
        ),
        (
            {"replay": replay(sentence={"texts": ["a"]})},
            "sentences.texts: expected 2, one for each",
        ),
        ({"replay": replay(sentence={"source": []})}, "sentences.source: expected"),
        ({"replay": replay(), "sentence": 1}, "sentence: expected a whole number from 0 to 0"),
        ({"replay": replay(), "frame": 2}, "frame: expected a whole number from 0 to 1"),
        ({"replay": replay(), "attention": 1}, "attention: expected True or False, got 1"),
    ],
)
def test_invalid_constructor_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        TrainingReplay(**arguments)


def test_in_jupyterlab_frame_and_sentence_can_be_set():
    widget = TrainingReplay(FILM)
    widget.frame, widget.sentence = 15, 3
    assert FILM["sentences"][3]["texts"][0].split()[0] in widget._fallback()
    with pytest.raises(ValueError, match="frame: expected"):
        widget.frame = 16
    assert widget.frame == 15


def test_words_whose_largest_weight_is_on_a_link_are_those_of_align(node):
    script = """
        import { looking } from "./training_replay.mjs";
        console.log(JSON.stringify(input.map((s) => s.weights.map((w) => looking(s, w)))));
    """
    found = node(script, FILM["sentences"])
    for sentence, counts in zip(FILM["sentences"], found, strict=True):
        links = {tuple(link) for name in ("sure", "possible") for link in sentence[name]}
        linked = {target for _, target in links}
        for weights, count in zip(sentence["weights"], counts, strict=True):
            right = sum(link in links for link in align(weights) if link[1] in linked)
            assert count == {"right": right, "total": len(linked)}


def test_curves_and_texts(node):
    script = """
        import { brief, curve } from "./training_replay.mjs";
        console.log(JSON.stringify([curve([8, 4, 0], 8), brief("uno dos"), brief("a ".repeat(13) + "b")]));
    """
    path, short, long = node(script)
    assert path == "M0.00 0.00L50.00 50.00L100.00 100.00"
    assert short == "uno dos"
    assert long == " ".join(10 * ["a"]) + " …"
