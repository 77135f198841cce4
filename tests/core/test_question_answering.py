"""attn_course.passages and attn.applications.question_answering: the data, spans, and answers."""

import dataclasses
import functools
import itertools
import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn.applications import _sequences
from attn.applications.question_answering import Answer, QuestionAnswerer
from attn.applications.question_answering.answerer import TRAINING, span_loss
from attn.applications.question_answering.encoding import collate, encode, quote
from attn.applications.question_answering.spans import (
    CONTEXT,
    MARKED,
    MAX_WORDS,
    OUTSIDE,
    SpanReader,
    span_logits,
)
from attn.masks import padding_mask
from attn.tokenizer import WordTokenizer
from attn.tokenizer.words import join, split
from attn.transformer import TransformerConfig
from attn_course import passages
from attn_course.passages import KINDS, Question, is_held_out, questions
from tests.core.helpers import pattern, refuses, values_of
from tests.refusals import refusals

ENIAC = "The first general-purpose electronic computer, ENIAC, was completed in 1945."
ASKED = "When was the first computer invented?"


# The data are parsed independently: every template as a regular expression.

TABLES = tomllib.loads(Path(passages.__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@functools.cache
def states():
    return [
        (name, pattern(TABLES, state))
        for name, frame in TABLES["frames"].items()
        for state in frame["states"]
    ]


@functools.cache
def asks():
    return [
        (name, slot, pattern(TABLES, ask))
        for name, frame in TABLES["frames"].items()
        for slot, of_slot in frame["asks"].items()
        for ask in of_slot
    ]


def facts_of(context):
    """Return the frame and the values of every sentence of a passage."""
    facts = []
    for sentence in re.split(r"(?<=\.) ", context):
        matches = [(name, state.fullmatch(sentence)) for name, state in states()]
        facts += [(name, match.groupdict()) for name, match in matches if match]
    return facts


def readings_of(question):
    """Return each frame and slot that a question may ask for, and the values in the question."""
    matches = [(name, slot, ask.fullmatch(question)) for name, slot, ask in asks()]
    return [(name, slot, match.groupdict()) for name, slot, match in matches if match]


def answers_of(context, question):
    return {
        values[slot]
        for frame, slot, given_values in readings_of(question)
        for name, values in facts_of(context)
        if name == frame and slot in values and given_values.items() <= values.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("unseen", [False, True])
def test_every_answer_is_the_only_one_that_the_passage_gives(unseen):
    for context, question, answer, start in questions(200, seed=11, unseen=unseen):
        assert readings_of(question)
        assert answers_of(context, question) == ({answer} if answer else set())
        if answer:
            words = split(answer)
            assert split(context)[start : start + len(words)] == words
        else:
            assert start is None


@pytest.mark.slow
def test_a_passage_has_one_to_five_facts_and_no_two_of_a_frame_share_a_value():
    counts = set()
    for context, *_ in questions(150, seed=12):
        sentences, facts = re.split(r"(?<=\.) ", context), facts_of(context)
        assert len(sentences) == len(facts)
        assert all(sentence[0].isupper() for sentence in sentences)
        counts.add(len(facts))
        for (name, values), (other_name, others) in itertools.combinations(facts, 2):
            assert name != other_name or not {*values.values()} & {*others.values()}
    assert counts == {1, 2, 3, 4, 5}


@pytest.mark.slow
def test_held_out_pairs_are_in_no_training_fact_and_in_every_unseen_question():
    for context, *_ in questions(300, seed=13):
        for _, values in facts_of(context):
            assert not any(is_held_out(*p) for p in itertools.combinations(values.values(), 2))
    for context, question, answer, _ in questions(100, seed=13, unseen=True):
        readings = [
            values
            for frame, slot, values in readings_of(question)
            if not answer
            or any(answer == fact.get(slot) for n, fact in facts_of(context) if n == frame)
        ]
        if answer:
            assert any(all(is_held_out(v, answer) for v in values.values()) for values in readings)


def test_one_pair_in_ten_is_held_out_in_either_order():
    pairs = list(itertools.product(values_of(TABLES, "machine"), values_of(TABLES, "year")))
    held_out = [pair for pair in pairs if is_held_out(*pair)]
    assert 0.08 < len(held_out) / len(pairs) < 0.12
    assert all(is_held_out(b, a) for a, b in held_out)
    assert is_held_out("computer", "1945")


@pytest.mark.slow
def test_the_documented_passage_is_of_the_grammar_and_not_in_the_training_data():
    assert answers_of(ENIAC, ASKED) == {"1945"}
    for context, *_ in questions(800, seed=0, kind="invention.year"):
        for name, values in facts_of(context):
            assert name != "invention" or not {"computer", "1945"} <= {*values.values()}


@pytest.mark.slow
def test_there_are_more_than_twenty_kinds_of_questions_and_each_can_be_chosen():
    assert len(KINDS) == len(set(KINDS)) == 41
    for kind in KINDS:
        frame, slot = kind.split(".")
        for unseen in (False, True):
            some = questions(30, seed=5, kind=kind, unseen=unseen)
            for _, question, answer, _ in some:
                assert (frame, slot) in [reading[:2] for reading in readings_of(question)]
                assert not answer or answer in values_of(TABLES, slot)
            assert len({question.question for question in some}) > 5
            assert any(not question.answer for question in some)
            assert any(question.answer for question in some)


@pytest.mark.slow
def test_questions_have_all_kinds_by_default():
    found = {
        f"{frame}.{slot}"
        for _, question, *_ in questions(800, seed=2)
        for frame, slot, _ in readings_of(question)
    }
    assert found == set(KINDS)


@pytest.mark.slow
def test_one_question_in_five_has_no_answer_for_either_of_two_reasons():
    some = [question for question in questions(2000, seed=1) if not question.answer]
    assert 0.17 < len(some) / 2000 < 0.23
    # `told` counts passages that hold the fact, but not the slot that the question asks for.
    told = 0
    for context, question, *_ in some:
        for frame, _, given_values in readings_of(question):
            facts = [values for name, values in facts_of(context) if name == frame]
            told += any(given_values.items() <= values.items() for values in facts)
            assert facts
    assert 0.2 < told / len(some) < 0.8


def test_questions_depend_on_the_seed():
    assert questions(20, seed=3) == questions(40, seed=3)[:20]
    assert not set(questions(20, seed=3)) & set(questions(20, seed=4))
    assert questions(0, seed=3) == []


test_questions_refuses_invalid_arguments = refusals(
    ({"n": -1, "seed": 0}, "n: expected at least 0, got -1$"),
    ({"n": 1.5, "seed": 0}, "n: expected an integer, got 1.5$"),
    ({"n": 1, "seed": -2}, "seed: expected at least 0, got -2$"),
    ({"n": 1, "seed": "a"}, "seed: expected an integer, got 'a'$"),
    ({"n": 1, "seed": 0, "kind": "thing"}, "kind: expected 'invention.year' or .* got 'thing'$"),
    of=lambda arguments: questions(**arguments),
)


# Spans


def test_span_logits_are_sums_over_spans_of_the_context():
    generator = torch.Generator().manual_seed(0)
    for seq_len in (1, 4, MAX_WORDS, 13):
        start, end = torch.randn(2, 3, seq_len, generator=generator)
        roles = torch.full((3, seq_len), OUTSIDE)
        for row, (first, last) in enumerate([(seq_len, seq_len), (1, seq_len), (2, seq_len - 1)]):
            roles[row, first:last] = CONTEXT
            roles[row, first:last:3] = torch.where(
                roles[row, first:last:3] == CONTEXT, MARKED, OUTSIDE
            )
        logits = span_logits(start, end, roles)
        assert logits.shape == (3, seq_len, MAX_WORDS)
        for b, i, n in itertools.product(range(3), range(seq_len), range(MAX_WORDS)):
            inside = [0 <= k < seq_len and roles[b, k] != OUTSIDE for k in range(i, i + n + 1)]
            right = -math.inf
            if all(inside):
                right = float(start[b, i] + end[b, i + n])
            if i == n == 0:
                right = float(start[b, 0] + end[b, 0])
            assert logits[b, i, n] == right


def reader(seed=0, vocab_size=20, **changes):
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32, "positions": "rotary"}
    return SpanReader(TransformerConfig(vocab_size, **sizes | changes)).eval()


IDS = torch.tensor([[2, 5, 6, 3, 7, 8, 9, 5], [2, 5, 3, 8, 4, 0, 0, 0]])
ROLES = torch.tensor([[0, 0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 0, 0, 0]])


def test_a_role_embedding_is_added_to_each_token():
    model = reader()
    assert model.roles.weight.shape == (3, 16)
    x = model.embedding(IDS) + model.roles.weight[ROLES]
    read, _ = model.encoder(x, padding_mask([8, 5], 8))
    start, end, _ = model(IDS, ROLES, [8, 5])
    torch.testing.assert_close(torch.stack((start, end), dim=-1), model.output(read))


def test_weights_are_returned_only_on_request():
    model = reader()
    assert model(IDS, ROLES, [8, 5])[2] is None
    weights = model(IDS, ROLES, [8, 5], need_weights=True)[2]
    assert [w.shape for w in weights] == [(2, 2, 8, 8)] * 2
    assert (weights[0][1, :, :, 5:] == 0).all()


def test_the_loss_is_the_negative_log_probability_of_the_right_span():
    model = reader()
    batch = {"ids": IDS, "roles": ROLES, "lengths": torch.tensor([8, 5])}
    batch["span"] = torch.tensor([5 * MAX_WORDS + 1, 0])
    start, end, _ = model(IDS, ROLES, [8, 5])
    right = 0.0
    for row, first, span in ((0, 4, (5, 6)), (1, 3, (0, 0))):
        n = (8, 5)[row]
        spans = [(0, 0)] + [(i, j) for i in range(first, n) for j in range(i, n)]
        scores = np.array([(start[row, i] + end[row, j]).item() for i, j in spans])
        right += np.log(np.exp(scores).sum()) - scores[spans.index(span)]
    total, count = span_loss(model, batch)
    assert total.item() == pytest.approx(right, rel=1e-5) and int(count) == 2
    total.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


# Encoding

WORDS = WordTokenizer(["is", "the", "sky", "blue"])


def test_marks_compare_words_not_ids():
    one = encode(WORDS, True, "The Zeppelin is grey.", "Is the zeppelin blue?")
    assert one.tokens[one.n_before :] == ["The", "Zeppelin", "is", "grey", "."]
    assert one.ids == [2, 4, 5, 1, 7, 1, 3, 5, 1, 4, 1, 1]
    assert one.roles == [OUTSIDE] * 7 + [MARKED, MARKED, MARKED, CONTEXT, CONTEXT]
    assert one.span == 0 and one.n_before == 7


def test_without_marks_no_word_has_one():
    one = encode(WORDS, False, "The Zeppelin is grey.", "Is the zeppelin blue?")
    assert one.roles == [OUTSIDE] * 7 + [CONTEXT] * 5


def test_the_span_points_at_the_answer():
    one = encode(WORDS, True, "The sky is deep blue .", "What?", "deep blue", 3)
    start, more = divmod(one.span, MAX_WORDS)
    assert one.tokens[start : start + more + 1] == ["deep", "blue"]


OF_CONTEXT, NINE = "answer: expected words of the context from start", "a b c d e f g h i"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "Why?"), "context: expected at least one word, got ''"),
        (("The sky", " "), "question: expected at least one word, got ' '"),
        ((3, "Why?"), "context: expected a string, got int"),
        (("The sky", None), "question: expected a string, got NoneType"),
        (("The sky", "Why?", "sky", 0), f"{OF_CONTEXT} = 0, got 'sky'"),
        (("The sky", "Why?", "sky"), f"{OF_CONTEXT} = None, got 'sky'"),
        (("The sky", "Why?", "Sky", 1), f"{OF_CONTEXT} = 1, got 'Sky'"),
        ((NINE, "Why?", NINE, 0), "answer: expected at most 8 words, got 9"),
        (("The sky", "Why?", " ", 0), "answer: expected at least one word, got ' '"),
    ],
)
def test_encode_refuses_invalid_arguments(arguments, message):
    with refuses(message):
        encode(WORDS, True, *arguments)


def test_a_span_is_quoted_with_its_place_in_the_passage():
    one = encode(WORDS, True, "The sky is blue.", "What is blue?")
    # This span begins at the second word of the context and has one word more.
    span = (one.n_before + 1) * MAX_WORDS + 1
    assert quote(one, span, 0.75) == Answer("sky is", 1, 3, 0.75)
    assert quote(one, 0, 0.25) == Answer("", None, None, 0.25)


def test_an_answer_may_have_the_greatest_length_of_a_span():
    one = encode(WORDS, True, "a b c d e f g h i", "Why?", "b c d e f g h i", 1)
    assert divmod(one.span, MAX_WORDS) == (one.n_before + 1, MAX_WORDS - 1)


@given(st.text(min_size=1), st.text(min_size=1))
def test_tokens_ids_and_roles_belong_together_in_any_text(context, question):
    try:
        one = encode(WORDS, True, context, question)
    except ValueError:
        assert not split(context) or not split(question)
        return
    assert len(one.tokens) == len(one.ids) == len(one.roles)
    assert one.tokens[one.n_before - 1] == "<eos>" and one.ids[one.n_before - 1] == 3
    assert WordTokenizer.eos_id not in one.ids[one.n_before :]


def test_padding_of_a_batch_has_the_role_outside():
    some = [
        encode(WORDS, True, "The sky .", "Is blue?"),
        encode(WORDS, True, "Sky", "Blue", "Sky", 0),
    ]
    batch = collate(some)
    assert batch["ids"].tolist() == [some[0].ids, some[1].ids + [0] * 4]
    assert batch["roles"].tolist() == [some[0].roles, some[1].roles + [OUTSIDE] * 4]
    assert batch["lengths"].tolist() == [8, 4]
    assert batch["span"].tolist() == [0, 3 * MAX_WORDS]


# The whole system, trained briefly on a few kinds


TAUGHT = ("thing.colour", "invention.year")
SHORT = dataclasses.replace(TRAINING, steps=160, warmup_steps=50)


def some_questions(n, seed, unseen):
    return [q for kind in TAUGHT for q in questions(n, seed, unseen=unseen, kind=kind)]


@pytest.fixture(scope="module", params=[pytest.param("trained", marks=pytest.mark.slow)])
def trained():
    """Train once; the mark makes every test that uses this fixture slow."""
    return QuestionAnswerer.fit(some_questions(1000, 0, unseen=False), training=SHORT)


@pytest.fixture(scope="module")
def untrained():
    """An answerer with hardly any training, for tests that need no learned behaviour."""
    training = dataclasses.replace(SHORT, steps=1)
    return QuestionAnswerer.fit(some_questions(40, 0, unseen=False), training=training)


@pytest.fixture(scope="module")
def unseen():
    return some_questions(60, 1, unseen=True)


def test_training_reaches_the_expected_accuracy(trained, unseen):
    assert trained.evaluate(unseen)["exact_match"] > 0.9


def test_it_answers_the_question_of_the_document(trained):
    answer = trained.answer(ENIAC, ASKED)
    assert (answer.text, answer.start, answer.end) == ("1945", 11, 12)
    assert 0.5 < answer.probability <= 1


def test_the_answer_is_the_most_probable_of_all_spans(untrained, unseen):
    for context, question, *_ in unseen[::20]:
        one = encode(untrained.tokenizer, True, context, question)
        ids, roles = torch.tensor([one.ids]), torch.tensor([one.roles])
        with torch.no_grad():
            start, end, _ = untrained.model(ids, roles, [len(one.ids)])
        scores = {("", None, None): float(start[0, 0] + end[0, 0])}
        words = split(context)
        for i in range(len(words)):
            for j in range(i + 1, min(i + MAX_WORDS, len(words)) + 1):
                score = start[0, one.n_before + i] + end[0, one.n_before + j - 1]
                scores[join(words[i:j]), i, j] = float(score)
        best = max(scores, key=scores.get)
        answer = untrained.answer(context, question)
        assert answer[:3] == best
        right = math.exp(scores[best] - np.logaddexp.reduce([*scores.values()]))
        assert answer.probability == pytest.approx(right, rel=1e-4)


def test_evaluation_equals_counting_answers_one_at_a_time(untrained, unseen, monkeypatch):
    monkeypatch.setattr(_sequences, "SEQUENCES_AT_A_TIME", 7)
    some = unseen[::4]
    wrong = Question(some[0].context, some[0].question, "wrong", 0)
    silent = Question(some[1].context, some[1].question, "" if some[1].answer else "wrong", None)
    some += [wrong, silent]
    found = [untrained.answer(context, question).text for context, question, *_ in some]
    numbers = untrained.evaluate(some)
    right = [text == question.answer for text, question in zip(found, some, strict=True)]
    knows = [bool(text) == bool(q.answer) for text, q in zip(found, some, strict=True)]
    assert numbers == {
        "exact_match": pytest.approx(sum(right) / len(some)),
        "knows_if": pytest.approx(sum(knows) / len(some)),
        "n_questions": len(some),
    }
    assert numbers["exact_match"] < numbers["knows_if"] < 1


def test_questions_of_similar_length_form_a_batch(untrained, unseen, monkeypatch):
    monkeypatch.setattr(_sequences, "SEQUENCES_AT_A_TIME", 4)
    lengths, sizes = [], []

    def read(encoded, original=untrained._answer_batch):
        lengths.extend(len(one.ids) for one in encoded)
        sizes.append(len(encoded))
        return original(encoded)

    monkeypatch.setattr(untrained, "_answer_batch", read)
    untrained.evaluate(unseen[:10])
    assert sizes == [4, 4, 2] and lengths == sorted(lengths)


def test_unknown_words_do_not_prevent_a_right_answer(trained):
    assert "quux" not in trained.tokenizer.tokens and "bendy" not in trained.tokenizer.tokens
    context = "The first bendy lamp, QUUX, was finished in 1903."
    assert trained.answer(context, "When was the first lamp built?").text == "1903"


def test_attention_returns_the_weights_of_the_model(untrained):
    tokens, weights = untrained.attention(ENIAC, ASKED)
    assert tokens == ["<sos>", *split(ASKED), "<eos>", *split(ENIAC)]
    config = untrained.model.config
    assert weights.shape == (config.n_layers, config.n_heads, len(tokens), len(tokens))
    one = encode(untrained.tokenizer, True, ENIAC, ASKED)
    with torch.no_grad():
        *_, right = untrained.model(
            torch.tensor([one.ids]), torch.tensor([one.roles]), [len(one.ids)], need_weights=True
        )
    np.testing.assert_array_equal(weights, np.stack([layer[0] for layer in right]))


def test_the_vocabulary_has_the_words_that_occur_at_least_five_times():
    some = questions(60, 0)
    fitted = QuestionAnswerer.fit(some, training=dataclasses.replace(SHORT, steps=1))
    texts = [text for question in some for text in question[:2]]
    assert fitted.tokenizer == WordTokenizer.train(texts, min_count=5)


def test_marks_change_the_training_and_can_be_switched_off(untrained, tmp_path):
    training = dataclasses.replace(SHORT, steps=2)
    some = questions(40, 0)
    with_marks, without = (
        QuestionAnswerer.fit(some, training=training, marks_question_words=marks)
        for marks in (True, False)
    )
    assert with_marks.history.losses != without.history.losses
    unmarking = QuestionAnswerer(untrained.model, untrained.tokenizer, False)
    probability = untrained.answer(ENIAC, ASKED).probability
    assert unmarking.answer(ENIAC, ASKED).probability != probability
    unmarking.save(tmp_path / "answerer")
    assert QuestionAnswerer.load(tmp_path / "answerer").marks_question_words is False
