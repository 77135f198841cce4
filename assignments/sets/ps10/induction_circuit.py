"""Problem set 10, `induction_circuit`: two heads built by hand, and the ways to wire them wrong."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def induction_circuit(ids, vocab_size, strength):
    """Return what two heads in a row attend to, and what they predict: what followed last time.

    Parameters
    ----------
    ids : array of int, shape (..., n)
    vocab_size : int
    strength : float
        What a score is where a head finds what it looks for; elsewhere it is 0.

    Returns
    -------
    first, second : array, shape (..., n, n)
        Weights of the head that looks one token back, and of the one that looks for a copy.
    output : array, shape (..., n, vocab_size)

    References
    ----------
    Elhage et al. (2021), A Mathematical Framework for Transformer Circuits, Induction Heads.
    """
    return _circuit(ids, vocab_size, strength)


def _causal(n):
    return np.tri(n, dtype=bool)


def _circuit(
    ids,
    vocab_size,
    strength,
    *,
    offset=-1,
    seen=(_causal, _causal),
    strong=(1, 1),
    weigh=softmax,
    query=lambda token, before: token,
    key=lambda token, before: before,
    value=lambda token, before: token,
    scale=lambda size: 1.0,
):
    """Wire the two heads, with the given parts replaced."""
    n, token = ids.shape[-1], np.eye(int(vocab_size))[ids]
    hidden = [np.where(mask(n), 0, -np.inf) for mask in seen]
    one, other = (strength if is_on else 1.0 for is_on in strong)
    scores = np.broadcast_to(one * np.eye(n, k=offset), (*ids.shape, n))
    first = weigh(scores + hidden[0])
    before = first @ token
    match = query(token, before) @ key(token, before).mT * scale(int(vocab_size))
    second = weigh(other * match + hidden[1])
    return first, second, second @ value(token, before)


def cases(seed):
    """Return texts with repetitions, batches of them, and heads too strong for a plain exponential.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``ids``, ``vocab_size`` and ``strength``.
    """
    rng = np.random.default_rng(seed)

    def draw(*texts, strength=None, shape=None):
        letters = sorted(set("".join(texts)))
        code = dict(zip(letters, rng.permutation(len(letters)), strict=True))
        ids = np.array([[code[letter] for letter in text] for text in texts])
        ids = ids[0] if len(texts) == 1 else ids
        return {
            "ids": ids if shape is None else ids.reshape(shape),
            "vocab_size": np.array(len(letters) + int(rng.integers(2))),
            "strength": np.float64(rng.uniform(1.5, 4) if strength is None else strength),
        }

    return [
        draw("aba"),
        draw("abab"),
        draw("abcab"),
        draw("aabcaba"),
        draw("abcabc", strength=rng.uniform(1900, 2100)),
        draw("abaca", strength=rng.uniform(900, 1100)),
        draw("abab", "bcba"),
        draw("aba", "bab", "acc"),
        draw("abca", "cabc", "abab", "ccba", "bcab", "aabb", shape=(2, 3, 4)),
        draw("".join(rng.choice(list("abc"), rng.integers(6, 11)))),
    ]


def _wrong(**how):
    return lambda *arguments: _circuit(*arguments, **how)


def _unstable(scores):
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _strict(n):
    return np.tri(n, k=-1, dtype=bool)


def _everyone(n):
    return np.ones((n, n), dtype=bool)


def _one_text(ids, vocab_size, strength):
    (_n,) = ids.shape
    return induction_circuit(ids, vocab_size, strength)


def _fit(turn):
    """Return a softmax along the wrong axis."""

    def weigh(scores):
        exponentials = np.exp(scores - scores.max())
        return exponentials / exponentials.sum(axis=turn, keepdims=True)

    return weigh


MISTAKES = {
    "keys_of_the_token": (_wrong(key=lambda token, before: token),),
    "query_of_the_previous": (
        _wrong(query=lambda token, before: before),
        _wrong(query=lambda token, before: before, key=lambda token, before: token),
    ),
    "keys_of_both": (_wrong(key=lambda token, before: token + before),),
    "value_of_the_previous": (_wrong(value=lambda token, before: before),),
    "looks_at_itself": (_wrong(offset=0),),
    "looks_ahead": (_wrong(offset=1), _wrong(offset=1, seen=(_everyone, _causal))),
    "two_back": (_wrong(offset=-2),),
    "first_not_causal": (_wrong(seen=(_everyone, _causal)),),
    "second_not_causal": (_wrong(seen=(_causal, _everyone)),),
    "never_causal": (_wrong(seen=(_everyone, _everyone)),),
    "not_itself": (_wrong(seen=(_strict, _causal)), _wrong(seen=(_causal, _strict))),
    "one_head_weak": (_wrong(strong=(1, 0)), _wrong(strong=(0, 1))),
    "scaled": (_wrong(scale=lambda size: size**-0.5),),
    "over_the_rows": (_wrong(weigh=_fit(-2)),),
    "overflow": (_wrong(weigh=_unstable),),
    "one_text_only": (_one_text,),
}

EXERCISE = Exercise.from_file(
    __file__, ("first", "second", "output"), induction_circuit, cases, MISTAKES
)
