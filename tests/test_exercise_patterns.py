"""What `check` says of unknown mistakes: the pattern that the wrong answers have in common."""

import math

import numpy as np
import pytest
import torch

from attn.reference import layer_norm, scaled_dot_product_attention, softmax, split_heads
from attn_course.exercises import check
from attn_course.exercises.catalogue import load
from attn_course.exercises.chapters.ch07_3_alibi_bias import alibi_bias
from tests.exercise_proofs import say
from tests.wrong_attempts import activated, without_nan

ATTENTION = "scaled_dot_product_attention"
FEED = "feed_forward"
MULTI = "multi_head_attention"
NORM = "layer_norm"
SELF = "self_attention"
SOFTMAX = "softmax"
SPLIT = "split_heads"


# The tests call these two in a lambda, because `check` would propose a repair of code it can read.


def pool_without_nan(query, key, value):
    weights = without_nan(key @ query)
    return np.einsum("...j,...jd->...d", weights, value), weights


def head_by_head(heads, w_o):
    blocks = np.split(w_o, heads.shape[-3])
    return np.stack([heads[..., h, :, :] @ w for h, w in enumerate(blocks)], axis=1)


@pytest.mark.parametrize(
    "exercise_id, attempt, es, en",
    [
        (
            SOFTMAX,
            lambda scores: softmax(scores) * (0.5 if scores.ndim > 1 else 1),
            "las proporciones correctas, pero no el total: `weights[0]` suma 0.5000",
            "the right proportions, but not the right total: `weights[0]` sums to 0.5000",
        ),
        (
            "attention_pooling",
            lambda query, key, value: pool_without_nan(query, key, value),
            "`weights` es todo ceros, y debe sumar 1",
            "`weights` is all zeros, and should sum to 1",
        ),
        (
            "head_contributions",
            lambda heads, w_o: head_by_head(heads, w_o),
            "acierta siempre que `heads` tiene 4 ejes, y falla siempre que tiene 3 o 5 ejes",
            "is right whenever `heads` has 4 axes, and wrong whenever it has 3 or 5 axes",
        ),
        (
            ATTENTION,
            lambda q, k, v, m=None: tuple(
                a + 7 * (m is not None) for a in scaled_dot_product_attention(q, k, v, m)
            ),
            "acierta siempre que no hay `mask`, y falla siempre que la hay",
            "is right whenever there is no `mask`, and wrong whenever there is",
        ),
        (
            SOFTMAX,
            lambda s: softmax(s) + 7 * (np.abs(s[np.isfinite(s)]).max(initial=0) > 900),
            "acierta con números ordinarios, y falla con los muy grandes",
            "is right with ordinary numbers, and wrong with very large ones",
        ),
        (
            SOFTMAX,
            lambda scores: np.round(softmax(scores), 2),
            "`weights` son los correctos, redondeados",
            "`weights` are the right ones, rounded",
        ),
        (
            NORM,
            lambda x, gain, bias: 1 - layer_norm(x, gain, bias),
            "`output` son 1 menos los correctos",
            "`output` are 1 minus the right ones",
        ),
        (
            NORM,
            lambda x, gain, bias: 3 * layer_norm(x, gain, bias),
            "`output` son 3 veces los correctos",
            "`output` are 3 times the right ones",
        ),
        (
            NORM,
            lambda x, gain, bias: layer_norm(x, gain, bias) - 0.5,
            "A todos los números de `output` les falta 0.5",
            "All the numbers of `output` are 0.5 too small",
        ),
        (
            NORM,
            lambda x, gain, bias: layer_norm(x, gain, bias) * x.size,
            "multiplicados por un mismo factor, que cambia de una entrada a otra",
            "times one factor, which changes from input to input",
        ),
        (
            SPLIT,
            lambda x, n_heads: split_heads(x, n_heads)[..., ::-1],
            "los números correctos en orden inverso",
            "the right numbers in the opposite order",
        ),
        (
            "alibi_bias",
            lambda slopes, tgt_len, src_len: alibi_bias(slopes, tgt_len, src_len)[:, None],
            "solo sobra o falta un eje que mide 1",
            "only an axis of length 1 is too many or missing",
        ),
        (
            SPLIT,
            lambda x, n_heads: split_heads(x, n_heads)[..., :-1],
            "es correcto, pero falta lo del final",
            "is right, but what stands at the end is missing",
        ),
        (
            NORM,
            lambda x, gain, bias: layer_norm(x, gain, bias).sum(),
            "Es un solo número",
            "It is a single number",
        ),
        (
            SPLIT,
            lambda x, n_heads: x,
            "    x, forma (2, 6)\n    n_heads: 2",
            "    x, shape (2, 6)\n    n_heads: 2",
        ),
    ],
)
def test_the_pattern_of_the_wrong_answers_is_named(exercise_id, attempt, es, en, language):
    result = check(exercise_id, attempt)
    assert result.misconception is None
    assert say(language, es, en) in result.message


@pytest.mark.parametrize(
    "exercise_id, attempt, es, en",
    [
        (
            MULTI,
            lambda x, w_q, *_: x @ w_q[:2],
            "aquí miden 4 y 2. Revisa qué hay que trasponer, y si de una matriz cortaste filas",
            "here they measure 4 and 2. Check what has to be transposed, and whether you cut rows",
        ),
        (SELF, lambda x, w_q, *_: np.dot(w_q, x), "(3,4) y (2,3)", "(3,4) and (2,3)"),
        (
            SELF,
            lambda x, w_q, *_: torch.tensor(w_q) @ torch.tensor(x),
            "(3x4) y (2x3)",
            "(3x4) and (2x3)",
        ),
        (
            FEED,
            activated(lambda z: np.max(0, z)),
            "usa `np.maximum(0, z)`",
            "use `np.maximum(0, z)`",
        ),
        (FEED, activated(lambda z: np.max(z, 0)), "es un solo número", "is a single number"),
        (
            FEED,
            activated(lambda z: z - z.max),
            "le faltan los paréntesis",
            "parentheses are missing",
        ),
        (FEED, activated(lambda z: math.exp(z)), "Una función de `math`", "A function of `math`"),
        (FEED, activated(lambda z: z if z > 0 else -z), "con `np.where`", "with `np.where`"),
        (NORM, lambda x, gain, bias: x + np.ones(7), "no encajan: (4,) (7,)", "fit: (4,) (7,)"),
        (FEED, activated(lambda z: z[7]), "el elemento 7", "element 7"),
        (FEED, activated(lambda z: z[0, 0, 0, 0, 0]), "Usas 5 índices", "You use 5 indices"),
        (FEED, activated(lambda z: z.transpose(0, 2, 1)), "uno por uno", "one by one"),
        (FEED, activated(lambda z: z.sum(axis=4)), "el eje 4 de", "axis 4 of"),
        (SPLIT, lambda x, n: x.reshape(5, 5), "tiene 12, y en la forma (5,5)", "the array has 12"),
        (SPLIT, lambda x, n: [a for a, b, c, d in [x.shape]], "hay 4 nombres", "are 4 names"),
        ("embed", lambda t, v, e: {v: 0}[t], "en un diccionario", "in a dictionary"),
    ],
)
def test_an_exception_is_explained_in_words(exercise_id, attempt, es, en, language):
    message = check(exercise_id, attempt).message
    assert say(language, es, en) in message


def test_a_chance_success_on_one_number_of_axes_does_not_blame_the_axes():
    def attempt(weights, period):
        right = load("induction_score").oracle(weights, period)
        return right + np.sin(weights.shape[-1]) * (weights.ndim != 4)

    assert "ejes" not in check("induction_score", attempt).message
