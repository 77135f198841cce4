"""attn.applications.visual_question: images and answers by brute force, and training."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import attn.applications.visual_question.answerer as answerer_module
from attn.applications.visual_question import VisualQuestionAnswerer
from attn.applications.visual_question.answerer import TRAINING
from attn.applications.visual_question.model import (
    PatchEmbedding,
    VisualQuestionModel,
    answer_loss,
    collate,
)
from attn.masks import padding_mask
from attn.tokenizer import WordTokenizer
from attn.transformer import TransformerConfig
from attn_course.images import Example, Question, Thing, draw, make_examples
from attn_course.images.examples import HELD_OUT
from attn_course.images.questions import KINDS
from attn_course.images.scenes import COLOURS, GROUND, SHAPES
from attn_course.images.words import FEMININE, MASCULINE, WORDS, agree
from tests.core.helpers import refuses

SCENE = (
    Thing("ball", "red", 0, 0),
    Thing("box", "green", 2, 3),
    Thing("box", "red", 3, 2),
    Thing("star", "yellow", 5, 5),
    Thing("tree", "purple", 5, 1),
)
SMALL = {"d_model": 32, "n_heads": 2, "d_ff": 32}
LANGUAGES = pytest.mark.parametrize("language", ["es", "en"])


# images


def test_a_thing_is_drawn_in_its_patch_and_nowhere_else():
    rng = np.random.default_rng(0)
    for row, column in [(0, 0), (2, 5), (5, 1), (5, 5)]:
        image = draw([Thing("box", "blue", row, column)], rng)
        assert image.shape == (48, 48, 3) and image.dtype == np.uint8
        changed = np.abs(image - np.array(GROUND)).max(axis=-1) > 60
        rows, columns = changed.nonzero()
        assert {*(rows // 8)} == {row} and {*(columns // 8)} == {column}
        assert changed.sum() > 40


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("shape", SHAPES)
def test_most_of_a_thing_has_its_colour(shape, colour):
    image = draw([Thing(shape, colour, 1, 1)], np.random.default_rng(1))
    patch = image[8:16, 8:16].reshape(-1, 3).astype(float)
    of_thing = patch[np.abs(patch - GROUND).max(axis=-1) > 50]
    middle = np.median(of_thing, axis=0)
    nearest = min(COLOURS, key=lambda name: np.abs(middle - COLOURS[name]).sum())
    assert nearest == colour and 15 <= len(of_thing) <= 49


def test_shapes_are_seven_by_seven_and_differ_in_outline():
    outlines = set()
    for art in SHAPES.values():
        rows = art.split()
        assert len(rows) == 7 and {len(row) for row in rows} == {7}
        assert set("".join(rows)) <= set("#+-.") and "#" in art
        outlines.add(re.sub("[+-]", "#", art))
    assert len(outlines) == 4


def test_images_vary_in_place_colour_and_noise():
    rng = np.random.default_rng(2)
    images = np.stack([draw([Thing("box", "red", 0, 0)], rng) for _ in range(60)]).astype(float)
    empty = images[:, 8:]
    assert empty.std() == pytest.approx(np.hypot(8, np.std(GROUND)), rel=0.05)
    corners = {
        (tuple(np.argwhere(np.abs(image - GROUND).max(axis=-1) > 60).min(axis=0)))
        for image in images
    }
    assert corners == {(0, 0), (0, 1), (1, 0), (1, 1)}
    # The mean over 4 pixels has half the noise.
    inside = images[:, 4:6, 1:3].mean(axis=(1, 2))
    assert 6 < inside.std(axis=0).mean() < 12


def test_an_image_depends_on_the_generator_alone():
    first, again = (draw(SCENE, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, draw(SCENE, np.random.default_rng(4)))


# questions


ASKED = [
    (Question("colour", "ball"), "¿De qué color es el balón? rojo", "What colour is the ball? red"),
    (
        Question("colour", "star"),
        "¿De qué color es la estrella? amarilla",
        "What colour is the star? yellow",
    ),
    (Question("count", "box"), "¿Cuántas cajas hay? dos", "How many boxes are there? two"),
    (Question("count", "tree"), "¿Cuántos árboles hay? uno", "How many trees are there? one"),
    (
        Question("where", "star"),
        "¿Dónde está la estrella? abajo a la derecha",
        "Where is the star? bottom right",
    ),
    (
        Question("where", "tree"),
        "¿Dónde está el árbol? abajo a la izquierda",
        "Where is the tree? bottom left",
    ),
    (Question("exists", "box", "red"), "¿Hay una caja roja? sí", "Is there a red box? yes"),
    (Question("exists", "ball", "green"), "¿Hay un balón verde? no", "Is there a green ball? no"),
    (
        Question("left", "ball", other="star"),
        "¿Está el balón a la izquierda de la estrella? sí",
        "Is the ball to the left of the star? yes",
    ),
    (
        Question("left", "star", other="tree"),
        "¿Está la estrella a la izquierda del árbol? no",
        "Is the star to the left of the tree? no",
    ),
]


@pytest.mark.parametrize("question, spanish, english", ASKED)
def test_questions_and_answers_in_both_languages(question, spanish, english):
    for language, said in (("es", spanish), ("en", english)):
        assert f"{question.words(language)} {question.answer(SCENE, language)}" == said


def test_one_and_none_agree_with_the_gender_of_the_noun():
    boxes = [Thing("box", "red", 0, i) for i in range(4)]
    trees = [Thing("tree", "red", 0, i) for i in range(4)]
    count_boxes, count_trees = Question("count", "box"), Question("count", "tree")
    spanish = [count_boxes.answer(boxes[:n], "es") for n in range(5)]
    assert spanish == ["ninguna", "una", "dos", "tres", "cuatro"]
    spanish = [count_trees.answer(trees[:n], "es") for n in range(3)]
    assert spanish == ["ninguno", "uno", "dos"]
    english = [count_boxes.answer(boxes[:n], "en") for n in range(5)]
    assert english == ["none", "one", "two", "three", "four"]


def test_both_lexicons_name_the_same_things():
    for name in ("nouns", "colours", "questions", "places", "truth"):
        assert WORDS["es"][name].keys() == WORDS["en"][name].keys(), name
    assert WORDS["es"]["nouns"].keys() == SHAPES.keys()
    assert WORDS["es"]["colours"].keys() == COLOURS.keys()
    assert tuple(WORDS["es"]["questions"]) == KINDS
    assert len(WORDS["es"]["numbers"]) == len(WORDS["en"]["numbers"]) == 5


def test_agreement_takes_one_form_of_each_pair():
    text = "el/la que/cual está rojo/roja, azul"
    assert agree(text, MASCULINE) == "el que está rojo, azul"
    assert agree(text, FEMININE) == "la cual está roja, azul"


# examples


def truth(example):
    """Answer in English from the words of the question and the list of things."""
    words = re.findall(r"\w+", example.question.lower())
    shape = {"ball": "ball", "balls": "ball", "box": "box", "boxes": "box", "star": "star"} | {
        "stars": "star",
        "tree": "tree",
        "trees": "tree",
    }
    shapes = [shape[word] for word in words if word in shape]
    found = [thing for thing in example.things if thing.shape in shapes]
    if words[0] == "what":
        (thing,) = found
        return thing.colour, found
    if words[0] == "how":
        return ("none", "one", "two", "three", "four")[len(found)], found
    if words[0] == "where":
        (thing,) = found
        vertical = "bottom" if thing.row >= 3 else "top"
        return f"{vertical} {'right' if thing.column >= 3 else 'left'}", found
    if words[1] == "there":
        found = [thing for thing in found if thing.colour in words]
        return "yes" if found else "no", found
    one, other = sorted(found, key=lambda thing: thing.shape != shapes[0])
    assert one.column != other.column and shapes[0] != shapes[1]
    return "yes" if one.column < other.column else "no", found


@given(seed=st.integers(0, 10**6), held_out=st.booleans())
def test_answers_and_patches_are_right(seed, held_out):
    for example in make_examples(10, "en", seed, held_out=held_out):
        answer, asked = truth(example)
        assert example.answer == answer
        grid = np.zeros((6, 6), dtype=bool)
        for thing in asked:
            grid[thing.row, thing.column] = True
        assert np.array_equal(example.asked, grid)
        places = {(thing.row, thing.column) for thing in example.things}
        assert len(places) == len(example.things) >= 1


def test_the_image_shows_the_things_where_they_are():
    for example in make_examples(100, "es", seed=5):
        patches = example.image.reshape(6, 8, 6, 8, 3).swapaxes(1, 2).astype(float)
        filled = (np.abs(patches - GROUND).max(axis=-1) > 60).sum(axis=(-1, -2)) > 8
        places = {(thing.row, thing.column) for thing in example.things}
        assert {tuple(place) for place in np.argwhere(filled).tolist()} == places


@pytest.mark.slow
def test_held_out_pairs_are_in_no_training_image_or_question():
    examples = make_examples(2000, "en")
    seen = {(thing.shape, thing.colour) for example in examples for thing in example.things}
    assert seen == {(s, c) for s in SHAPES for c in COLOURS} - set(HELD_OUT)
    for shape, colour in HELD_OUT:
        assert f"Is there a {colour} {shape}?" not in {example.question for example in examples}
    # Each shape and each colour loses at most one pair, so both occur in other pairs.
    assert len({shape for shape, _ in HELD_OUT}) == len({colour for _, colour in HELD_OUT}) == 4


@pytest.mark.slow
def test_held_out_examples_ask_about_held_out_pairs_only():
    examples = make_examples(1000, "en", held_out=True)
    for example in examples:
        _, asked = truth(example)
        pairs = {(thing.shape, thing.colour) for thing in asked}
        if example.kind == "left":
            assert len(pairs & set(HELD_OUT)) == 1
        else:
            assert pairs <= set(HELD_OUT)
        if example.kind == "exists":
            *_, colour, shape = re.findall(r"\w+", example.question)
            assert (shape, colour) in HELD_OUT
    shown = {
        (t.shape, t.colour) for e in examples for t in e.things if not e.asked[t.row, t.column]
    }
    assert not shown & set(HELD_OUT)


@pytest.mark.slow
@LANGUAGES
def test_kinds_and_answers_are_balanced(language):
    examples = make_examples(2000, language, seed=6)
    by_kind = {kind: [e.answer for e in examples if e.kind == kind] for kind in KINDS}
    assert [e.kind for e in examples[:7]] == [*KINDS, *KINDS[:2]]
    assert {len(answers) for answers in by_kind.values()} == {400}
    lexicon = WORDS[language]
    yes = lexicon["truth"][True]
    for kind in ("exists", "left"):
        assert 0.44 < np.mean([answer == yes for answer in by_kind[kind]]) < 0.56
    for place in lexicon["places"].values():
        assert 0.2 < np.mean([answer == place for answer in by_kind["where"]]) < 0.3
    for forms in lexicon["numbers"]:
        share = np.mean([answer in forms.split("/") for answer in by_kind["count"]])
        assert 0.16 < share < 0.24
    for forms in lexicon["colours"].values():
        share = np.mean([answer in forms.split("/") for answer in by_kind["colour"]])
        assert 0.13 < share < 0.32


@pytest.mark.slow
def test_a_matching_shape_or_colour_alone_does_not_predict_the_answer():
    examples = make_examples(1500, "en", seed=7, kinds=["exists"])
    counts = {"yes": [], "no": []}
    for example in examples:
        *_, colour, shape = re.findall(r"\w+", example.question)
        others = [t for t in example.things if (t.shape, t.colour) != (shape, colour)]
        counts[example.answer].append(
            (
                any(t.shape == shape for t in others),
                any(t.colour == colour for t in others),
                len(others),
            )
        )
    yes, no = (np.mean(counts[answer], axis=0) for answer in ("yes", "no"))
    assert np.abs(yes - no).max() < 0.1 and yes[:2].min() > 0.5


def test_images_are_the_same_in_both_languages_and_for_one_seed():
    for one, other in zip(make_examples(20, "es", 8), make_examples(20, "en", 8), strict=True):
        assert np.array_equal(one.image, other.image) and one.things == other.things
        assert one.question != other.question
    different = zip(make_examples(20, "es", 8), make_examples(20, "es", 9), strict=True)
    assert not any(np.array_equal(a.image, b.image) for a, b in different)
    assert [e.things for e in make_examples(5, "es")] == [
        e.things for e in make_examples(5, "es", 0)
    ]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((1, "fr"), "language: expected 'es' or 'en', got 'fr'"),
        ((-1, "es"), "n_examples: expected at least 0, got -1"),
        ((1.5, "es"), "n_examples: expected an integer, got 1.5"),
        ((1, "es", -1), "seed: expected at least 0, got -1"),
    ],
)
def test_make_examples_refuses_invalid_arguments(arguments, message):
    with refuses(message):
        make_examples(*arguments)


@pytest.mark.parametrize("kinds", ["where", [], ()])
def test_kinds_that_are_no_sequence_are_refused(kinds):
    message = f"kinds: expected a sequence of {', '.join(KINDS)}, got {kinds!r}"
    with refuses(message):
        make_examples(1, "en", kinds=kinds)
    with pytest.raises(ValueError, match="^kinds: expected 'colour' or .*, got 'why'$"):
        make_examples(1, "en", kinds=["where", "why"])


def test_kinds_take_turns_and_zero_examples_are_allowed():
    examples = make_examples(5, "en", kinds=("left", "count"))
    assert [example.kind for example in examples] == ["left", "count", "left", "count", "left"]
    assert make_examples(0, "es") == []


def test_questions_refuse_an_unknown_language():
    question = Question("where", "star")
    for ask in (question.words, lambda language: question.answer(SCENE, language)):
        with pytest.raises(ValueError, match="^language: expected 'es' or 'en', got 'fr'$"):
            ask("fr")


# the model


def config(**changes):
    sizes = {"vocab_size": 30, "tgt_vocab_size": 9, "n_layers": 2, "dropout": 0.0, **SMALL}
    return TransformerConfig(**sizes | changes)


def images(n, seed=0):
    return torch.from_numpy(np.stack([e.image for e in make_examples(n, "es", seed)]))


def test_patches_are_cut_row_by_row_and_embedded_independently():
    torch.manual_seed(0)
    embedding = PatchEmbedding(config())
    image = images(1)[0]
    for row, column in [(0, 0), (2, 5), (4, 1)]:
        changed = image.clone()
        changed[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] += 9
        moved = (embedding(changed) - embedding(image)).abs().sum(dim=-1).nonzero().flatten()
        assert moved.tolist() == [6 * row + column]


def test_patches_have_positions_of_row_and_column():
    places = PatchEmbedding(config()).places.reshape(6, 6, 32)
    angles = np.arange(6)[:, None] / 100 ** (np.arange(8) / 8)
    waves = np.stack((np.sin(angles), np.cos(angles)), axis=-1).reshape(6, 16)
    for i in range(6):
        np.testing.assert_allclose(places[i, :, :16], np.tile(waves[i], (6, 1)), atol=1e-6)
        np.testing.assert_allclose(places[:, i, 16:], np.tile(waves[i], (6, 1)), atol=1e-6)


def test_the_ground_colour_is_subtracted_from_an_image():
    torch.manual_seed(0)
    embedding = PatchEmbedding(config())
    ground = torch.tensor(GROUND, dtype=torch.uint8).expand(48, 48, 3)
    bright = ground.clone()
    bright[0, 0, 0] -= 64
    x = embedding.linear.bias + embedding.places
    bumped = x.clone()
    bumped[0] -= embedding.linear.weight[:, 0]
    for image, vectors in ((ground, x), (bright, bumped)):
        expected = embedding.norm_2(vectors + embedding.feed_forward(embedding.norm_1(vectors)))
        torch.testing.assert_close(embedding(image), expected)


def test_words_attend_to_later_words_and_padding_changes_nothing():
    torch.manual_seed(0)
    model = VisualQuestionModel(config()).eval()
    image, ids = images(2), torch.tensor([[2, 5, 6, 7, 8], [2, 9, 4, 0, 0]])
    logits, weights = model(image, ids, padding_mask([5, 3], 5))
    assert weights is None and logits.shape == (2, 9)
    torch.testing.assert_close(model(image[1], ids[1, :3])[0], logits[1])
    other = ids.clone()
    # The answer is read at the first token, to which the last word contributes.
    other[0, 4] = 10
    assert (model(image, other, padding_mask([5, 3], 5))[0] - logits)[0].abs().max() > 1e-4


def test_the_answer_is_read_at_the_first_token():
    torch.manual_seed(0)
    model = VisualQuestionModel(config()).eval()
    image, ids = images(1)[0], torch.tensor([2, 5, 6])
    x, _ = model.decoder(model.embedding(ids), model.patches(image), is_causal=False)
    torch.testing.assert_close(model(image, ids)[0], model.output(x[0]))


def test_the_model_returns_all_weights_on_request():
    torch.manual_seed(0)
    model = VisualQuestionModel(config(n_layers=3)).eval()
    image, ids = images(2), torch.tensor([[2, 5, 6], [2, 9, 4]])
    logits, (own, cross) = model(image, ids, need_weights=True)
    assert [w.shape for w in own] == [(2, 2, 3, 3)] * 3
    assert [w.shape for w in cross] == [(2, 2, 3, 36)] * 3
    torch.testing.assert_close(logits, model(image, ids)[0])


def test_the_loss_equals_that_of_each_question_without_padding():
    torch.manual_seed(0)
    model = VisualQuestionModel(config()).eval()
    questions, answers = [[2, 5, 6, 7, 8], [2, 9], [2, 5, 9, 4]], [1, 0, 8]
    shown = [image.numpy() for image in images(3)]
    batch = collate(list(zip(shown, questions, answers, strict=True)))
    alone = []
    for image, ids, answer in zip(batch[0], questions, answers, strict=True):
        logits, _ = model(image, torch.tensor(ids))
        alone.append(torch.nn.functional.cross_entropy(logits, torch.tensor(answer)))
    total, count = answer_loss(model, batch)
    torch.testing.assert_close(total, sum(alone))
    assert count == 3 and answer_loss(model, batch, label_smoothing=0.5)[0] != total


def test_the_model_refuses_images_of_another_size():
    model = VisualQuestionModel(config())
    message = "image: expected shape (..., 48, 48, 3), got (48, 48)"
    with refuses(message):
        model(torch.zeros(48, 48, dtype=torch.uint8), torch.tensor([2]))


# the application

QUICK = replace(TRAINING, steps=300, batch_size=32, learning_rate=3e-3, warmup_steps=50)


@pytest.fixture(scope="module", params=[pytest.param("answerer", marks=pytest.mark.slow)])
def answerer():
    """Train once; the mark makes every test that uses this fixture slow."""
    examples = make_examples(2000, "es", kinds=("colour", "exists"))
    return VisualQuestionAnswerer.fit(examples, sizes=SMALL, training=QUICK)


@pytest.fixture(scope="module")
def spanish():
    """An answerer in Spanish of the same kinds of question, trained for a single step."""
    examples = make_examples(200, "es", kinds=("colour", "exists"))
    return VisualQuestionAnswerer.fit(examples, sizes=SMALL, training=replace(QUICK, steps=1))


@pytest.fixture(scope="module")
def unseen():
    return make_examples(300, "es", seed=1, kinds=("colour", "exists"))


@pytest.fixture(scope="module")
def untrained():
    training = replace(QUICK, steps=1)
    return VisualQuestionAnswerer.fit(make_examples(300, "en"), sizes=SMALL, training=training)


def test_it_learns_the_colours_of_things(answerer, unseen):
    scores = answerer.evaluate(unseen)
    assert scores["colour"] > 0.9 and scores["mass"] > 2 * scores["chance"]
    assert scores["argmax"] > 0.5
    right = [answerer.answer(e.image, e.question).text == e.answer for e in unseen]
    assert scores["accuracy"] == pytest.approx(np.mean(right))
    assert list(scores) == ["accuracy", "colour", "exists", "mass", "argmax", "chance"]
    assert all(type(score) is float for score in scores.values())


def test_scores_equal_the_means_computed_in_a_loop(untrained, monkeypatch):
    monkeypatch.setattr(answerer_module, "EXAMPLES_AT_A_TIME", 32)
    examples = make_examples(80, "en", seed=3)
    scores, right, masses, hits, chances = untrained.evaluate(examples), {}, [], [], []
    for example in examples:
        text, _ = untrained.answer(example.image, example.question)
        right.setdefault(example.kind, []).append(text == example.answer)
        if example.asked.any():
            first = untrained.attention(example.image, example.question).weights[:, :, 0]
            mean = first.mean(axis=(0, 1))
            masses.append(mean[example.asked].sum())
            hits.append(example.asked[np.unravel_index(mean.argmax(), (6, 6))])
            chances.append(example.asked.sum() / 36)
    for kind in KINDS:
        assert scores[kind] == pytest.approx(np.mean(right[kind]))
    assert scores["accuracy"] == pytest.approx(np.mean([r for rs in right.values() for r in rs]))
    for name, values in {"mass": masses, "argmax": hits, "chance": chances}.items():
        assert scores[name] == pytest.approx(np.mean(values), abs=1e-5), name


def test_questions_about_absent_things_have_no_attention_score(spanish, unseen):
    nothing = [e for e in unseen if not e.asked.any()]
    assert list(spanish.evaluate(nothing)) == ["accuracy", "exists"]


def test_an_answer_has_the_probability_of_the_softmax(untrained):
    example = make_examples(1, "en", seed=2)[0]
    answer = untrained.answer(example.image, example.question)
    ids = torch.tensor(untrained.tokenizer.encode(example.question, sos=True))
    with torch.no_grad():
        logits, _ = untrained.model(torch.from_numpy(example.image), ids)
    exponentials = np.exp(logits.double().numpy())
    best = exponentials.argmax()
    assert answer.text == untrained.answers[best]
    assert type(answer.probability) is float
    assert answer.probability == pytest.approx(exponentials[best] / exponentials.sum())


def test_attention_is_a_map_for_each_layer_head_and_token(spanish, unseen):
    example = unseen[0]
    attention = spanish.attention(example.image, "¿De qué color es el balón?")
    tokens = ["<sos>", "¿", "de", "qué", "color", "es", "el", "balón", "?"]
    assert attention.tokens == tokens
    assert attention.weights.shape == (2, 2, 9, 6, 6)
    np.testing.assert_allclose(attention.weights.sum(axis=(-1, -2)), 1, atol=1e-5)
    ids = torch.tensor(spanish.tokenizer.encode("¿de qué color es el balón?", sos=True))
    with torch.no_grad():
        _, (_, cross) = spanish.model(torch.from_numpy(example.image), ids, need_weights=True)
    for layer in range(2):
        flat = attention.weights[layer].reshape(2, 9, 36)
        np.testing.assert_allclose(flat, cross[layer].numpy(), atol=1e-6)


def test_the_seed_determines_the_weights_it_begins_with():
    training = replace(QUICK, steps=1, learning_rate=1e-12, seed=5)
    learnt = VisualQuestionAnswerer.fit(make_examples(20, "es"), sizes=SMALL, training=training)
    torch.manual_seed(5)
    fresh = VisualQuestionModel(learnt.model.config)
    for found, expected in zip(learnt.model.parameters(), fresh.parameters(), strict=True):
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


def test_words_and_answers_are_those_of_the_examples():
    examples = make_examples(40, "es")
    learnt = VisualQuestionAnswerer.fit(
        examples, sizes={**SMALL, "n_layers": 1}, training=replace(QUICK, steps=1)
    )
    assert learnt.answers == sorted({example.answer for example in examples})
    assert learnt.tokenizer == WordTokenizer.train(example.question for example in examples)
    assert learnt.model.config == TransformerConfig(
        vocab_size=learnt.tokenizer.vocab_size,
        tgt_vocab_size=len(learnt.answers),
        d_model=32,
        n_heads=2,
        n_layers=1,
        d_ff=32,
        dropout=0.0,
        norm="pre",
    )


# refusals


IMAGE = draw(SCENE, np.random.default_rng(0))


@pytest.mark.parametrize(
    "image, question, message",
    [
        (IMAGE, "", "question: expected a question, got ''"),
        (IMAGE, "  ", "question: expected a question, got '  '"),
        (IMAGE, 5, "question: expected a string, got int"),
        (
            IMAGE,
            "Where is the Dog and a cat?",
            "question: expected words of the questions in training, got dog, and, cat",
        ),
        (IMAGE.astype(float), "Where?", "image: expected an array of uint8, got float64"),
        ([[0]], "Where?", "image: expected an array of uint8, got list"),
        (torch.from_numpy(IMAGE), "Where?", "image: expected an array of uint8, got torch.uint8"),
        (IMAGE[:40], "Where?", "image: expected shape (48, 48, 3), got (40, 48, 3)"),
        (IMAGE[None], "Where?", "image: expected shape (48, 48, 3), got (1, 48, 48, 3)"),
    ],
)
def test_invalid_images_and_questions_are_refused(untrained, image, question, message):
    for ask in (untrained.answer, untrained.attention):
        with refuses(message):
            ask(image, question)


def test_evaluation_refuses_unknown_words(untrained):
    example = make_examples(1, "es")[0]
    assert isinstance(example, Example)
    with pytest.raises(ValueError, match="^question: expected words of the .*, got ¿, de, qué,"):
        untrained.evaluate([example])


# on disk


def test_parts_that_do_not_match_are_not_loaded(spanish, untrained, tmp_path):
    folder, other = tmp_path / "vqa", tmp_path / "other"
    spanish.save(other)
    message = f"folder: expected a model with the words and answers it learned, got {folder}"
    untrained.save(folder)
    (folder / "questions.json").write_bytes((other / "questions.json").read_bytes())
    with refuses(message):
        VisualQuestionAnswerer.load(folder)


def test_the_one_that_comes_with_the_course_knows_both_languages():
    answerer = VisualQuestionAnswerer.pretrained()
    empty = torch.tensor(GROUND, dtype=torch.uint8).expand(48, 48, 3).numpy()
    asked = ("Is there a ball?", "¿Hay un balón?")
    assert [answerer.answer(empty, question).text for question in asked] == ["no", "no"]


def test_a_model_without_a_number_of_answers_is_refused():
    with pytest.raises(ValueError, match="tgt_vocab_size: expected the number of answers"):
        VisualQuestionModel(TransformerConfig(vocab_size=20, d_model=8, n_heads=2))
