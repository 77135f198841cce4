"""Chapter 12, `accept`: whether a draft's token stays, what replaces it, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def _at(probabilities, token):
    return np.take_along_axis(probabilities, token[..., None], axis=-1)[..., 0]


def _shared(rest):
    return rest / rest.sum(axis=-1, keepdims=True)


def accept(target, draft, token, dice):
    """Return whether tokens of a draft are accepted, and what to draw from where they are not.

    Parameters
    ----------
    target, draft : array, shape (..., vocab_size)
        Probabilities.
    token : array of int, shape (...)
        What was drawn from the draft.
    dice : array, shape (...)
        Numbers from 0 to 1, each as probable as any other.

    Returns
    -------
    accepted : array of bool, shape (...)
    rest : array, shape (..., vocab_size)

    References
    ----------
    Leviathan et al. (2023), Fast Inference from Transformers via Speculative Decoding, section 2.3.
    """
    accepted = dice < _at(target, token) / _at(draft, token)
    return accepted, _shared(np.maximum(target - draft, 0))


def cases(seed):
    """Return one token and batches; the target gives tokens more or less probability than the draft
    does.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``target``, ``draft``, ``token`` and ``dice``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, forbidden=False):
        target, draft = (rng.dirichlet(np.full(shape[-1], 0.8), shape[:-1]) for _ in range(2))
        target, draft = ((p + 0.02) / (p + 0.02).sum(-1, keepdims=True) for p in (target, draft))
        token = rng.integers(shape[-1], size=shape[:-1]).astype(np.intp)
        if forbidden:
            # A token to which the target gives probability 0.
            np.put_along_axis(target, token[..., None], 0.0, axis=-1)
            target = _shared(target)
        ratio = _at(target, token) / _at(draft, token)
        # On either side of the threshold and away from it; some below the target's own probability.
        kind = rng.integers(3, size=token.shape).astype(np.intp)
        dice = np.choose(kind, [0.7 * ratio, 1.4 * ratio + 0.02, 0.95 * _at(target, token)])
        dice = dice.clip(0.01, 0.98)
        if forbidden:
            dice[-1] = 0.0  # the smallest number possible, which is still not below a ratio of 0
        return {"target": target, "draft": draft, "token": token, "dice": dice}

    return [draw(5), draw(4), draw(8, 4), draw(12, 6), draw(4, 5, forbidden=True), draw(3, 4, 7)]


def _rule(decide=None, rest=None):
    def function(target, draft, token, dice):
        accepted, left = accept(target, draft, token, dice)
        if decide is not None:
            accepted = decide(target, draft, token, dice)
        return accepted, left if rest is None else rest(target, draft, token)

    return function


def _without_token(target, draft, token):
    left = target.copy()
    np.put_along_axis(left, token[..., None], 0.0, axis=-1)
    return _shared(left)


def _vector_only(target, draft, token, dice):
    rest = np.maximum(target - draft, 0)
    return np.asarray(dice < target[token] / draft[token]), rest / rest.sum()


def _shared_with_the_batch(target, draft, token):
    rest = np.maximum(target - draft, 0)
    return rest / rest.sum()


def _exchanged(*arguments):
    accepted, rest = accept(*arguments)
    return rest, accepted


def _crossed(target, draft, token, dice):
    accepted = dice < target[..., token] / draft[..., token]
    return accepted, accept(target, draft, token, dice)[1]


def _until_rejected(*arguments):
    accepted, rest = accept(*arguments)
    return np.cumprod(accepted, axis=-1).astype(bool), rest


def _zero_where_accepted(*arguments):
    accepted, rest = accept(*arguments)
    return accepted, np.where(accepted[..., None], 0, rest)


def _rejected_alone(*arguments):
    accepted, rest = accept(*arguments)
    return accepted, rest[~accepted]


def _times_the_chance(p, q, token):
    chance = np.minimum(_at(p, token) / _at(q, token), 1)
    return (1 - chance)[..., None] * _shared(np.maximum(p - q, 0))


def _ratio_above_one(p, q, token):
    return _shared(np.maximum(p / q - 1, 0))


def _unit(values):
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


MISTAKES = {
    "ratio_upside_down": (
        _rule(lambda p, q, token, dice: dice < _at(q, token) / _at(p, token).clip(1e-12)),
    ),
    "target_alone": (_rule(lambda p, q, token, dice: dice < _at(p, token)),),
    "draft_alone": (_rule(lambda p, q, token, dice: dice < _at(q, token)),),
    "share_of_both": (
        _rule(lambda p, q, token, dice: dice < _at(p, token) / (_at(p, token) + _at(q, token))),
    ),
    "mean_rate": (_rule(lambda p, q, token, dice: dice < np.minimum(p, q).sum(axis=-1)),),
    "logarithm": (
        _rule(lambda p, q, token, dice: dice < np.log(_at(p, token)) - np.log(_at(q, token))),
    ),
    "token_from_one": (
        _rule(lambda p, q, token, dice: dice < _at(p, token - 1) / _at(q, token - 1)),
    ),
    "until_rejected": (_until_rejected,),
    "without_dice": (_rule(lambda p, q, token, dice: _at(p, token) >= _at(q, token)),),
    "best_only": (_rule(lambda p, q, token, dice: p.argmax(axis=-1) == token),),
    "limit_included": (_rule(lambda p, q, token, dice: dice <= _at(p, token) / _at(q, token)),),
    "rejected_returned": (
        _rule(lambda p, q, token, dice: dice >= _at(p, token) / _at(q, token)),
        _rule(lambda p, q, token, dice: dice > _at(p, token) / _at(q, token)),
    ),
    "difference": (_rule(lambda p, q, token, dice: dice < _at(p, token) - _at(q, token)),),
    "rest_is_the_target": (_rule(rest=lambda p, q, token: p.copy()),),
    "rest_without_the_token": (_rule(rest=_without_token),),
    "rest_of_the_draft": (_rule(rest=lambda p, q, token: _shared(np.maximum(q - p, 0))),),
    "rest_not_shared": (_rule(rest=lambda p, q, token: np.maximum(p - q, 0)),),
    "unit_length": (_rule(rest=lambda p, q, token: _unit(np.maximum(p - q, 0))),),
    "rest_negative": (
        _rule(rest=lambda p, q, token: p - q),
        _rule(rest=lambda p, q, token: _shared(p - q)),
        _rule(rest=lambda p, q, token: _shared(np.abs(p - q))),
    ),
    "target_where_larger": (_rule(rest=lambda p, q, token: _shared(np.where(p > q, p, 0))),),
    "what_is_common": (_rule(rest=lambda p, q, token: _shared(np.minimum(p, q))),),
    "larger_of_both": (_rule(rest=lambda p, q, token: _shared(np.maximum(p, q))),),
    "ratio_above_one": (_rule(rest=_ratio_above_one),),
    "where_rejected": (_zero_where_accepted, _rejected_alone),
    "times_the_chance": (_rule(rest=_times_the_chance),),
    "softmax_of_the_rest": (
        _rule(rest=lambda p, q, token: _shared(np.exp(np.maximum(p - q, 0)))),
        _rule(rest=lambda p, q, token: _shared(np.exp(p - q))),
    ),
    "shared_with_the_batch": (_rule(rest=_shared_with_the_batch),),
    "answers_exchanged": (_exchanged,),
    "crossed": (_crossed,),
    "vector_only": (_vector_only,),
}

EXERCISE = Exercise.from_file(__file__, ("accepted", "rest"), accept, cases, MISTAKES)
