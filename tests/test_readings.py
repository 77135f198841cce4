"""The programs of the documents on our own texts: the items, the measures, and a part again."""

import json
from collections import Counter

import numpy as np
import pytest

from attn_course import minilm
from attn_course.everyday import everyday
from attn_course.readings import SUBJECTS, readings, sentences_to_translate
from attn_course.tasks import LABELS, Opinion, opinions
from experiments import readings as programs

STORED = json.loads(programs.RESULTS.read_text(encoding="utf-8"))


# The items.


def test_each_passage_contains_its_answer_and_has_three_key_sentences():
    found = readings()
    assert len(found) == 50 and {one.subject for one in found} == {*SUBJECTS}
    for one in found:
        assert len(one.sentences) == 7 and len({*one.matter} & {*range(7)}) == 3
        assert one.answer in one.text, one.question
        assert one.question.endswith("?") and one.summary.endswith(".")
    sentences = [sentence for one in found for sentence in one.sentences]
    assert len(set(sentences)) == len(sentences)


def test_sentences_to_translate_are_new():
    pairs = sentences_to_translate()
    assert len({pair.source for pair in pairs}) == len({pair.target for pair in pairs}) == 50
    assert not {pair.source for pair in pairs} & {pair.source for pair in everyday()}


def test_no_sentence_to_translate_was_read_by_the_translator(needed):
    needed("tatoeba")
    from attn.corpus.tatoeba import read

    assert not {p.source for p in sentences_to_translate()} & {p.source for p in read()}


@pytest.mark.parametrize("language", ["en", "es"])
def test_harder_opinions_are_distinct_and_balanced(language):
    harder = opinions("harder", language)
    assert Counter(opinion.label for opinion in harder) == dict.fromkeys(LABELS, 10)
    others = [*opinions("to_learn_from", language), *opinions("to_be_asked", language)]
    assert not {o.text for o in harder} & {o.text for o in others}


# The measures.


def test_answers_are_compared_as_squad_does():
    assert programs.plain("The Post-Office!") == "post office"
    assert programs.token_f1("It was the post office.", "the post office") == pytest.approx(2 / 3)
    assert programs.within("It was in 1960.", "1960") and not programs.within("19600", "1960")


@pytest.mark.parametrize(
    "said, empty",
    [
        ("", True),
        ("The answer is none.", True),
        ("The text does not say it.", True),
        ("Nonesuch.", False),
        ("1945", False),
        ("The answer is no.", False),
    ],
)
def test_a_reply_that_admits_no_answer_counts_as_none(said, empty):
    assert programs.no_answer(said) == empty


def test_the_highest_scores_are_picked_in_order_and_of_equal_ones_the_first():
    assert programs.best([1, 5, 3, 5, 3], 3) == [1, 2, 3]
    assert programs.best([0, 0, 0], 2) == [0, 1]


def test_another_passage_of_the_subject_does_not_answer_the_question():
    for i, one in enumerate(readings()):
        other = programs.elsewhere(i)
        assert other != one and other.subject == one.subject
        assert not programs.within(other.text, one.answer), one.question


def test_words_are_counted_in_either_kind_of_opinion():
    known = [Opinion("good soup", "positive"), Opinion("bad soup", "negative")]
    found = programs.by_words(known, ["good soup", "bad soup", "soup"])
    # The class's only opinion has the word; with 1 added to each count: 2/3 against 1/3.
    np.testing.assert_allclose(found, [np.log(2), -np.log(2), 0], atol=1e-12)


# The stored results, and a part of them again.


def test_the_stored_results_are_complete():
    assert list(STORED) == list(programs.TASKS)
    for name in ("smollm2", "reader"):
        assert len(STORED["answers"]["said"][name]) == 50
    assert all(len(said) == 50 for said in STORED["translations"]["said"].values())
    assert len(STORED["summaries"]["said"]) == 50


@pytest.mark.slow
def test_minilm_picks_and_judges_as_stored(needed):
    needed("minilm")
    for i in (0, 20, 49):
        scores = programs.scores_of(readings()[i])
        assert {way: programs.best(x) for way, x in scores.items()} == {
            way: picked[i] for way, picked in STORED["picking"]["picked"].items()
        }
    asked = opinions("harder", "en")
    leaning = programs.by_vectors(opinions("to_learn_from", "en"), [o.text for o in asked])
    wrong = [
        o.text for o, x in zip(asked, leaning, strict=True) if (x > 0) != (o.label == LABELS[0])
    ]
    stored = {(r["language"], r["part"], r["system"]): r for r in STORED["sentiment"]["rows"]}
    assert wrong == stored["en", "harder", "minilm"]["wrong"]


@pytest.mark.slow
def test_smollm2_gives_the_stored_replies_outside_a_batch(needed):
    needed("smollm2")
    pairs = sentences_to_translate()
    for i in (2, 27):
        (said,) = programs.asked("translation", [pairs[i].source])
        assert said == STORED["translations"]["said"]["smollm2"][i]


@pytest.mark.slow
def test_attention_received_by_sentences_sums_to_less_than_one(needed):
    needed("minilm")
    model, tokenizer = minilm.model()
    sentences = readings()[0].sentences
    found = minilm.received(model, tokenizer, sentences)
    n_tokens = np.array([len(tokenizer.encode(sentence)) for sentence in sentences])
    assert (found > 0).all() and 0 < (found * n_tokens).sum() < 1
    vectors = minilm.vectors(model, tokenizer, sentences)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    np.testing.assert_allclose(minilm.vectors(model, tokenizer, sentences[2:3])[0], vectors[2])
