"""Splits of a corpus share no sentence, and near-duplicates are those of a direct comparison."""

import itertools
import random

import pytest

from attn.corpus import Pair, hold_out, near_duplicates, tatoeba
from attn.corpus.splits import one_for_each_source
from attn.corpus.tatoeba import FOREIGN, cleaned, read


def words_of(sentence):
    return sentence.lower().rstrip(".!?").split()


def are_near(one, other):
    """Return whether two texts differ in at most one word, which may be missing in one."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) <= 1
    shorter, longer = sorted((one, other), key=len)
    if not shorter:
        return len(longer) == 0
    return any(longer[:gap] + longer[gap + 1 :] == shorter for gap in range(len(longer)))


def clusters_of(sentences):
    """Merge clusters of near-duplicates until nothing changes."""
    found = [{sentence} for sentence in sentences]
    while True:
        for one, other in itertools.combinations(found, 2):
            if any(are_near(words_of(a), words_of(b)) for a in one for b in other):
                found.remove(other)
                one |= other
                break
        else:
            return sorted(map(sorted, found))


@pytest.mark.parametrize("seed", range(20))
def test_near_duplicates_are_those_of_the_definition(seed):
    rng = random.Random(seed)
    sentences = {
        " ".join(rng.choices("abcdef", k=rng.randint(1, 5))).capitalize()
        + rng.choice([".", "!", ""])
        for _ in range(25)
    }
    found = near_duplicates(sentences)
    assert found.keys() == sentences
    by_name = {}
    for sentence, name in found.items():
        by_name.setdefault(name, []).append(sentence)
    assert sorted(map(sorted, by_name.values())) == clusters_of(sorted(sentences))
    assert all(name == min(cluster) for name, cluster in by_name.items())


def test_sentences_of_one_word_are_near_each_other_and_not_near_one_of_three_words():
    found = near_duplicates(["Go.", "Stay!", "Go on.", "Come in now."])
    assert found["Go."] == found["Stay!"] == found["Go on."] != found["Come in now."]


def test_case_punctuation_and_apostrophes_do_not_count():
    found = near_duplicates(["I'm sure you are right.", "i’m sure you ARE right!", "It is so late"])
    assert len(set(found.values())) == 2


def pairs_of(sources):
    return [Pair(source, f"{source}{n}") for source in sources for n in range(2)]


def test_held_out_pairs_share_no_source_and_do_not_depend_on_the_order():
    pairs = pairs_of(f"sentence {n}" for n in range(100))
    rest, held = hold_out(pairs, 20)
    sources = [{pair.source for pair in side} for side in (rest, held)]
    assert list(map(len, sources)) == [80, 20] and not sources[0] & sources[1]
    assert sorted(rest + held, key=pairs.index) == pairs
    again = hold_out(pairs[::-1], 20)
    assert [side[::-1] for side in again] == [rest, held]
    # The held-out sources are drawn at random and not the first, since a file may be sorted.
    assert 20 < sum(int(source.split()[1]) for source in sources[1]) / 20 < 80
    # Adding one sentence changes few of the held-out sources.
    more = {pair.source for pair in hold_out([*pairs, Pair("another", "otra")], 20)[1]}
    assert len(more & sources[1]) >= 19


def test_a_group_is_held_out_whole_and_one_too_large_not_at_all():
    pairs = pairs_of([f"a {n}" for n in range(30)] + [f"b {n}" for n in range(30)] + ["c", "d"])
    for n_sources in (2, 10):
        rest, held = hold_out(pairs, n_sources, lambda pair: pair.source[0])
        assert {pair.source for pair in held} == {"c", "d"} and len(rest) == 120


@pytest.mark.parametrize("n", [-1, 1.5])
def test_an_invalid_number_of_sources_is_refused(n):
    with pytest.raises(ValueError, match="^n_sources: expected"):
        hold_out(pairs_of("abc"), n)


def test_one_translation_of_each_source_is_kept():
    pairs = pairs_of(f"sentence {n}" for n in range(50))
    kept = one_for_each_source(pairs)
    assert [pair.source for pair in kept] == [f"sentence {n}" for n in range(50)]
    assert 10 < sum(pair.target.endswith("0") for pair in kept) < 40


# Sentences that people wrote -----------------------------------------------------------


@pytest.fixture(scope="module")
def real(needed):
    needed("tatoeba")
    return tatoeba()


@pytest.mark.slow
def test_the_parts_of_the_real_corpus_share_no_sentence(real):
    assert {name: len(pairs) for name, pairs in real.items()} == {
        "train": 115_257,
        "validation": 1000,
        "clusters": 1000,
        "plain": 1000,
    }
    sources = {name: {pair.source for pair in pairs} for name, pairs in real.items()}
    for one, other in itertools.combinations(sources.values(), 2):
        assert not one & other


@pytest.mark.slow
def test_no_sentence_of_clusters_has_a_near_duplicate_in_train_and_many_of_plain_have_one(real):
    train = [words_of(pair.source) for pair in real["train"]]

    def share(part):
        tried = [words_of(pair.source) for pair in real[part]][::50]
        return sum(any(are_near(one, other) for other in train) for one in tried) / len(tried)

    assert share("clusters") == 0
    assert share("plain") > 0.2


@pytest.mark.slow
def test_the_counts_of_pairs_left_out_of_the_real_corpus(real):
    pairs = read()
    kept, left_out = cleaned(pairs)
    assert len(pairs) == 118_964 == len(kept) + left_out.total()
    assert dict(left_out) == {"too long": 178, "another script": 1}
    assert not any(FOREIGN.search(pair.target) for pair in kept)


@pytest.mark.slow
def test_a_smaller_training_set_is_part_of_a_larger_one(real):
    few, more = tatoeba(1000)["train"], real["train"]
    assert set(few) <= set(more)
    lengths = [sum(len(p.source.split()) for p in some) / len(some) for some in (few, more)]
    # The pairs of the smaller set are not the first of the file, which are the shortest.
    assert abs(lengths[0] - lengths[1]) < 0.5


def test_words_that_differ_in_a_vowel_sign_are_two_words():
    alike, other = ["राम की किताब", "राम का किताब"], "राम के किताबें"
    found = near_duplicates([*alike, other])
    assert found[alike[0]] == found[alike[1]] and len(set(found.values())) == 2
