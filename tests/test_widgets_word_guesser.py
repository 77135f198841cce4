"""WordGuesser: what it keeps of the models' scores, what each model reads, its checks."""

import numpy as np
import pytest
import torch

from attn_course.widgets import WordGuesser
from attn_course.widgets.word_guesser import MODELS, SHOWN
from tests.refusals import refusals

RNG = np.random.default_rng(0)
TOKENS = [f"w{i}" for i in range(20)]
SENTENCES = [["w1", "w2", "w3"], ["w7"]]
LOGITS = {name: [RNG.normal(scale=2, size=(len(s), 20)) for s in SENTENCES] for name in MODELS}


def test_stored_guesses_are_the_best_words_and_the_rank_of_the_right_one():
    guesser = WordGuesser(TOKENS, SENTENCES, LOGITS)
    for told, *rows in zip(guesser.sentences, *LOGITS.values(), strict=True):
        for name, logits in zip(MODELS, rows, strict=True):
            p = torch.tensor(logits).softmax(-1)
            for i, word in enumerate(told["words"]):
                best = p[i].topk(SHOWN)
                guess, right = told[name][i], p[i, TOKENS.index(word)].item()
                assert [w for w, _ in guess["best"]] == [TOKENS[j] for j in best.indices]
                np.testing.assert_allclose([q for _, q in guess["best"]], best.values, atol=6e-4)
                assert guess["right"] == pytest.approx(right, abs=6e-4)
                assert guess["rank"] == 1 + int((p[i] > right).sum())


def test_javascript_shows_what_each_model_reads_and_always_the_right_word(node):
    guesses = WordGuesser(TOKENS, SENTENCES, LOGITS).sentences[0]
    reads, rows = node(
        """
        import { reading, rowsOf } from "./word_guesser.mjs";
        const names = ["masked", "causal", "recurrent"];
        console.log(JSON.stringify([
          names.map((name) => reading(name, ["a", "b", "c"], 1)),
          names.flatMap((name) => input[name].map((guess, i) => rowsOf(guess, input.words[i]))),
        ]));
        """,
        guesses,
    )
    assert reads == ["a ▢ c", "a …", "a → ▢ ← c"]
    told = [(name, i) for name in MODELS for i in range(3)]
    for (name, i), found in zip(told, rows, strict=True):
        guess, word = guesses[name][i], guesses["words"][i]
        (right,) = [row for row in found if row["right"]]
        assert right == {"token": word, "p": guess["right"], "rank": guess["rank"], "right": True}
        assert len(found) == SHOWN
        n_kept = SHOWN if guess["rank"] <= SHOWN else SHOWN - 1
        assert [[row["token"], row["p"]] for row in found[:n_kept]] == guess["best"][:n_kept]


def test_the_fallback_tells_every_model():
    html = WordGuesser(TOKENS, SENTENCES, LOGITS, language="en", hidden=2)._html()
    assert "“w1 w2 w3”, without word 3, “w3”" in html
    for name in ("encoder", "decoder", "two GRUs"):
        assert f'<th scope="row">{name}</th>' in html
    assert "codificador" in WordGuesser(TOKENS, SENTENCES, LOGITS, language="es")._html()


test_invalid_constructor_arguments_are_refused = refusals(
    ({"tokens": []}, "tokens: expected"),
    ({"sentences": []}, r"logits\['masked'\]: expected 0 arrays, got 2"),
    ({"sentences": [["w1", "w2", "w3"], ["x"]]}, r"sentences\[1\]: expected words of the voc"),
    ({"logits": {}}, "logits: expected the models masked, causal, recurrent, got none"),
    ({"logits": {**LOGITS, "causal": LOGITS["causal"][:1]}}, r"logits\['causal'\]: expected 2"),
    ({"logits": {**LOGITS, "masked": LOGITS["masked"][::-1]}}, r"logits\['masked'\]: expected"),
    ({"sentence": 2}, "sentence: expected a whole number from 0 to 1"),
    ({"hidden": 3}, "hidden: expected a whole number from 0 to 2"),
    ({"sentence": 1, "hidden": 1}, "hidden: expected a whole number from 0 to 0"),
    (
        {"sentences": [], "logits": dict.fromkeys(MODELS, ())},
        "sentences: expected at least one, got none",
    ),
    of=lambda bad: WordGuesser(
        **{"tokens": TOKENS, "sentences": SENTENCES, "logits": LOGITS, **bad}
    ),
)
