"""The measurements that chapter 09 reads are consistent, and a part is reproduced."""

import json
from types import SimpleNamespace

import pytest

from attn.applications.translation import Translator
from attn.corpus import Pair
from attn_course.everyday import everyday
from attn_course.grammar import translate
from experiments import decoding_choices as choices

MEASURED = json.loads(choices.RESULTS.read_text(encoding="utf-8"))
SHORT = [row for row in MEASURED["errors"] if len(row["source"].split()) <= 10]


@pytest.fixture(scope="module")
def translator():
    return Translator.pretrained("grammar")


def test_the_errors_are_those_that_greedy_search_makes():
    wrong = sum(row["n"] - row["greedy"] for row in MEASURED["beams"])
    assert wrong == len(MEASURED["errors"])
    mended = sum(row["8"]["mended"] for row in MEASURED["beams"])
    assert mended == sum(row["kind"] == "search" for row in MEASURED["errors"])


@pytest.mark.parametrize("row", MEASURED["errors"], ids=lambda row: row["source"])
def test_each_error_is_of_its_stored_kind(row, translator):
    assert row["kind"] == choices.kind(translator, Pair(row["source"], row["right"]), row["best"])
    assert not row["best_cut"], "only what has ended can be compared"
    if row["kind"] == "search":
        assert row["best"] == row["right"] and row["log_best"] == row["log_right"]
    if row["kind"] == "model":
        assert row["best"] != row["right"] and row["log_best"] > row["log_right"]


@pytest.mark.slow
def test_a_sentence_that_does_not_end_is_marked_and_hides_no_error_of_the_model(translator):
    (row,) = (row for row in MEASURED["errors"] if "orange juice" in row["source"])
    pair = translate(row["source"])
    greedy, best = (choices.search(translator, [pair], width)[0] for width in (1, 2))
    assert greedy == (row["found"], pytest.approx(row["log_found"], abs=0.02), True)
    assert best == (row["best"], pytest.approx(row["log_best"], abs=0.02), False)
    assert row["kind"] == "model" and len(row["found"].split()) == choices.MAX_NEW_TOKENS


@pytest.mark.parametrize("row", SHORT, ids=lambda row: row["source"])
def test_each_stored_error_is_reproduced(row, translator):
    pair = Pair(row["source"], row["right"])
    assert translate(row["source"]).target == row["right"]
    assert choices.decode(translator, [pair], 1) == [row["found"]]
    assert choices.decode(translator, [pair], 4) == [row["best"]]
    assert translator.target.unknown(row["right"]) == row["unknown"]
    for name in ("right", "found", "best"):
        again = choices.log_probability(translator, row["source"], row[name])
        assert again == pytest.approx(row[f"log_{name}"], abs=0.02)


def test_pronouns_are_evaluated_in_sentences_of_any_length(translator):
    tired = "laura and mario did not understand the lesson because they were too tired"
    assert len(tired.split()) > translator.max_len
    assert choices.pronouns(translator, [translate(tired), translate("the red house")]) == [0, 1]


def test_constructions_are_recognised(translator):
    pairs = [translate(s) for s in ("the red house", "he called this king and helped him")]
    parts = SimpleNamespace(**{part: () for part in choices.PARTS} | {"test": pairs})
    found = choices.constructions(translator, parts)
    assert {kind: counts["n"] for kind, counts in found.items()} == {
        "adjective_after_noun": 1,
        "clitic": 1,
        "not_in_english": 1,
    }


def test_stored_totals_and_rows_are_consistent():
    language = MEASURED["language"]
    totals = [*language["agreement"].values(), *language["meanings"].values(), language["pronouns"]]
    totals += [(c["right"], c["n"]) for c in language["constructions"].values()]
    assert all(0 < right <= n for right, n in totals)
    assert len(MEASURED["cache"]["tokens"]) == len(MEASURED["cache"]["ratio"])
    assert MEASURED["cache"]["ratio"][-1] > MEASURED["cache"]["ratio"][0] > 0.5
    for of_seed in MEASURED["young"]["seeds"]:
        assert [row["width"] for row in of_seed["rows"]] == 2 * list(choices.YOUNG_WIDTHS)


def test_real_sentences_are_translated_as_stored():
    assert [row["source"] for row in MEASURED["real"]] == [pair.source for pair in everyday()]
    for row in MEASURED["real"]:
        # A different translation never ties with the right one, so rounding cannot change the
        # choice.
        different = [name for name, text in row["found"].items() if text != row["right"]]
        assert all(row["log_found"][name] != row["log_right"] for name in different)
    some = [58, 67, 131]
    assert choices.real([everyday()[i] for i in some]) == [MEASURED["real"][i] for i in some]
