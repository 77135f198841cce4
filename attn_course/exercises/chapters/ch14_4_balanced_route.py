"""Chapter 14, `balanced_route`: a bias that spreads tokens over experts, and ways to misuse it."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def balanced_route(scores, bias, n_active, step):
    """Return the experts of each token, their weights, and the bias for the next batch.

    Parameters
    ----------
    scores : array, shape (n_tokens, n_experts)
        Between 0 and 1.
    bias : array, shape (n_experts,)
    n_active : int
        How many experts each token takes.
    step : float

    Returns
    -------
    chosen : array of int, shape (n_tokens, n_active)
        The highest first, with the bias.
    weights : array, shape (n_tokens, n_active)
        Scores of the chosen, without the bias, divided by their sum.
    bias : array, shape (n_experts,)
        `step` more for each expert that was chosen less often than the mean, `step` less for each
        that was chosen more often.

    References
    ----------
    Wang et al. (2024), Auxiliary-Loss-Free Load Balancing Strategy for Mixture-of-Experts,
    Algorithm 1. DeepSeek-AI (2024), DeepSeek-V3, section 2.1.2.
    """
    return _route(scores, bias, n_active, step)


def _best(scores, bias, n_active):
    return np.argsort(-(scores + bias), axis=1)[:, : int(n_active)]


def _shares(scores, bias, chosen):
    taken = np.take_along_axis(scores, chosen, axis=1)
    return taken / taken.sum(axis=1, keepdims=True)


def _taken(scores, bias, chosen):
    return np.take_along_axis(scores, chosen, axis=1)


def _load(chosen, weights, n_experts):
    return np.bincount(chosen.ravel(), minlength=n_experts)


def _signed(bias, load, step):
    return bias + step * np.sign(load.mean() - load)


def _route(scores, bias, n_active, step, *, best=_best, weigh=_shares, count=_load, move=_signed):
    """Route with the given parts replaced."""
    chosen = best(scores, bias, n_active)
    weights = weigh(scores, bias, chosen)
    return chosen, weights, move(bias, count(chosen, weights, len(bias)), step)


def cases(seed):
    """Return batches in which the bias changes the choice, with one or several experts per token.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``scores``, ``bias``, ``n_active`` and ``step``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_tokens, n_experts, n_active):
        while True:
            scores = rng.uniform(0.15, 0.85, (n_tokens, n_experts))
            bias = 0.3 * rng.permutation(np.linspace(-1, 1, n_experts)) + 0.02
            chosen = _best(scores, bias, n_active)
            load = _load(chosen, None, n_experts)
            plain = _load(_best(scores, 0 * bias, n_active), None, n_experts)
            order = np.sort(np.concatenate([scores, scores + bias]), axis=1)
            apart = np.diff(order, axis=1).min() > 0.01
            # If the mean load is a whole number of tokens, one expert has exactly this load.
            still = load.sum() % n_experts > 0 or (load == load.mean()).any()
            # The bias changes more than the order, and no two ways to count the load agree.
            if apart and still and len(set(load)) > 2 and (plain != load).any():
                sizes = {"n_active": np.array(n_active), "step": np.array(rng.uniform(0.02, 0.1))}
                return {"scores": scores, "bias": bias} | sizes

    return [
        draw(5, 3, 2),
        draw(6, 4, 2),
        draw(6, 3, 2),
        draw(7, 5, 3),
        draw(8, 4, 1),
        draw(4, 6, 2),
    ]


def _wrong(**how):
    return lambda *arguments: _route(*arguments, **how)


def _of_all(scores, bias, chosen):
    return np.take_along_axis(scores / scores.sum(axis=1, keepdims=True), chosen, axis=1)


def _softmax_of_all(scores, bias, chosen):
    return np.take_along_axis(softmax(scores), chosen, axis=1)


def _first_alone(chosen, weights, n_experts):
    return _load(chosen[:, 0], None, n_experts)


def _weight_of_each(chosen, weights, n_experts):
    return np.bincount(chosen.ravel(), weights.ravel(), minlength=n_experts)


def _of_the_scores(scores, bias, n_active, step):
    chosen, weights, _ = balanced_route(scores, bias, n_active, step)
    return chosen, weights, _signed(bias, scores.mean(axis=0), step)


def _new_in_use(scores, bias, n_active, step):
    after = balanced_route(scores, bias, n_active, step)[2]
    return *balanced_route(scores, after, n_active, step)[:2], after


MISTAKES = {
    "bias_in_the_weights": (
        _wrong(weigh=lambda scores, bias, chosen: _shares(scores + bias, bias, chosen)),
    ),
    "chosen_without_the_bias": (_wrong(best=lambda s, b, n: _best(s, 0 * b, n)),),
    "bias_subtracted": (_wrong(best=lambda s, b, n: _best(s, -b, n)),),
    "lowest_chosen": (_wrong(best=lambda s, b, n: _best(-s, -b, n)),),
    "lowest_first": (_wrong(best=lambda s, b, n: _best(s, b, n)[:, ::-1]),),
    "in_order_of_number": (_wrong(best=lambda s, b, n: np.sort(_best(s, b, n), axis=1)),),
    "not_divided": (_wrong(weigh=_taken),),
    "divided_by_all": (_wrong(weigh=_of_all),),
    "softmax_of_the_chosen": (_wrong(weigh=lambda s, b, c: softmax(_taken(s, b, c))),),
    "softmax_of_all": (_wrong(weigh=_softmax_of_all),),
    "wrong_way": (_wrong(move=lambda b, load, step: b - step * np.sign(load.mean() - load)),),
    "no_sign": (
        _wrong(move=lambda b, load, step: b + step * (load.mean() - load)),
        _wrong(move=lambda b, load, step: b + step * (load.mean() - load) / load.mean()),
        _wrong(move=lambda b, load, step: b + step * (load.mean() - load) / load.sum()),
    ),
    "change_alone": (_wrong(move=lambda b, load, step: _signed(0, load, step)),),
    "no_step": (_wrong(move=lambda b, load, step: _signed(b, load, 1)),),
    "bias_as_it_was": (_wrong(move=lambda b, load, step: b.copy()),),
    "only_the_idle": (
        _wrong(move=lambda b, load, step: b + step * (load < load.mean())),
        _wrong(move=lambda b, load, step: b + step * (load == 0)),
    ),
    "only_the_busy": (_wrong(move=lambda b, load, step: b - step * (load > load.mean())),),
    "nobody_stands_still": (
        _wrong(move=lambda b, load, step: b + step * np.where(load < load.mean(), 1, -1)),
        _wrong(move=lambda b, load, step: b + step * np.where(load > load.mean(), -1, 1)),
    ),
    "first_alone": (_wrong(count=_first_alone),),
    "weights_counted": (_wrong(count=_weight_of_each),),
    "scores_counted": (_of_the_scores,),
    "next_bias_in_use": (_new_in_use,),
}

EXERCISE = Exercise.from_file(
    __file__, ("chosen", "weights", "bias"), balanced_route, cases, MISTAKES
)
