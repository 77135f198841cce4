"""VisualAsker: what it draws, says and computes, against the Python it stands for."""

import base64
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from attn.applications.visual_question import VisualQuestionAnswerer
from attn_course.images import Question, Thing, draw, make_examples
from attn_course.images.scenes import COLOURS, SHAPES
from attn_course.widgets import VisualAsker, _source
from experiments import applications
from tests.refusals import refusals

LANGUAGES = ("es", "en")
YES = {"es": "sí", "en": "yes"}
QUESTIONS = [
    *(Question(kind, shape) for kind in ("colour", "count", "where") for shape in SHAPES),
    *(Question("exists", shape, colour) for shape in SHAPES for colour in COLOURS),
    *(Question("left", a, "", b) for a in SHAPES for b in SHAPES if a != b),
]
LOAD = """
import { loadVisual, look } from "./visual_asker.mjs";
const weights = Uint8Array.from(atob(input.parts.weights), (c) => c.charCodeAt(0));
const trained = await loadVisual({ get: () => ({ ...input.parts, weights }) });
const results = input.asked.map(({ things, question, without }) => {
  const ids = trained.tokenizer.encode(question, { sos: true });
  const { layers, logits } = look(trained, things, ids, without);
  return { ids, logits: [...logits],
    cross: layers.map(({ crossAttention }) => crossAttention.weights.map((head) => head.map((row) => [...row]))) };
});
console.log(JSON.stringify(results));
"""


@pytest.fixture(scope="module")
def one():
    return VisualQuestionAnswerer.pretrained()


def parts():
    trained = _source.visual_question()
    return trained | {"weights": base64.b64encode(trained["weights"]).decode()}


def plain(things):
    return [thing._asdict() for thing in things]


def asked_of(examples, without=None):
    return [
        {"things": plain(e.things), "question": e.question, "without": without} for e in examples
    ]


def test_the_page_asks_and_answers_as_python_does(node):
    scenes = [e.things for e in make_examples(60, "en", seed=5)]
    found = node(
        """
        import { allQuestions, findQuestion, lexicon, questionText, rightAnswer } from "./visual_asker.mjs";
        const of = (language) => {
          const words = lexicon(language);
          return {
            texts: allQuestions().map((question) => questionText(question, words)),
            found: allQuestions().map((question) => findQuestion(` ${questionText(question, words).toUpperCase()} `)),
            bare: allQuestions().map((question) => findQuestion(questionText(question, words).normalize("NFD").replace(/[^a-z ]/gi, ""))),
            answers: input.map((things) => allQuestions().map((question) => rightAnswer(question, things, words))),
          };
        };
        console.log(JSON.stringify({ all: allQuestions(), es: of("es"), en: of("en") }));
        """,
        [plain(things) for things in scenes],
    )
    assert len(QUESTIONS) == len(found["all"]) == 44
    n_answered = 0
    for language in LANGUAGES:
        got = found[language]
        assert got["texts"] == [question.words(language) for question in QUESTIONS]
        for some in (got["found"], got["bare"]):
            assert [one["question"] for one in some] == found["all"]
            assert {one["words"]["truth"][1] for one in some} == {YES[language]}
        for things, answers in zip(scenes, got["answers"], strict=True):
            for question, answer in zip(QUESTIONS, answers, strict=True):
                mine = [t for t in things if t.shape == question.shape]
                both = question.asked(things)
                has_one = len(mine) == 1
                has_answer = {
                    "colour": has_one,
                    "where": has_one,
                    "count": len(mine) <= 4,
                    "exists": True,
                    "left": has_one and len(both) == 2 and both[0].column != both[-1].column,
                }[question.kind]
                n_answered += has_answer
                assert answer == (question.answer(things, language) if has_answer else None)
    assert n_answered > 1000


def test_the_page_draws_the_pixels_of_python(node):
    things = [Thing(s, c, i, j) for i, s in enumerate(SHAPES) for j, c in enumerate(COLOURS)]
    found = node(
        """
        import { patchPixels } from "./visual_asker.mjs";
        console.log(JSON.stringify([...input, null].map(patchPixels)));
        """,
        plain(things),
    )
    image = draw(things)
    for thing, pixels in zip(things, found, strict=False):
        row, column = 8 * thing.row, 8 * thing.column
        patch = image[row : row + 8, column : column + 8]
        np.testing.assert_array_equal(np.reshape(pixels, (8, 8, 3)), patch)
    np.testing.assert_array_equal(np.reshape(found[-1], (8, 8, 3)), image[40:, 40:])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_of_the_page_is_pytorchs(node, one, language):
    examples = make_examples(15, language, seed=3)
    found = node(LOAD, {"parts": parts(), "asked": asked_of(examples)})
    for example, got in zip(examples, found, strict=True):
        image = draw(example.things)
        ids = one.tokenizer.encode(example.question, sos=True)
        assert got["ids"] == ids
        with torch.no_grad():
            logits, (_, cross) = one.model(
                torch.from_numpy(image), torch.tensor(ids), need_weights=True
            )
        np.testing.assert_allclose(got["logits"], logits, atol=3e-4, rtol=1e-4)
        np.testing.assert_allclose(got["cross"], torch.stack(cross), atol=1e-4)
        assert np.std(got["logits"]) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "part, name", [("places", "no places"), ("choice", "even weights"), ("mask", "no mask")]
)
def test_without_a_part_the_page_and_python_fail_alike(node, one, part, name):
    examples = make_examples(15, "es", seed=4)
    found = node(LOAD, {"parts": parts(), "asked": asked_of(examples, part)})
    whole = node(LOAD, {"parts": parts(), "asked": asked_of(examples)})
    for example, got, unhurt in zip(examples, found, whole, strict=True):
        still = SimpleNamespace(
            image=draw(example.things), question=example.question, things=example.things
        )
        logits = applications.answer_without(one, still, name)
        np.testing.assert_allclose(got["logits"], logits, atol=3e-4, rtol=1e-4)
        assert not np.allclose(got["logits"], unhurt["logits"], atol=0.05)
        if part == "choice":
            np.testing.assert_allclose(got["cross"], 1 / 36, atol=1e-6)


@pytest.mark.slow
def test_plain_images_are_as_easy_as_those_it_learned_from(one):
    for language in LANGUAGES:
        examples = make_examples(100, language, seed=6)
        answers = [one.answer(draw(e.things), e.question).text for e in examples]
        right = [text == e.answer for text, e in zip(answers, examples, strict=True)]
        assert np.mean(right) > 0.96


def asker(**changes):
    arguments = {
        "things": [("ball", "red", 1, 4)],
        "question": "¿De qué color es el balón?",
        "answer": SimpleNamespace(text="rojo", probability=0.9871),
        "attention": SimpleNamespace(
            tokens=["<sos>", "balón"], weights=np.full((2, 4, 2, 6, 6), 1 / 36)
        ),
    }
    return VisualAsker(**arguments | changes)


def test_the_fallback_is_the_image_as_a_table():
    html = asker(language="es")._html()
    assert "rojo (0.99)" in html and "<td>0.03 (balón, rojo)</td>" in html
    assert html.count('<th scope="row">') == html.count('<th scope="col">') == 6
    assert "0.03 (red ball)" in asker(language="en")._html()


test_invalid_constructor_arguments_are_refused = refusals(
    ({"things": [("cat", "red", 0, 0)]}, r"things\[0\].shape: expected one of"),
    ({"things": [("ball", "pink", 0, 0)]}, r"things\[0\].colour: expected one of"),
    ({"things": [("ball", "red", 6, 0)]}, r"things\[0\].row: expected a whole number"),
    ({"things": 2 * [("ball", "red", 0, 0)]}, "things: expected each in a cell of its own"),
    ({"question": ""}, "question: expected"),
    (
        {"attention": SimpleNamespace(tokens=["a"], weights=np.ones((1, 1, 2, 6, 6)))},
        "attention.weights: expected shape",
    ),
    (
        {"attention": SimpleNamespace(tokens=["a"], weights=np.full((1, 1, 1, 6, 6), np.nan))},
        "attention.weights: expected finite",
    ),
    ({"answer": SimpleNamespace(text="x", probability=np.nan)}, "answer.probability: expected"),
    of=lambda changes: asker(**changes),
)
