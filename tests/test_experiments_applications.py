"""The measurements of chapter 10: rules on scores by hand, and the quick measurements again."""

import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from attn.applications import models
from attn.applications.question_answering import QuestionAnswerer
from attn.applications.question_answering.spans import MAX_WORDS, span_logits
from attn.applications.summarization import Summarizer
from attn.applications.summarization.sentences import sentences_of
from attn.applications.visual_question import VisualQuestionAnswerer
from attn.training import TrainingConfig
from attn_course.images import make_examples
from attn_course.images.questions import KINDS
from attn_course.passages import questions
from attn_course.stories import stories
from experiments import applications

FEW = TrainingConfig(steps=2, label_smoothing=0.0)


@pytest.fixture(scope="module")
def stored():
    return json.loads(applications.RESULTS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def looker():
    return VisualQuestionAnswerer.pretrained()


def test_every_system_was_measured_with_every_seed(stored):
    assert list(stored) == list(applications.MEASURES)
    for name in ("reading", "headlines", "seeing"):
        found = stored[name]
        assert found["seeds"] == list(applications.SEEDS)
        assert len(found["systems"]) == 3
        for runs in found["systems"].values():
            assert len(runs) == len(applications.SEEDS)
    for runs in stored["reading"]["systems"].values():
        assert all(run["exact"] == run["joint"] for run in runs)


def test_the_chapters_claims_on_removed_parts_hold_for_every_seed(stored):
    for whole, marks, order in zip(*stored["reading"]["systems"].values(), strict=True):
        assert whole["exact"] > 0.98 and max(marks["exact"], order["exact"]) < 0.7
        assert whole["joint"] > whole["forwards"] > whole["apart"]
        assert order["by_facts"]["1"] > 0.98 and order["by_facts"]["5"] < 0.5
    for whole, order, ahead in zip(*stored["headlines"]["systems"].values(), strict=True):
        assert whole["exact"] > 0.99 and 0.4 < order["exact"] < 0.6
        assert ahead["tokens"] == 1.0 and ahead["exact"] == 0.0
        best = whole["extract"]["best"]
        assert best == max(whole["extract"].values()) < whole["rouge1"]
        assert abs(whole["picks_best"]["attention"] - whole["picks_best"]["longest"]) < 0.02
        assert whole["picks_best"]["random"] < whole["picks_best"]["longest"] - 0.2
        for way in ("first", "similarity"):
            assert abs(whole["extract"][way] - whole["extract"]["random"]) < 0.005
        assert whole["extract"]["attention"] > whole["extract"]["longest"]
        assert whole["extract"]["similarity"] < whole["extract"]["longest"]
    for _, order, places in zip(*stored["seeing"]["systems"].values(), strict=True):
        assert order["both_orders"]["alike"] > 0.9 and order["both_orders"]["mixed"] < 0.3
        assert places["colour"] > 0.98 and places["exists"] > 0.95
        assert places["where"] < 0.45 and places["left"] < 0.65
    # English has no grammatical gender, so a model without positions has no other clue to word
    # order.
    english = stored["controls"]["english"]
    assert 0.4 < english["left"] < 0.6 and set(english["both_orders"].values()) == {1.0}
    for found in stored["shipped"]["languages"].values():
        assert set(found["no places"]["said"]) == {"cuatro", "four"}
        assert found["even weights"]["said"]["ninguno"] > 60
        assert found["looks"]["mass"] > 5 * found["looks"]["chance"]


def by_hand(start, end, n_before=3):
    tokens = ["<sos>", "who", "<eos>", "1945", "by", "Anna", "Garza"]
    roles = torch.tensor([[0] * n_before + [1] * (len(tokens) - n_before)])
    start, end = (np.array([*[-9.0] * n_before, *x]) for x in (start, end))
    logits = span_logits(torch.tensor(start[None]), torch.tensor(end[None]), roles)
    return SimpleNamespace(tokens=tokens, n_before=n_before), start, end, int(logits.argmax())


def test_three_rules_for_choosing_a_span_on_the_scores_of_the_chapter():
    row = by_hand([1.0, 0.0, 3.0, 2.0], [3.2, 0.1, 1.0, 3.0])
    assert applications.said(row[0], applications.joint(*row)) == "Anna Garza"
    assert applications.apart(*row) == (5, 3)
    assert applications.said(row[0], applications.apart(*row)) == ""
    assert applications.said(row[0], applications.forwards(*row)) == "Anna Garza"
    row = by_hand([1.0, 0.0, 0.0, 1.5], [3.2, 0.1, 1.0, 0.0])
    assert applications.said(row[0], applications.joint(*row)) == "1945"
    assert applications.said(row[0], applications.forwards(*row)) == "Garza"
    assert MAX_WORDS >= 2


def test_the_scores_are_those_of_the_systems_own_answers():
    reader = QuestionAnswerer.fit(questions(60, seed=0), training=FEW)
    examples = questions(30, seed=3)
    rows = list(applications.read(reader, examples))
    answers = [applications.said(row[0], applications.joint(*row)) for row in rows]
    assert answers == [reader.answer(e.context, e.question).text for e in examples]


def test_without_the_padding_mask_scores_depend_on_the_batch():
    reader = QuestionAnswerer.fit(questions(60, seed=0), training=FEW)
    examples = sorted(questions(8, seed=3), key=lambda e: len(e.context))
    short = {masked: [] for masked in (True, False)}
    for masked, scores in short.items():
        for some in (examples[:1], examples):
            encoded, start, *_ = next(applications.read(reader, some, masked=masked))
            scores.append(start[: len(encoded.tokens)])
    np.testing.assert_allclose(*short[True], atol=1e-4)
    assert not np.allclose(*short[False], atol=1e-3)


def test_without_positions_a_shuffled_passage_gets_shuffled_scores():
    sizes = {"positions": "none"}
    reader = QuestionAnswerer.fit(questions(60, seed=0), sizes=sizes, training=FEW)
    context = ["Iris", "Duval", "was", "a", "nurse", "and", "Iris", "Silva", "a", "farmer"]
    order = np.random.default_rng(0).permutation(len(context))
    asked = [
        (" ".join(words), "Who is the nurse?", "", None)
        for words in (context, [context[i] for i in order])
    ]
    (one, start, *_), (_, moved, *_) = applications.read(reader, asked)
    before = one.n_before
    np.testing.assert_allclose(moved[before:], start[before:][order], atol=1e-4)


@pytest.mark.parametrize("looks_ahead", [False, True])
def test_a_decoder_without_causal_mask_sees_the_token_it_must_predict(looks_ahead):
    with applications.ahead() if looks_ahead else applications.nullcontext():
        writer = Summarizer.fit(stories(30, seed=0), training=FEW)
        src, tgt = torch.tensor([[5, 6, 7]]), torch.tensor([[2, 8, 9, 10]])
        other = tgt.clone()
        other[0, -1] = 11
        with torch.no_grad():
            first, second = (writer.model(src, ids)[0][0, :3] for ids in (tgt, other))
    assert torch.allclose(first, second, atol=1e-6) != looks_ahead


def test_centrality_prefers_the_sentence_that_repeats_the_others():
    found = applications.centrality(["A cat sat.", "A cat sat here.", "Dogs bark."])
    assert found.argmax() in (0, 1)
    np.testing.assert_allclose(found, [3 / np.sqrt(12) / 2] * 2 + [0], atol=1e-12)


def test_sentence_baselines_do_not_depend_on_the_model(stored):
    """The longest, first and random sentence are the same, whichever model gives the scores."""
    examples = stories(40, seed=1, unseen=True)
    lengths = [len(sentences_of(e.text)) for e in examples]
    writer = SimpleNamespace(
        sentence_scores=lambda text: (s := sentences_of(text), np.arange(len(s), 0, -1.0))
    )
    found = applications.extracts(writer, examples)
    assert found["extract"]["attention"] == found["extract"]["first"]
    assert found["picks_best"]["attention"] == found["picks_best"]["first"]
    assert found["picks_best"]["best"] == 1
    assert found["picks_best"]["random"] == pytest.approx(np.mean(1 / np.array(lengths)), abs=1e-3)
    assert found["extract"]["random"] < found["extract"]["best"]
    for part in ("extract", "picks_best"):
        one, other = (dict(run[part]) for run in stored["headlines"]["systems"]["whole"])
        del one["attention"], other["attention"]
        assert one == other


@pytest.mark.slow
def test_the_shipped_model_has_the_stored_accuracy(stored, looker):
    n = stored["shipped"]["n"]
    for language, found in stored["shipped"]["languages"].items():
        again = applications.scores_by_kind(looker, make_examples(n, language, seed=1))
        assert again == pytest.approx(found["whole"], abs=0.003)
        assert again["accuracy"] > 0.97
        held_out = looker.evaluate(make_examples(n, language, seed=2, held_out=True))
        assert held_out["accuracy"] == pytest.approx(found["held_out"], abs=0.003)


@pytest.mark.slow
def test_an_ablation_lowers_accuracy_and_is_undone_afterwards(stored, looker):
    examples = make_examples(100, "es", seed=1)
    before = {name: x.clone() for name, x in looker.model.state_dict().items()}
    places = looker.model.patches.places.clone()
    for name in applications.CUTS:
        found = applications.cut(looker, examples, name)
        assert set(found) == {"accuracy", *KINDS, "said"}
        n_colours = sum(example.kind == "colour" for example in examples)
        assert sum(found["said"].values()) == n_colours
        possible = sum(e.kind == "colour" and e.answer in found["said"] for e in examples)
        assert found["colour"] <= possible / n_colours
        assert found["accuracy"] == pytest.approx(
            stored["shipped"]["languages"]["es"][name]["accuracy"], abs=0.15
        )
        assert found["accuracy"] < 0.9
    for name, x in looker.model.state_dict().items():
        assert torch.equal(x, before[name])
    assert torch.equal(looker.model.patches.places, places)
    whole = [applications.answer_without(looker, e, None) for e in examples]
    answers = [looker.answers[logits.argmax()] for logits in whole]
    assert answers == [looker.answer(e.image, e.question).text for e in examples]


@pytest.mark.parametrize(
    "name, kind, file",
    [
        ("question_answerer", QuestionAnswerer, "reader"),
        ("summarizer", Summarizer, "model"),
        ("visual_question", VisualQuestionAnswerer, "model"),
    ],
)
def test_training_a_model_twice_writes_identical_files(tmp_path, monkeypatch, name, kind, file):
    few = partial(applications.MODELS[name], steps=2, n_examples=60)
    monkeypatch.setitem(applications.MODELS, name, few)
    for again in "ab":
        (tmp_path / again).mkdir()
        applications.train_models([name], folder=(tmp_path / again).joinpath)
    kind.load(tmp_path / "a" / name)
    made = [(tmp_path / again / name / f"{file}.safetensors").read_bytes() for again in "ab"]
    assert made[0] == made[1] and len(made[0]) < 350_000
    with pytest.raises(SystemExit, match="^names: expected some of question_answerer, summarizer"):
        applications.train_models(["other"], folder=tmp_path.joinpath)


@pytest.mark.parametrize(
    "name, examples",
    [
        ("question_answerer", questions(60, seed=1, unseen=True)),
        ("summarizer", stories(30, seed=1, unseen=True)),
    ],
)
def test_the_shipped_models_are_as_accurate_as_the_measured_ones(name, examples):
    kind = {"question_answerer": QuestionAnswerer, "summarizer": Summarizer}[name]
    assert kind.load(models.folder(name)).evaluate(examples)["exact_match"] > 0.96
