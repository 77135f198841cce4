"""What `check` says of a wrong answer without a known mistake: what is wrong, where and why."""

import dataclasses
import re

import numpy as np
import pytest
import torch

import attn_course
from attn import reference
from attn.reference import scaled_dot_product_attention, smoothed_cross_entropy, softmax
from attn_course.exercises import check, exercises, repaired
from attn_course.exercises.catalogue import load
from attn_course.exercises.check import verdict
from attn_course.exercises.record import record_of
from tests.attempts import ch01, ch08, ch11
from tests.exercise_proofs import bare_text, say
from tests.wrong_attempts import attention_with_naive_softmax, attention_with_nan

ATTENTION = "scaled_dot_product_attention"
EXERCISES = {name: load(name) for ids in exercises().values() for name in ids}
SELF = "self_attention"
SOFTMAX = "softmax"


@pytest.mark.parametrize(
    "exercise_id, attempt, es, en",
    [
        (SOFTMAX, lambda s: "weights", "devuelve `str`; debe devolver un arreglo", "an array"),
        (SOFTMAX, lambda s: s.astype(object), "devuelve `ndarray[object]`", "`ndarray[object]`"),
        (SOFTMAX, lambda s: softmax(s) + 0j, "`ndarray[complex128]`", "`ndarray[complex128]`"),
        (SOFTMAX, lambda s: [[1.0], [1.0, 2.0]], "devuelve `list`", "returns `list`"),
        (SOFTMAX, lambda s: (softmax(s), None), "devuelve `tuple`", "returns `tuple`"),
        (
            SOFTMAX,
            lambda s: softmax(s).astype(int),
            "tiene dtype `int64`; debe ser `float64`",
            "has dtype `int64`; it should be `float64`",
        ),
        (
            SOFTMAX,
            lambda s: softmax(s)[..., None],
            "tiene forma `(3, 1)`; debe ser `(3,)`",
            "has shape `(3, 1)`; it should be `(3,)`",
        ),
        (
            ATTENTION,
            lambda q, k, v, m=None: (q, k, v),
            "debe devolver la tupla `(output, weights)`",
            "it should return the tuple `(output, weights)`",
        ),
        (
            ATTENTION,
            lambda q, k, v, m=None: (scaled_dot_product_attention(q, k, v, m)[0], None),
            "devuelve `(ndarray[float64], None)`",
            "returns `(ndarray[float64], None)`",
        ),
        (ATTENTION, lambda q, k, v, m=None: {"output": q}, "devuelve `dict`", "returns `dict`"),
    ],
)
def test_answers_of_the_wrong_type_or_shape_are_described(exercise_id, attempt, es, en, language):
    result = check(exercise_id, attempt)
    assert result.status == "failed" and result.misconception is None
    assert say(language, es, en) in result.message


def mask_of(change, dtype=float):
    return lambda lengths, n: change(np.arange(n) < lengths[:, None, None]).astype(dtype)


@pytest.mark.parametrize(
    "attempt, es, en",
    [
        (mask_of(lambda real: real, int), "`.astype(bool)`", "convert it with `.astype(bool)`"),
        (mask_of(lambda real: real - 1.0), "`mask == 0`", "as in `mask == 0`"),
        (mask_of(lambda real: np.where(real, 1, -np.inf)), "`mask == 1`", "as in `mask == 1`"),
        (mask_of(lambda real: ~real, int), "compara con `<`", "compare with `<`"),
        (mask_of(lambda real: np.where(real, 0, -np.inf)), "la comparación", "the comparison"),
    ],
)
def test_advice_on_a_numeric_mask_never_inverts_it(attempt, es, en, language):
    result = check("padding_mask", attempt)
    assert result.status == "failed" and say(language, es, en) in result.message
    advised = "convert it with `.astype(bool)`", "conviértelo con `.astype(bool)`"
    truthy = attempt(np.array([1]), 2).astype(bool).ravel().tolist() == [True, False]
    assert any(words in result.message for words in advised) == truthy


def test_lists_are_refused_and_tensors_accepted_with_a_remark(language):
    result = check(SOFTMAX, lambda scores: softmax(scores).tolist())
    assert (
        say(language, "es una lista o una tupla de Python", "is a Python list or tuple")
        in result.message
    )
    result = check(SOFTMAX, lambda scores: torch.tensor(softmax(scores)))
    assert result and say(language, "tensores de PyTorch", "tensors of PyTorch") in result.message


@pytest.mark.parametrize("epsilon", [1e-6, 1e-9, 1e-12])
def test_an_epsilon_added_to_the_total_is_found_however_small(epsilon, language):
    def attempt(scores):
        peak = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isinf(peak), 0, peak))
        return powers / (powers.sum(axis=-1, keepdims=True) + epsilon)

    result = check(SOFTMAX, attempt)
    assert not result and say(language, "un ε, al total", "an ε, to the total") in result.message


class Slips:
    """Attempts with one slip that `check` repairs. Each is a `def`: no lambda is repaired."""

    def path_lengths(mask):
        n = len(mask)
        lengths = np.full((n, n), -1)
        lengths[np.eye(n, dtype=bool)] = 0
        reached = np.eye(n, dtype=bool)
        for step in range(1, n + 1):
            reached = reached @ mask
            lengths[reached & (lengths > 0)] = step
        return lengths

    def reachable(mask, n_layers):
        step = mask | np.eye(len(mask), dtype=bool)
        reached = step
        for _ in range(n_layers - 1):
            reached = reached @ step
            return reached
        return reached

    def adam_step(theta, gradient, m, v, t, learning_rate):
        m = 0.9 * m + 0.1 * gradient
        v = 0.02 * v + 0.98 * gradient**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        return theta - learning_rate * step, m, v

    def top_p_filter(logits, p):
        shares = softmax(logits)
        order = np.argsort(-shares, axis=0)
        best = np.take_along_axis(shares, order, 0)
        kept = np.zeros_like(shares)
        np.put_along_axis(kept, order, best * (best.cumsum(-1) - best < p), 0)
        return kept / kept.sum(-1, keepdims=True)

    def rating_gradients(ratings, known, users, films):
        error = np.where(known, users @ films.T - ratings, 0)
        by_user, by_film = np.zeros(users.shape), np.zeros(films.shape)
        for i, j in np.ndindex(error.shape):
            by_user[i] = error[i, j] * films[j]
            by_film[j] += error[i, j] * users[i]
        return by_user, by_film

    def embed(tokens, vocabulary, table):
        places = {word: i for i, word in enumerate(vocabulary)}
        rows = np.array([places.get(token, 1) for token in tokens.ravel()])
        return table[rows.reshape(tokens.shape)] * (tokens != "<pad>")

    def best_span(start, end, max_words):
        best, span = -np.inf, (0, 0)
        for i in range(1, len(start)):
            j = i
            while j < min(len(end), i + max_words):
                print(i, j)
                if start[i] + end[j] > best:
                    best, span = start[i] + end[j], (i, j)
                j += 1
        return span


@pytest.mark.parametrize(
    "exercise_id, es, en",
    [
        (
            "path_lengths",
            "en la línea {6}, escribe `lengths < 0` en lugar de `lengths > 0`.",
            "in line {6}, write `lengths < 0` in place of `lengths > 0`.",
        ),
        (
            "reachable",
            "`return reached`, en la línea {4}, va después del bucle y no dentro.",
            "`return reached`, in line {4}, belongs after the loop and not inside it.",
        ),
        (
            "adam_step",
            "`0.98 * v` en lugar de `0.02 * v` y `0.02 * gradient ** 2` en lugar de `0.98 * ",
            "`0.98 * v` in place of `0.02 * v` and `0.02 * gradient ** 2` in place of `0.98 * ",
        ),
        (
            "top_p_filter",
            "en las líneas {1}, {2} y {4}, escribe `np.argsort(-shares, axis=-1)` en lugar de",
            "in lines {1}, {2} and {4}, write `np.argsort(-shares, axis=-1)` in place of",
        ),
        (
            "rating_gradients",
            "en la línea {3}, escribe `by_user[i] += error[i, j] * films[j]` en lugar de",
            "in line {3}, write `by_user[i] += error[i, j] * films[j]` in place of",
        ),
        (
            "embed",
            "escribe `(tokens != '<pad>')[..., None]` en lugar de `tokens != '<pad>'`.",
            "write `(tokens != '<pad>')[..., None]` in place of `tokens != '<pad>'`.",
        ),
        (
            "best_span",
            "en la línea {1}, escribe `range(0, len(start))` en lugar de `range(1, len(start))`.",
            "in line {1}, write `range(0, len(start))` in place of `range(1, len(start))`.",
        ),
    ],
)
def test_the_repair_of_a_slip_names_the_learners_line(exercise_id, es, en, language, capsys):
    attempt = vars(Slips)[exercise_id]
    lines = range(attempt.__code__.co_firstlineno + 1, attempt.__code__.co_firstlineno + 9)
    result = check(exercise_id, attempt)
    assert result.misconception is None
    assert say(language, es, en).format(*lines) in result.message
    # The learner's own print is shown, but not that of the many candidate repairs.
    assert len(capsys.readouterr().out) < 3000


class TwoSlips:
    """Attempts with two slips that no known mistake explains alone."""

    teacher_forcing = ch08.teacher_forcing.end_read_and_one_too_early

    def feed_forward(x, w_1, b_1, w_2, b_2):
        inner = x @ w_1 - b_1
        return inner @ w_2 + b_2


@pytest.mark.parametrize(
    "exercise_id, change, hint",
    [
        # `argmax` for `sum` is a known mistake of its own, so it is not used here.
        ("teacher_forcing", "`lengths` in place of `lengths - 1`", "the input holds `<eos>`"),
        ("feed_forward", "`x @ w_1 + b_1` in place of `x @ w_1 - b_1`", "max(0, ·)"),
    ],
)
def test_a_repair_may_leave_a_known_mistake(exercise_id, change, hint):
    attn_course.set_language("en")
    message = check(exercise_id, vars(TwoSlips)[exercise_id]).message
    nearer, _, left = message.partition("What is left then: ")
    assert change in nearer and "One change brings it nearer: in line" in nearer
    assert hint in left


class TwoKnown:
    """Attempts with two known mistakes at once, written in another way than in the exercise."""

    attention_pooling = ch01.attention_pooling.scaled_and_mean
    smoothed_cross_entropy = ch08.smoothed_cross_entropy.sum_with_more_than_one_asked_for
    corrupt_spans = ch11.corrupt_spans.downwards_without_the_last

    def read_alignment(weights):
        rows = weights[-1].mean(axis=0)[:-1]
        return rows == rows.max(axis=1, keepdims=True)

    def layer_norm(x, gain, bias):
        return gain * (x - x.mean(axis=0)) / x.std(axis=0) + bias

    def logit_lens(stream, gain, table, token):
        centred = stream - stream.mean(-1, keepdims=True)
        root = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        logits = centred / root * gain @ table.T
        return 1 + (logits < logits[..., token, None]).sum(-1)

    def beam_step(log_probabilities, scores, beam_width):
        totals = log_probabilities + scores[:, None]
        tokens = totals.argmax(axis=1)[:beam_width]
        parents = np.arange(len(totals))[:beam_width]
        return parents, tokens, totals[parents, tokens]


@pytest.mark.parametrize(
    "exercise_id, first, second",
    [
        (
            "attention_pooling",
            "You divide the scores by √d_k.",
            "You divide the output by the number",
        ),
        ("smoothed_cross_entropy", "You return the sum.", "You share out ε without taking it"),
        ("corrupt_spans", "You number the marks downwards", "The last mark of what is asked for"),
        ("read_alignment", "You take the mean over the heads of one layer", "you link both"),
        ("layer_norm", "You normalise over the first axis", "ε is missing."),
        ("logit_lens", "You subtract the mean", "You count the tokens that lie below."),
        ("beam_step", "You give each hypothesis its best token", "in the order they had"),
    ],
)
def test_two_known_mistakes_at_once_are_both_named(exercise_id, first, second):
    attn_course.set_language("en")
    message = check(exercise_id, vars(TwoKnown)[exercise_id]).message
    one, _, other = message.partition(" And the other: ")
    assert f"There are two mistakes at once. {first}" in one and second in other


def test_praise_in_a_hint_is_omitted_if_there_is_another_mistake(language):
    def attempt(query, key, value):
        powers = np.exp(key @ query)
        weights = powers / powers.sum(axis=-1, keepdims=True)
        return (weights[..., None] * key).sum(axis=-2), weights

    message = check("attention_pooling", attempt).message
    assert say(language, "Y el otro: Haces la media", "And the other: You take the mean") in message
    assert say(language, "Los pesos son correctos", "The weights are right") not in message


def test_with_an_ambiguous_second_mistake_only_the_first_is_named():
    def attempt(losses, targets, pad_id):
        return np.mean([batch.sum() for batch in losses])

    attn_course.set_language("en")
    message = check("epoch_loss", attempt).message
    assert "at once. One of them: You divide the sum by the number of batches." in message


def test_a_second_mistake_in_the_result_of_a_first_is_named():
    loss = smoothed_cross_entropy
    attempt = lambda logits, targets, pad_id, share: (
        3 * (loss(logits, targets, pad_id, share) + share * loss(logits, targets, pad_id, 0))
    )
    attn_course.set_language("en")
    two, _, left = check("smoothed_cross_entropy", attempt).message.partition("left then: ")
    assert "There are two mistakes at once. You share out ε without taking it" in two
    assert "are 3 times the right ones" in left


def test_expected_and_given_arrays_are_never_printed_alike():
    attn_course.set_language("en")
    message = check("layer_norm", TwoKnown.layer_norm).message
    assert "the smallest on which it shows:" in message
    message = check(SOFTMAX, lambda scores: softmax(scores) + 3e-6).message
    expected, given = message.partition("expected weights")[2].split("your function gives weights")
    assert expected.split() != given.split()


class Unwise:
    """Attempts that a change makes right, or nearer to right, which no teacher would advise."""

    def mask_tokens(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = tokens
        inputs[chosen & (dice < 0.8)] = mask_id
        changed = chosen & (dice >= 0.8) & (dice < 0.9)
        inputs[changed] = others[changed]
        return np.where(inputs < 0, 0, inputs), np.where(chosen, tokens, ignore_id)

    def encoder_layer(x, w_q, w_k, w_v, w_o, w_1, w_2):
        _, found = reference.self_attention(x, w_q, w_k, w_v)
        first = reference.layer_norm(x + found @ w_o)
        return reference.layer_norm(first + np.maximum(0, first @ w_1) @ w_2)

    def embed(tokens, vocabulary, table):
        places = {word: i for i, word in enumerate(vocabulary) if word != "<pad>"}
        return table[np.vectorize(lambda token: places.get(token, 1))(tokens)]

    def attention_pooling(query, key, value):
        powers = np.exp(key @ query - (key @ query).max(axis=-1, keepdims=True))
        output = np.einsum("...n,...nd->...d", powers, value)
        return output / powers.sum(axis=-1, keepdims=True), powers


@pytest.mark.parametrize(
    "exercise_id, wise, unwise",
    [
        # The unwise change tests a condition that is always true, instead of copying the input.
        ("mask_tokens", "you ask the model to write `[MASK]`", "isfinite"),
        # The results are assigned to names in the wrong order.
        ("encoder_layer", "write `found, _ = reference.self_attention", "`_ @ w_o`"),
        # Replacing one wrong vector by another repairs nothing.
        ("embed", "all is right but where `tokens` is `<pad>`", "One change"),
        # An expression that has a name is not written again.
        ("attention_pooling", "powers / powers.sum(axis=-1, keepdims=True)`", "powers = np.exp"),
    ],
)
def test_changes_that_a_teacher_would_not_advise_are_not_offered(exercise_id, wise, unwise):
    attn_course.set_language("en")
    message = check(exercise_id, vars(Unwise)[exercise_id]).message
    assert wise in message and unwise not in message


def test_without_time_left_the_verdict_proposes_no_change(monkeypatch):
    attn_course.set_language("en")
    monkeypatch.setattr(repaired, "seconds", 0)
    message = check("feed_forward", TwoSlips.feed_forward).message
    assert "are not the expected ones" in message and "One change" not in message


def another_divisor(logits, targets, pad_id, smoothing):
    """Divide the sum by the number of sentences instead of tokens: a single mistake."""
    loss = smoothed_cross_entropy(logits, targets, pad_id, smoothing)
    return loss * (targets != pad_id).sum() / len(targets)


def test_a_wrong_divisor_is_not_two_mistakes():
    attn_course.set_language("en")
    assert "two mistakes" not in check("smoothed_cross_entropy", another_divisor).message


def in_place_softmax(scores):
    largest = scores.max(axis=-1, keepdims=True)
    scores -= np.where(largest == -np.inf, 0, largest)
    return softmax(scores)


def in_place_mask(query, key, value, mask=None):
    result = scaled_dot_product_attention(query, key, value, mask)
    if mask is not None:
        mask[...] = True
    return result


def in_place_torch(scores):
    return torch.from_numpy(scores).sub_(1.0).softmax(-1).nan_to_num()


@pytest.mark.parametrize(
    "exercise_id, attempt, name",
    [
        (SOFTMAX, in_place_softmax, "scores"),
        (SOFTMAX, in_place_torch, "scores"),
        (ATTENTION, in_place_mask, "mask"),
    ],
)
def test_writing_into_the_input_fails_even_with_right_values(exercise_id, attempt, name, language):
    result = check(exercise_id, attempt)
    assert result.status == "failed"
    assert say(language, f"modifica `{name}`", f"modifies `{name}`") in result.message
    assert result.message.endswith(
        say(language, "\n\nPor lo demás, los valores son correctos.", "the values are right.")
    )


def softmax_in_place_following_the_advice(scores):
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return np.where(scores == -np.inf, 0, weights)


def raise_after_writing(scores):
    scores *= 2
    return scores @ np.ones(7)


@pytest.mark.parametrize(
    "attempt, misconception",
    [(softmax_in_place_following_the_advice, "empty_row"), (raise_after_writing, None)],
)
def test_writing_into_the_input_is_reported_before_its_effects(attempt, misconception, language):
    result = check(SOFTMAX, attempt)
    assert result.status == "failed" and result.misconception == misconception
    start = "Todavía no. Tu función modifica `scores`", "Not yet. Your function modifies `scores`"
    advice = "un arreglo nuevo o trabaja con una copia.\n\n", "or work on a copy.\n\n"
    assert result.message.startswith(say(language, *start))
    assert say(language, *advice) in result.message
    if misconception is None:
        assert "`ValueError: matmul" in result.message
    bare = re.sub(r"[`*]", "", result.message)
    assert bare_text(result._repr_html_()).replace("*", "") == "".join(bare.split())


def test_an_output_overwritten_later_is_judged_as_returned():
    kept = {}

    def attempt(scores):
        result = kept.setdefault(scores.shape, np.empty(scores.shape))
        result[...] = softmax(scores)
        return result

    assert check(SOFTMAX, attempt)


@pytest.mark.parametrize(
    "where, es, en",
    [
        (
            lambda query, mask: mask is not None and ~mask.any(-1, keepdims=True),
            "`weights[1]`: nada está permitido en esa fila",
            "`weights[1]`: nothing is allowed in that row",
        ),
        (
            lambda query, mask: np.abs(query).max() > 30,
            "`weights[0]`: con números grandes `exp` se desborda",
            "`weights[0]`: with large numbers `exp` overflows",
        ),
    ],
)
def test_nan_is_located(where, es, en, language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        # The 7 makes it differ from a known mistake.
        nan = where(query, mask) * np.ones_like(weights, dtype=bool)
        return np.where(nan.any(-1, keepdims=True), 7, output), np.where(nan, np.nan, weights)

    result = check(ATTENTION, lambda *given: attempt(*given))
    assert result.misconception is None
    assert say(language, f"Hay NaN en {es}", f"There is NaN in {en}") in result.message


@pytest.mark.parametrize(
    "attend, es, en",
    [
        (attention_with_nan, "nada está permitido", "nothing is allowed"),
        (attention_with_naive_softmax, "con números grandes", "with large numbers"),
    ],
)
def test_self_attention_inherits_the_nan_of_the_attention_it_calls(attend, es, en, language):
    def attempt(x, w_q, w_k, w_v, mask=None):
        return attend(x @ w_q, x @ w_k, x @ w_v, mask)

    result = check(SELF, attempt)
    assert result.status == "failed" and result.misconception is None
    assert say(language, es, en) in result.message


def test_nan_of_unknown_cause_is_located_without_an_explanation(language):
    attempt = lambda s: np.where(s < 0, np.nan, softmax(s))
    message = check(SOFTMAX, attempt).message
    assert (
        say(language, "Hay NaN en `weights[0]`: lo dan", "There is NaN in `weights[0]`: it comes")
        in message
    )


def test_without_a_known_mistake_the_smallest_failing_input_is_shown(language):
    def attempt(scores):
        return softmax(scores * 1.25) if scores.ndim > 1 else softmax(scores)

    cases = EXERCISES[SOFTMAX].cases(0)
    smallest = min((c["scores"] for c in cases if c["scores"].ndim > 1), key=np.size)
    assert smallest.shape == (2, 2)
    result = check(SOFTMAX, lambda scores: attempt(scores))
    assert result.misconception is None
    with np.printoptions(precision=4, floatmode="fixed"):
        blocks = [smallest, softmax(smallest), attempt(smallest)]
        printed = [str(block).replace("\n", "\n      ") for block in blocks]
    words = say(
        language,
        ["scores, forma", "se espera weights, forma", "tu función da weights, forma"],
        ["scores, shape", "expected weights, shape", "your function gives weights, shape"],
    )
    expected = "\n".join(f"    {w} (2, 2):\n      {p}" for w, p in zip(words, printed, strict=True))
    assert result.message == say(
        language,
        "Todavía no. Los valores de `weights` no son los esperados. "
        "Tu función acierta siempre que `scores` tiene 1 eje, y falla siempre que tiene 2, 3 o 4 "
        "ejes. No cuentes con un número de ejes: cuéntalos desde el final. "
        f"Falla en 7 de 8 entradas; la más pequeña:\n\n{expected}",
        "Not yet. The values of `weights` are not the expected ones. "
        "Your function is right whenever `scores` has 1 axis, and wrong whenever it has 2, 3 or 4 "
        "axes. Do not count on a number of axes: count them from the end. "
        f"It fails on 7 of 8 inputs; the smallest:\n\n{expected}",
    )


def test_the_order_of_the_cases_does_not_matter():
    def attempt(query, key, value, mask=None):
        return scaled_dot_product_attention(query if mask is None else 2 * query, key, value, mask)

    exercise = EXERCISES[ATTENTION]
    first = check(ATTENTION, attempt)
    backwards = dataclasses.replace(exercise, cases=lambda seed: exercise.cases(seed)[::-1])
    assert verdict(record_of(backwards), attempt) == first
    assert "mask, forma (2, 4):" in first.message


def test_one_wrong_number_of_a_long_array_is_shown(language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return output, weights + (query.ndim > 3)

    message = check(ATTENTION, attempt).message
    assert say(language, "query, forma (2, 3, 4, 6)\n", "query, shape (2, 3, 4, 6)\n") in message
    assert (
        say(language, "se espera weights[0, 0, 0, 0]:", "expected weights[0, 0, 0, 0]:") in message
    )


def test_only_the_wrong_output_is_named(language):
    def attempt(query, key, value, mask=None):
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return output + 1, weights

    message = check(ATTENTION, lambda *given: attempt(*given)).message
    assert say(language, "de `output` no son", "of `output` are not") in message
