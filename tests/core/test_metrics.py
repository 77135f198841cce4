"""attn.metrics against published values, brute force and calculations by hand."""

import itertools
import math
import random
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import sacrebleu
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from attn.corpus import Pair
from attn.metrics import (
    align,
    alignment_error_rate,
    bleu,
    bootstrap_interval,
    chrf,
    diagonal_alignment,
    exact_match,
    ibm_model_1,
    one_word_apart,
    rouge,
    token_accuracy,
    translation_memory,
    uniform_alignment,
    wilson_interval,
)
from tests.core.helpers import refuses
from tests.core.other_device import DEVICE, OtherDevice


def test_tensors_of_any_device_are_accepted():
    weights, right = torch.tensor([[0.9, 0.1], [0.25, 0.75]]), torch.tensor([[5, 6, 0]])
    with OtherDevice():
        for x in (weights.to(DEVICE), weights.bfloat16().to(DEVICE), weights.requires_grad_()):
            assert align(x) == {(0, 0), (1, 1)}
            assert bootstrap_interval(x[0]) == bootstrap_interval(x[0].tolist())
        said = torch.tensor([[5, 7, 0]]).to(DEVICE)
        assert token_accuracy(said, right.to(DEVICE)) == 0.5
        assert exact_match(list(said), list(right.to(DEVICE))) == 0


# texts


def test_exact_match():
    assert exact_match(["a b", "a", "b", ""], ["a b", "a ", "b", ""]) == 0.75
    assert exact_match([[1, 2], [3]], [[1, 2], [3, 0]]) == 0.5
    assert exact_match(["A"], ["a"]) == 0.0
    ids = np.array([[1, 2], [3, 4]])
    assert (
        exact_match(ids, ids + [[0, 0], [0, 1]]) == exact_match([[1, 2], [3, 4]], ids[:, ::1]) / 2
    )
    assert exact_match([np.array([1]), np.array([1, 2])], [[1], [1]]) == 0.5
    for texts in (("ab", ["a", "b"]), (["a", "b"], "ab")):
        with pytest.raises(ValueError, match="^(predictions|references): expected a list, got one"):
            exact_match(*texts)


def test_token_accuracy_ignores_padding():
    targets = [[5, 6, 3, 0], [7, 3, 0, 0]]
    assert token_accuracy([[5, 9, 3, 0], [7, 3, 1, 2]], targets) == 0.8
    assert token_accuracy([[5, 9, 3, 0], [7, 3, 1, 2]], targets, pad_id=3) == 3 / 6
    assert token_accuracy(torch.tensor([0, 4]), torch.tensor([4, 4])) == 0.5
    assert type(token_accuracy(np.array(4), np.array(4))) is float


@pytest.mark.parametrize(
    "predictions, targets, message",
    [
        ([1, 2], [[1, 2]], "predictions: expected shape (1, 2) to match targets, got (2,)"),
        ([[1], [2]], [[1, 2]], "predictions: expected shape (1, 2) to match targets, got (2, 1)"),
        ([1, 2], [0, 0], "targets: expected a token other than padding, got none"),
        ([], [], "targets: expected a token other than padding, got none"),
    ],
)
def test_token_accuracy_refuses_invalid_arguments(predictions, targets, message):
    with refuses(message):
        token_accuracy(predictions, targets)


def brute_force_bleu(predictions, references):
    """Compute BLEU by its definition, for texts whose tokens are words: no zeros, no ties."""

    def n_grams(text, n):
        words = text.split()
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    log_precision = 0
    for n in range(1, 5):
        found = total = 0
        for prediction, reference in zip(predictions, references, strict=True):
            ours, theirs = n_grams(prediction, n), n_grams(reference, n)
            total += len(ours)
            found += sum(min(ours.count(gram), theirs.count(gram)) for gram in set(ours))
        log_precision += math.log(found / total) / 4
    lengths = [sum(len(text.split()) for text in texts) for texts in (predictions, references)]
    return 100 * math.exp(log_precision + min(0, 1 - lengths[1] / lengths[0]))


PREDICTIONS = ["the cat sat on the mat today", "a small red house stood by the river"]
REFERENCES = ["the cat sat on the red mat today", "a small red house stands by the river side"]


def test_bleu_equals_its_definition():
    score, signature = bleu(PREDICTIONS, REFERENCES)
    assert score == pytest.approx(brute_force_bleu(PREDICTIONS, REFERENCES))
    assert bleu(REFERENCES, PREDICTIONS).score == pytest.approx(
        brute_force_bleu(REFERENCES, PREDICTIONS)
    )
    assert (
        signature == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )


def test_bleu_is_0_without_and_100_with_full_agreement():
    assert bleu(["¿Qué tal está el niño?"], ["¿Qué tal está el niño?"]).score == pytest.approx(100)
    assert bleu(["nada de esto es así"], ["the house was red then"]).score == 0.0
    # Upper and lower case differ.
    assert bleu(["El gato come pescado"], ["el gato come pescado"]).score < 100


def test_bleu_splits_punctuation_and_counts_all_sentences_at_once():
    """By hand: 6 and 3 tokens of which all but one match, counted together and not averaged."""
    score = bleu(["a b c d e.", "f g h"], ["a b c d e.", "f g i"]).score
    precisions = (8 / 9, 6 / 7, 4 / 5, 3 / 3)
    assert score == pytest.approx(100 * math.prod(precisions) ** 0.25)


def brute_force_chrf(predictions, references):
    """Compute chrF by its definition, for texts of at least six letters, with all n-grams."""

    def n_grams(text, n):
        letters = "".join(text.split())
        return [letters[i : i + n] for i in range(len(letters) - n + 1)]

    precision = recall = 0
    for n in range(1, 7):
        found = ours = theirs = 0
        for prediction, reference in zip(predictions, references, strict=True):
            said, right = n_grams(prediction, n), n_grams(reference, n)
            found += sum(min(said.count(gram), right.count(gram)) for gram in set(said))
            ours, theirs = ours + len(said), theirs + len(right)
        precision, recall = precision + found / ours / 6, recall + found / theirs / 6
    return 100 * (1 + 2**2) * precision * recall / (2**2 * precision + recall)


def test_chrf_equals_its_definition():
    score, signature = chrf(PREDICTIONS, REFERENCES)
    other_way = chrf(REFERENCES, PREDICTIONS).score
    assert score == pytest.approx(brute_force_chrf(PREDICTIONS, REFERENCES))
    assert other_way == pytest.approx(brute_force_chrf(REFERENCES, PREDICTIONS))
    # Missing words cost more than superfluous ones.
    assert score < other_way
    assert (
        signature
        == f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{sacrebleu.__version__}"
    )


def test_chrf_is_0_without_and_100_with_full_agreement():
    assert chrf(["¿Qué tal está el niño?"], ["¿Qué talestá  el niño?"]).score == 100
    assert chrf(["nunca"], ["dijo"]).score == 0
    # Upper and lower case differ.
    assert chrf(["El gato"], ["el gato"]).score < 100


def f1(found, predicted, wanted):
    return 2 * found / (predicted + wanted)


def test_rouge_by_hand():
    """Single words, pairs and the longest common subsequence, averaged over two texts."""
    scores = rouge(
        ["el niño está aquí hoy", "the cat"], ["hoy el niño no está aquí", "a cat, the cat"]
    )
    assert list(scores) == ["rouge1", "rouge2", "rougeL"]
    assert scores["rouge1"] == pytest.approx((f1(5, 5, 6) + f1(2, 2, 4)) / 2)
    assert scores["rouge2"] == pytest.approx((f1(2, 4, 5) + f1(1, 1, 3)) / 2)
    assert scores["rougeL"] == pytest.approx((f1(4, 5, 6) + f1(2, 2, 4)) / 2)
    assert all(type(score) is float for score in scores.values())


def test_rouge_keeps_accents_and_ignores_case_and_punctuation():
    assert set(rouge(["¿Está aquí el NIÑO?"], ["está aquí, el niño"]).values()) == {1.0}
    assert rouge(["esta"], ["está"])["rouge1"] == 0.0
    assert rouge(["nin\u0303o"], ["niño"])["rouge1"] == 1.0
    # Words are not stemmed.
    assert rouge(["canta"], ["cantas"])["rouge1"] == 0.0
    # Both words are STRASSE in capitals, but differ in small letters.
    assert rouge(["Strasse"], ["Straße"])["rouge1"] == 0.0
    assert rouge([""], ["nada"])["rougeL"] == 0.0


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("की", "का", 0),
        ("कि", "कु", 0),
        ("राम की", "राम का", 0.5),
        ("हिन्दी भाषा", "हिन्दी भाषा", 1),
        ("เป้า", "เป่า", 0),
        ("el año", "el ano", 0.5),
        ("كَتَبَ", "كُتِبَ", 0),
        ("می\u200cروم", "می روم", 0),
        ("don't_2 go", "DON'T_2 stay", 2 / 3),
        ("a\u0301", "á", 1),
    ],
)
def test_combining_marks_distinguish_words(one, other, shared):
    assert rouge([one], [other])["rouge1"] == pytest.approx(shared, abs=1e-12)


@pytest.mark.parametrize("metric", [exact_match, bleu, chrf, rouge])
def test_unequal_numbers_of_texts_are_refused(metric):
    with refuses("predictions: expected 2, as many as references, got 1"):
        metric(["a"], ["a", "b"])
    with refuses("references: expected at least one, got none"):
        metric([], [])


@pytest.mark.parametrize("metric", [bleu, chrf, rouge])
def test_texts_that_are_no_lists_of_strings_are_refused(metric):
    with refuses("predictions: expected a list of texts, got one text"):
        metric("a", ["a"])
    with refuses("references: expected a list of texts, got one text"):
        metric(["a"], "a")
    with refuses("references: expected texts, got list"):
        metric(["a", "b"], ["a", ["b"]])


# alignments


def test_a_token_is_linked_to_its_largest_weight():
    weights = np.array([[0.1, 0.7, 0.2], [0.4, 0.2, 0.4]])
    # The first of equal weights wins.
    assert align(weights) == {(1, 0), (0, 1)}
    assert align(torch.tensor(weights)) == {(1, 0), (0, 1)}
    assert align(np.zeros((0, 3))) == set()
    assert all(type(i) is int for link in align(weights) for i in link)


@pytest.mark.parametrize(
    "weights, message",
    [
        (np.ones(3), "expected shape (tgt_len, src_len), src_len at least 1, got (3,)"),
        (
            np.ones((1, 2, 3)),
            "expected shape (tgt_len, src_len), src_len at least 1, got (1, 2, 3)",
        ),
        (np.ones((2, 0)), "expected shape (tgt_len, src_len), src_len at least 1, got (2, 0)"),
        ([[1, math.nan]], "expected finite numbers, got 1 NaN or infinite"),
        ([[1, None]], "expected finite numbers, got 1 NaN or infinite"),
    ],
)
def test_align_refuses_invalid_weights(weights, message):
    with refuses(f"weights: {message}"):
        align(weights)


LINKS = st.frozensets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=9)
SENTENCES = st.lists(st.tuples(LINKS, LINKS, LINKS), min_size=1, max_size=4)


@given(SENTENCES)
def test_the_error_rate_counts_links_over_all_sentences(sentences):
    """Counted link by link; if all links are sure it is one minus F1."""
    rights = total = 0
    for a, s, p in sentences:
        for link in a:
            rights += (link in s) + (link in s or link in p)
        total += len(a) + len(s)
    columns = [list(column) for column in zip(*sentences, strict=True)]
    if total == 0:
        with refuses("predicted, sure: expected at least one link, got none"):
            alignment_error_rate(*columns)
    else:
        rate = alignment_error_rate(*columns)
        assert rate == pytest.approx(1 - rights / total) and -1e-9 <= rate <= 1


def test_the_error_rate_needs_lists_of_equal_length():
    with refuses("sure: expected 2 sentences, as in predicted, got 1"):
        alignment_error_rate([{(0, 0)}] * 2, [{(0, 0)}], [set()] * 2)
    with refuses("possible: expected 1 sentences, as in predicted, got 0"):
        alignment_error_rate([{(0, 0)}], [{(0, 0)}], [])


@given(src_len=st.integers(1, 12), tgt_len=st.integers(1, 12))
def test_the_diagonal_alignment_links_the_middle_of_each_token(src_len, tgt_len):
    links = diagonal_alignment(src_len, tgt_len)
    assert sorted(i for _, i in links) == list(range(tgt_len))
    # The middle of token i lies in token j.
    for j, i in links:
        assert j / src_len <= (i + 0.5) / tgt_len + 1e-12
        assert (i + 0.5) / tgt_len < (j + 1) / src_len + 1e-12
    if src_len == tgt_len:
        assert links == {(i, i) for i in range(tgt_len)}


def test_the_diagonal_alignment_links_a_middle_between_two_tokens_to_the_later():
    assert diagonal_alignment(2, 1) == {(1, 0)}
    assert diagonal_alignment(2, 3) == {(0, 0), (1, 1), (1, 2)}


def test_the_uniform_alignment_is_uniform_and_reproducible():
    rng = np.random.default_rng(0)
    counts = np.zeros(4)
    for _ in range(500):
        links = uniform_alignment(4, 6, rng)
        assert sorted(i for _, i in links) == list(range(6))
        for j, _ in links:
            counts[j] += 1
    # Each count of 3000 draws has a standard deviation of 24.
    assert np.abs(counts - 750).max() < 75
    again = [uniform_alignment(9, 9, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]
    assert all(type(i) is int for link in again[0] for i in link)


@pytest.mark.parametrize("baseline", [diagonal_alignment, uniform_alignment])
def test_baseline_alignments_need_a_source_word(baseline):
    rest = (np.random.default_rng(0),) if baseline is uniform_alignment else ()
    with refuses("src_len: expected at least 1, got 0"):
        baseline(0, 2, *rest)
    with refuses("tgt_len: expected at least 1, got 0"):
        baseline(2, 0, *rest)
    with refuses("src_len: expected an integer, got 1.5"):
        baseline(1.5, 2, *rest)


# IBM Model 1


TOY = [
    (["la", "maison"], ["the", "house"]),
    (["la", "maison", "bleue"], ["the", "blue", "house"]),
    (["la", "fleur"], ["the", "flower"]),
]


def probability(model, source, target):
    return model.probabilities[model.source_ids[source], model.target_ids[target]]


def test_the_second_iteration_by_hand():
    """In the third sentence, "the" comes from "la" with 4/9 and from "fleur" with 1/2."""
    model = ibm_model_1(TOY, iterations=2)
    the, flower = (4 / 9) / (4 / 9 + 1 / 2), (1 / 6) / (1 / 6 + 1 / 2)
    expected = (1 - flower) / ((1 - flower) + (1 - the))
    assert probability(model, "fleur", "flower") == pytest.approx(expected)


def test_words_may_have_any_type_and_may_be_unknown():
    model = ibm_model_1([([1, 2], ["a", "b"]), ([1], ["a"])], iterations=20)
    assert model.align([2, 1], ["a", "b"]) == {(1, 0), (0, 1)}
    # The first of equal weights wins.
    assert model.align([7, 1], ["a", "z"]) == {(1, 0), (0, 1)}
    assert model.align([1], []) == set()


WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4)
CORPORA = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5)


@given(CORPORA)
def test_the_likelihood_never_falls_and_rows_sum_to_one(pairs):
    model = ibm_model_1(pairs, iterations=8)
    assert len(model.log_likelihoods) == 9
    for before, after in itertools.pairwise(model.log_likelihoods):
        assert after >= before - 1e-9
    np.testing.assert_allclose(model.probabilities.sum(axis=1), 1)
    assert (model.probabilities >= 0).all()


@given(CORPORA, st.integers(0, 3))
def test_the_likelihood_is_that_of_every_alignment(pairs, iterations):
    """Compared with the sum over all the ways in which target words can come from source words."""
    model = ibm_model_1(pairs, iterations)
    total = 0.0
    for source, target in pairs:
        ways = itertools.product(source, repeat=len(target))
        total += math.log(
            sum(
                math.prod(
                    probability(model, s, t) / len(source) for s, t in zip(way, target, strict=True)
                )
                for way in ways
            )
        )
    assert model.log_likelihoods[-1] == pytest.approx(total)


def test_without_iterations_probabilities_are_uniform():
    model = ibm_model_1(TOY, iterations=0)
    np.testing.assert_array_equal(model.probabilities, np.full((4, 4), 1 / 4))
    assert len(ibm_model_1(TOY).log_likelihoods) == 11


def test_translate_replaces_each_known_word_and_keeps_unknown_ones():
    model = ibm_model_1(TOY, iterations=100)
    assert model.translate(["fleur", "quoi", "la"]) == ["flower", "quoi", "the"]
    assert model.translate([]) == []
    # x and y occur only in the same sentence: the first of equals wins.
    assert ibm_model_1([(["a"], ["y", "x"])]).translate(["a"]) == ["y"]


@given(CORPORA)
def test_alignments_follow_the_table_of_probabilities(pairs):
    """Only pairs of words that met are stored; the full table has zeros for the others."""
    model = ibm_model_1(pairs, iterations=3)
    source, target = list(model.source_ids), list(model.target_ids)
    assert model.align(source, target) == align(model.probabilities.T)
    assert len(model.values) == len({(s, t) for ss, ts in pairs for s in ss for t in ts})


@pytest.mark.parametrize(
    "pairs, iterations, message",
    [
        ([], 1, "pairs: expected at least one, got none"),
        ([([], ["a"])], 1, "pairs: expected at least one word in every sentence, got ([], ['a'])"),
        ([(["a"], [])], 1, "pairs: expected at least one word in every sentence, got (['a'], [])"),
        ([(["a"], ["b"])], -1, "iterations: expected at least 0, got -1"),
        ([(["a"], ["b"])], 1.0, "iterations: expected an integer, got 1.0"),
    ],
)
def test_ibm_model_1_refuses_invalid_pairs(pairs, iterations, message):
    with refuses(message):
        ibm_model_1(pairs, iterations)


def test_aligning_without_source_words_is_refused():
    model = ibm_model_1(TOY)
    with pytest.raises(ValueError, match="src_len at least 1"):
        model.align([], ["the"])


# overlap and intervals


@given(*[st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=8)] * 2)
# The sentence differs in one word from the first, and is equal to the second.
@example([["a", "b"]], [["a", "c"], ["a", "b"]])
def test_one_word_apart_equals_a_comparison_with_every_sentence(sources, known):
    found = one_word_apart([" ".join(words) for words in sources], [" ".join(w) for w in known])
    expected = [
        any(len(a) == len(b) and sum(map(str.__ne__, a, b)) == 1 for b in known) for a in sources
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "n_right, n, low, high",
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_intervals_of_newcombe(n_right, n, low, high):
    """Newcombe (1998), Two-sided Confidence Intervals for the Single Proportion, Table I."""
    assert wilson_interval(n_right, n) == pytest.approx((low, high), abs=5e-5)
    assert wilson_interval(n - n_right, n) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_wilson_stays_from_zero_to_one():
    """Rounding would otherwise carry a bound past its end, as for 20 right of 20."""
    for n in range(1, 100):
        low, high = (wilson_interval(n_right, n) for n_right in (0, n))
        assert low[0] >= 0 and high[1] <= 1


def test_the_bootstrap_equals_the_enumeration_of_all_resamples():
    """Four sentences can be drawn in 256 ways, which are equally probable."""
    numerators, denominators = np.array([18, 12, 18, 1]), np.array([2, 2, 3, 2])
    drawn = np.array(list(itertools.product(range(4), repeat=4)))
    means = numerators[drawn].sum(axis=1) / denominators[drawn].sum(axis=1)
    expected = np.percentile(means, [2.5, 97.5])
    found = bootstrap_interval(numerators, denominators, n_resamples=20_000)
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert bootstrap_interval([2, 2, 2]) == (2, 2) and bootstrap_interval([5]) == (5, 5)


def test_a_resample_with_denominator_zero_is_left_out():
    """Of the four ways to draw two sentences, one draws the sentence without links twice."""
    assert bootstrap_interval([0, 3], [0, 4]) == (0.75, 0.75)
    numerators, denominators = np.array([1, 0, 2]), np.array([1, 0, 4])
    drawn = np.array(list(itertools.product(range(3), repeat=3)))
    drawn = drawn[denominators[drawn].sum(axis=1) > 0]
    means = numerators[drawn].sum(axis=1) / denominators[drawn].sum(axis=1)
    found = bootstrap_interval(numerators, denominators, n_resamples=20_000)
    np.testing.assert_allclose(found, np.percentile(means, [2.5, 97.5]), atol=0.02)


def test_the_bootstrap_is_reproducible():
    numbers = np.random.default_rng(0).random(50)
    as_ever = bootstrap_interval(numbers)
    assert as_ever == bootstrap_interval(numbers, n_resamples=2000, seed=0)
    assert as_ever != bootstrap_interval(numbers, seed=1)


def test_the_bootstrap_sums_half_precision_without_overflow():
    """The sum, 80,000, exceeds the range of half precision."""
    sixteens = np.full(5000, 16, dtype=np.float16)
    assert bootstrap_interval(sixteens, sixteens, n_resamples=2) == (1, 1)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_an_interval_of_narrow_integers_equals_that_of_python_integers(dtype):
    n = np.iinfo(dtype).max // 2
    assert wilson_interval(dtype(n // 2), dtype(n)) == wilson_interval(n // 2, n)


BOOTSTRAP, FROM_ZERO = bootstrap_interval, "denominators: expected finite numbers of at least 0"


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        (wilson_interval, (0, 0), "n: expected at least 1, got 0"),
        (wilson_interval, (3, 2), "n_right: expected at most n = 2, got 3"),
        (wilson_interval, (0.5, 2), "n_right: expected an integer, got 0.5"),
        (BOOTSTRAP, ([],), "numerators: expected one number for each of some sentences, got (0,)"),
        (
            BOOTSTRAP,
            ([1, 2], [1]),
            "denominators: expected shape (2,) to match numerators, got (1,)",
        ),
        (BOOTSTRAP, ([1, math.nan],), "numerators: expected finite numbers, got 1 NaN or infinite"),
        (BOOTSTRAP, ([1, 2], [-1, 1]), f"{FROM_ZERO}, got [-1.0, 1.0]"),
        (BOOTSTRAP, ([1, 2], [1, math.inf]), f"{FROM_ZERO}, got [1.0, inf]"),
        (BOOTSTRAP, ([1, 2], [0, 0]), "denominators: expected a number above 0, got [0.0, 0.0]"),
        (partial(BOOTSTRAP, n_resamples=0), ([1],), "n_resamples: expected at least 1, got 0"),
        (partial(BOOTSTRAP, seed=-1), ([1],), "seed: expected at least 0, got -1"),
    ],
)
def test_intervals_refuse_invalid_arguments(function, arguments, message):
    with refuses(message):
        function(*arguments)


def test_metrics_do_not_load_torch():
    code = "import sys, attn.metrics as m; m.bleu(['a'], ['a']); m.chrf(['a'], ['a']); m.rouge(['a'], ['a'])"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The most similar sentence


@pytest.mark.parametrize("seed", range(5))
def test_the_memory_equals_a_comparison_with_every_sentence(seed):
    rng = random.Random(seed)

    def sentence():
        return " ".join(rng.choices("abcdefg", k=rng.randint(1, 6)))

    known = [Pair(sentence(), str(number)) for number in range(30)]
    asked = [sentence() for _ in range(20)] + ["x y"]
    targets, similarity = translation_memory(known, asked)
    for source, target, found in zip(asked, targets, similarity, strict=True):
        words = set(source.split())
        sources = [set(pair.source.split()) for pair in known]
        ratios = [len(words & other) / len(words | other) for other in sources]
        assert found == max(ratios)
        assert target == str(ratios.index(max(ratios)))
    assert targets[-1] == "0" and similarity[-1] == 0
    with refuses("pairs: expected at least one pair of sentences, got none"):
        translation_memory([], ["a"])
