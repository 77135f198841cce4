"""Chapter 15, `dpo_loss`: preferences without a reward model, and ways to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    """Return the loss of direct preference optimisation for each pair of answers.

    Parameters
    ----------
    policy_chosen, policy_rejected : array, shape (n_pairs,)
        Log-probabilities of the better and of the worse answer under the model that learns.
    reference_chosen, reference_rejected : array, shape (n_pairs,)
        Those under the model from which it began.
    beta : float
        How strongly the model is held to the reference.

    Returns
    -------
    array, shape (n_pairs,)

    References
    ----------
    Rafailov et al. (2023), Direct Preference Optimization, equation 7.
    """
    chosen, rejected = policy_chosen - reference_chosen, policy_rejected - reference_rejected
    return np.logaddexp(0, -beta * (chosen - rejected))


def cases(seed):
    """Return one pair and several, in some of which the model prefers the rejected answer.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys of the signature.
    """
    rng = np.random.default_rng(seed)

    def draw(n_pairs):
        reference = rng.uniform(-6, -2, (2, n_pairs))
        # No log-probability may become positive.
        policy = np.minimum(reference + rng.normal(size=(2, n_pairs)), -0.2)
        return {
            "policy_chosen": policy[0],
            "policy_rejected": policy[1],
            "reference_chosen": reference[0],
            "reference_rejected": reference[1],
            "beta": np.array(rng.uniform(0.2, 0.7)),
        }

    return [draw(n_pairs) for n_pairs in (1, 2, 3, 5, 8)]


def _of(margin):
    """Return a loss whose margin is `margin` of the four log-probabilities and beta."""
    return lambda *given: np.logaddexp(0, -margin(*given))


def _margin(pc, pr, rc, rr, beta):
    return beta * ((pc - rc) - (pr - rr))


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


MISTAKES = {
    "reference_forgotten": (_of(lambda pc, pr, rc, rr, beta: beta * (pc - pr)),),
    "beta_on_the_model_alone": (
        _of(lambda pc, pr, rc, rr, beta: beta * (pc - pr) - (rc - rr)),
        _of(lambda pc, pr, rc, rr, beta: beta * (pc - rc) - (pr - rr)),
        _of(lambda pc, pr, rc, rr, beta: beta * pc - rc - (beta * pr - rr)),
    ),
    "beta_forgotten": (_of(lambda pc, pr, rc, rr, beta: (pc - rc) - (pr - rr)),),
    "beta_outside": (lambda pc, pr, rc, rr, beta: beta * np.logaddexp(0, (pr - rr) - (pc - rc)),),
    "beta_divides": (_of(lambda *given: _margin(*given) / given[-1] ** 2),),
    "turned_round": (_of(lambda *given: -_margin(*given)),),
    "rejected_forgotten": (_of(lambda pc, pr, rc, rr, beta: beta * (pc - rc)),),
    "added": (
        _of(lambda pc, pr, rc, rr, beta: beta * ((pc - rc) + (pr - rr))),
        _of(lambda pc, pr, rc, rr, beta: beta * ((pc + rc) - (pr + rr))),
    ),
    "logarithms_divided": (
        _of(lambda pc, pr, rc, rr, beta: beta * (pc / rc - pr / rr)),
        _of(lambda pc, pr, rc, rr, beta: beta * (np.log(pc / rc) - np.log(pr / rr))),
    ),
    "probabilities": (
        _of(
            lambda pc, pr, rc, rr, beta: beta * (np.exp(pc) - np.exp(rc) - np.exp(pr) + np.exp(rr))
        ),
        _of(lambda pc, pr, rc, rr, beta: beta * (np.exp(pc - rc) - np.exp(pr - rr))),
    ),
    "sign_of_the_logarithm": (lambda *given: -np.logaddexp(0, -_margin(*given)),),
    "no_logarithm": (
        lambda *given: _sigmoid(_margin(*given)),
        lambda *given: -_sigmoid(_margin(*given)),
        lambda *given: _sigmoid(-_margin(*given)),
    ),
    "no_sigmoid": (
        lambda *given: -_margin(*given),
        lambda *given: _margin(*given),
    ),
    "in_bits": (lambda *given: np.logaddexp(0, -_margin(*given)) / np.log(2),),
    "one_number": (
        lambda *given: np.logaddexp(0, -_margin(*given)).mean(),
        lambda *given: np.logaddexp(0, -_margin(*given)).sum(),
    ),
}

EXERCISE = Exercise.from_file(__file__, ("loss",), dpo_loss, cases, MISTAKES)
