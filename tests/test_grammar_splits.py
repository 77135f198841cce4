"""The splits of attn_course.grammar: held-out combinations are not in training, their words are."""

import pytest

from attn_course.grammar import document_pairs, splits
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.splits import KINDS, MAX_LEN, SHARE

DRAWN = ("train", "validation", "test")
HELD_OUT = ("adjective_noun", "verb_object", "polysemes")
SIZES = {"n_train": 6000, "n_validation": 60, "n_test": 70, "n_held_out": 150}


@pytest.fixture(scope="module", params=[pytest.param("parts", marks=pytest.mark.slow)])
def parts():
    """Split the pairs once; tests that use them are slow."""
    return splits(seed=3, **SIZES)


def test_sizes_are_as_requested(parts):
    assert [len(getattr(parts, name)) for name in DRAWN] == [6000, 60, 70]
    assert [len(getattr(parts, name)) for name in (*HELD_OUT, "longer")] == [150] * 4


def test_no_sentence_is_in_two_parts_or_twice_in_one(parts):
    sources = [
        pair.source for name in (*DRAWN, *HELD_OUT, "longer") for pair in getattr(parts, name)
    ]
    assert len(set(sources)) == len(sources)


def test_held_out_combinations_are_only_in_their_own_part(parts):
    assert set(parts.held_out) == set(HELD_OUT)
    for name, combinations in parts.held_out.items():
        assert 20 <= len(combinations) <= 60
        assert {kind for kind, _, _ in combinations} == {KINDS[name]}
        for other in (*DRAWN, *HELD_OUT, "longer"):
            for pair in getattr(parts, other):
                assert bool(pair.combinations & combinations) == (other == name), pair


def test_each_word_of_a_held_out_combination_is_in_training_with_others(parts):
    met = {combination for pair in parts.train for combination in pair.combinations}
    partners = {}
    for kind, one, other in met:
        partners.setdefault((kind, one), set()).add(other)
        partners.setdefault((kind, other), set()).add(one)
        partners.setdefault(other, set()).add(one)
    for name, combinations in parts.held_out.items():
        for kind, one, other in combinations:
            assert len(partners[kind, one]) >= 3, (kind, one)
            assert len(partners[other]) >= 3
            if name != "polysemes":
                assert len(partners[kind, other]) >= 2, (kind, other)


def test_no_more_than_a_share_of_a_words_partners_is_held_out(parts):
    met = {combination for pair in parts.train for combination in pair.combinations}
    for combinations in parts.held_out.values():
        for kind, word, _ in combinations:
            kept = len({other for k, one, other in met if (k, one) == (kind, word)})
            out = len({other for k, one, other in combinations if (k, one) == (kind, word)})
            assert out <= 2 * SHARE * (kept + out), word  # training is a smaller sample


def test_the_words_of_held_out_pairs_are_in_training(parts):
    known = [
        {word for pair in parts.train for word in getattr(pair, side).split()}
        for side in ("source", "target")
    ]
    unknown = 0
    for name in HELD_OUT:
        for pair in getattr(parts, name):
            unknown += not (known[0] >= set(pair.source.split()))
    # A few inflected forms are too rare to be in training.
    assert unknown <= 5


def test_longer_means_longer_than_any_in_training(parts):
    longest = max(len(pair.source.split()) for name in DRAWN for pair in getattr(parts, name))
    assert longest == MAX_LEN == 12
    assert min(len(pair.source.split()) for pair in parts.longer) == 13
    for name in HELD_OUT:
        assert max(len(pair.source.split()) for pair in getattr(parts, name)) <= longest


def test_test_and_training_have_the_same_distribution(parts):
    def mean(pairs):
        return sum(len(pair.source.split()) for pair in pairs) / len(pairs)

    def share(pairs):
        return sum(pair.frame == "action" for pair in pairs) / len(pairs)

    both = parts.validation + parts.test
    assert abs(mean(parts.train) - mean(both)) < 0.7
    assert abs(share(parts.train) - share(both)) < 0.12


def test_combinations_of_the_documents_are_never_held_out(parts):
    said = {combination for pair in document_pairs() for combination in pair.combinations}
    for combinations in parts.held_out.values():
        assert not combinations & said


def test_held_out_polysemes_are_of_many_words(parts):
    meanings = {word for _, word, _ in parts.held_out["polysemes"]}
    assert len({word.partition(":")[0] for word in meanings}) >= 8


@pytest.mark.parametrize("n_train", [0, 8000])
def test_the_tests_do_not_depend_on_the_size_of_training(parts, n_train):
    """Otherwise, a model could be tested on pairs that it was trained on."""
    others = splits(seed=3, **SIZES | {"n_train": n_train})
    for name in ("validation", "test", *HELD_OUT, "longer"):
        assert getattr(others, name) == getattr(parts, name)
    shorter, longer = sorted((others.train, parts.train), key=len)
    assert longer[: len(shorter)] == shorter


def test_sentences_of_the_documents_are_in_no_part(parts):
    said = {pair.source for pair in document_pairs()}
    for name in (*DRAWN, *HELD_OUT, "longer"):
        assert not said & {pair.source for pair in getattr(parts, name)}


def test_held_out_pairs_of_words_have_no_polyseme(parts):
    lex = lexicon()
    polysemes = {entry.en for entry in [*lex.nouns, *lex.adjectives, *lex.verbs] if entry.polyseme}
    for name in ("adjective_noun", "verb_object"):
        for _, *words in parts.held_out[name]:
            assert not polysemes & set(words)


def test_the_seed_decides(parts):
    sizes = {"n_train": 50, "n_validation": 5, "n_test": 5, "n_held_out": 3}
    first, again = splits(0, **sizes), splits(**sizes)
    assert first == again
    assert first.held_out != parts.held_out and first.train != parts.train[:50]


@pytest.mark.slow
def test_parts_may_be_empty():
    parts = splits(n_train=0, n_validation=3, n_test=0, n_held_out=0)
    assert [len(getattr(parts, name)) for name in (*DRAWN, *HELD_OUT, "longer")] == [
        0,
        3,
        0,
        0,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("name", ["seed", *SIZES])
@pytest.mark.parametrize("value, got", [(-1, "at least 0, got -1"), (1.5, r"an integer, got 1\.5")])
def test_invalid_arguments_are_refused(name, value, got):
    with pytest.raises(ValueError, match=f"^{name}: expected {got}$"):
        splits(**{name: value})
