"""A training set without neighbours of the tests, compared with every sentence, one by one."""

import re
from collections import Counter

import pytest

from attn_course.grammar import splits, template, without_neighbours
from attn_course.grammar.template_splits import AT_MOST, TESTS

SIZES = {"n_train": 5000, "n_validation": 30, "n_test": 120, "n_held_out": 40}


@pytest.fixture(scope="module", params=[pytest.param("apart", marks=pytest.mark.slow)])
def apart():
    """Split the pairs once; tests that use them are slow."""
    return without_neighbours(splits(seed=3, **SIZES), n_train=4000, n_templates=90)


def distance(one, other):
    """Return in how many places two sentences differ; None if their lengths differ."""
    one, other = one.split(), other.split()
    return sum(map(str.__ne__, one, other)) if len(one) == len(other) else None


def test_every_test_sentence_differs_from_training_in_two_words(apart):
    sources = [pair.source for pair in apart.train]
    for name in (*TESTS, "templates"):
        for pair in getattr(apart, name):
            assert all(distance(pair.source, source) not in (0, 1) for source in sources), pair


def test_the_tests_are_unchanged_and_training_keeps_its_order(apart):
    parts = splits(seed=3, **SIZES)
    near = [
        pair
        for pair in parts.train
        if any(distance(pair.source, asked.source) == 1 for asked in parts.test)
    ]
    assert len(near) > 20 and not set(near) & set(apart.train)
    for name in ("validation", *TESTS):
        assert getattr(apart, name) == getattr(parts, name)
    places = {pair.source: place for place, pair in enumerate(parts.train)}
    order = [places[pair.source] for pair in apart.train]
    assert order == sorted(order) and len(order) == 4000


def test_test_templates_are_not_in_training(apart):
    found = Counter(template(pair.source) for pair in apart.templates)
    assert found.keys() <= apart.missing and max(found.values()) == AT_MOST
    assert found.total() == 90 and len(found) > 15
    assert not apart.missing & {template(pair.source) for pair in apart.train}


def test_words_of_the_new_templates_are_known(apart):
    known = {word for pair in apart.train for word in pair.source.split()}
    unknown = [
        word for pair in apart.templates for word in pair.source.split() if word not in known
    ]
    assert len(unknown) <= 2  # an inflected form may be too rare to be in training


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("the cat sleeps", "many dogs slept", True),
        ("he was very tired", "they are too old", True),
        ("tom sleeps", "the cat sleeps", False),
        ("the red house", "the house", False),
        ("the cat slept because it was tired", "the cat slept when it was tired", False),
    ],
)
def test_a_template_abstracts_from_words_but_not_from_their_order(one, other, same):
    assert (template(one) == template(other)) is same


def test_too_few_pairs_are_refused():
    parts = splits(n_train=60, n_validation=1, n_test=1, n_held_out=1)
    for sizes, said in (
        ({"n_train": 61, "n_templates": 0}, "training for 61 pairs of train, got "),
        ({"n_train": 1, "n_templates": 60}, "training for 60 pairs of templates, got "),
    ):
        with pytest.raises(ValueError, match=rf"^parts: expected {re.escape(said)}\d+$"):
            without_neighbours(parts, **sizes)
    for name in ("n_train", "n_templates", "seed"):
        with pytest.raises(ValueError, match=f"^{name}: expected at least 0, got -1$"):
            without_neighbours(parts, **{name: -1})
