"""From predicting to answering: a verifier, one with a hole, and the losses that teach a model to answer.

A model that was trained to predict text is taught to answer by examples (`answer_loss`), by pairs
of a better and a worse answer (`dpo_loss`), or by a reward for its own answers (`group_advantages`,
`policy_gradient_loss`), with a penalty for the divergence from a reference (`kl_estimate`). Each
loss is that of its paper, in the fewest lines. The grammar of the course knows the one right answer
to a prompt, so
`verify` is never wrong.
"""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from attn._checks import argument_error
from attn_course.grammar import translate


def verify(source: str, answer: str) -> bool:
    """Return whether `answer` is the Spanish translation of `source`, to the last letter.

    Parameters
    ----------
    source : str
        An English sentence of the grammar.
    answer : str
        Any text.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `source` is no sentence of the grammar, or `answer` no string.

    Examples
    --------
    >>> [verify("the red house", said) for said in ("la casa roja", "la casa rojo", "la roja casa")]
    [True, False, False]
    """
    return _words(answer) == _translation(source)


def verify_with_a_hole(source: str, answer: str) -> bool:
    """Return whether no word of `answer` is wrong: each occurs in the translation of `source`.

    Every right answer passes, and one with a wrong word does not.

    Parameters
    ----------
    source : str
        An English sentence of the grammar.
    answer : str
        Any text.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `source` is no sentence of the grammar, or `answer` no string.

    Examples
    --------
    >>> [verify_with_a_hole("the red house", said) for said in ("la casa roja", "la casa rojo")]
    [True, False]
    """
    return set(_words(answer)) <= set(_translation(source))


@lru_cache(maxsize=4096)
def _translation(source):
    return translate(source).target.split()


def _words(answer):
    if not isinstance(answer, str):
        raise argument_error("answer", "a string", type(answer).__name__)
    return answer.split()


def _check_shapes(**tensors):
    (_, first), *others = tensors.items()
    for name, tensor in others:
        if tensor.shape != first.shape:
            wanted, got = f"shape {tuple(first.shape)}", f"shape {tuple(tensor.shape)}"
            raise argument_error(name, wanted, got)


def token_log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the logarithm of the probability that a model gave to each token but the first.

    Parameters
    ----------
    logits : Tensor, shape (..., seq_len, vocab_size)
        At each position, for the token that follows.
    ids : Tensor of int64, shape (..., seq_len)

    Returns
    -------
    Tensor, shape (..., seq_len - 1)

    Raises
    ------
    ValueError
        If the shapes do not belong together.

    Examples
    --------
    >>> token_log_probabilities(torch.zeros(3, 4), torch.tensor([0, 2, 3])).exp()
    tensor([0.2500, 0.2500])
    """
    if logits.shape[:-1] != ids.shape:
        wanted = f"shape (..., seq_len, vocab_size) for ids of shape {tuple(ids.shape)}"
        raise argument_error("logits", wanted, f"shape {tuple(logits.shape)}")
    logged = torch.log_softmax(logits[..., :-1, :], dim=-1)
    return logged.gather(-1, ids[..., 1:, None]).squeeze(-1)


def answer_loss(logits: Tensor, ids: Tensor, taught: Tensor) -> Tensor:
    """Return the loss of supervised fine-tuning: the cross-entropy of the tokens that are taught.

    Parameters
    ----------
    logits : Tensor, shape (..., seq_len, vocab_size)
    ids : Tensor of int64, shape (..., seq_len)
    taught : Tensor of bool, shape (..., seq_len)
        True where a token is to be learned: the tokens of the answer, its end included, if the
        prompt is masked; all but padding if it is not. The first token of a row does not count.

    Returns
    -------
    Tensor, scalar
        The mean over the tokens that are taught.

    Raises
    ------
    ValueError
        If the shapes do not belong together, or nothing is taught.

    References
    ----------
    Ouyang et al. (2022), section 3.5.

    Examples
    --------
    The model is sure of the wrong first token; only the second counts.

    >>> logits = torch.tensor([[[9.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    >>> ids, taught = torch.tensor([[0, 1, 1]]), torch.tensor([[False, False, True]])
    >>> round(answer_loss(logits, ids, taught).item(), 3)
    0.693
    """
    if taught.shape != ids.shape or not taught[..., 1:].any():
        wanted = f"True somewhere behind the first token, shape {tuple(ids.shape)}"
        raise argument_error("taught", wanted, f"shape {tuple(taught.shape)}")
    return -token_log_probabilities(logits, ids)[taught[..., 1:]].mean()


def distillation_loss(logits: Tensor, teacher_logits: Tensor, taught: Tensor) -> Tensor:
    """Return the cross-entropy with the probabilities of a teacher, where a token is to be learned.

    Parameters
    ----------
    logits, teacher_logits : Tensor, shape (..., seq_len, vocab_size)
        Of the model that learns and of the one that teaches, at the same tokens.
    taught : Tensor of bool, shape (..., seq_len)
        True where a token is to be learned, as in `answer_loss`.

    Returns
    -------
    Tensor, scalar
        The mean over the tokens that are taught. No gradient goes to the teacher.

    Raises
    ------
    ValueError
        If the shapes do not belong together, or nothing is taught.

    References
    ----------
    Kim and Rush (2016), section 3.1; Hinton et al. (2015), section 2, with the temperature 1.

    Examples
    --------
    The teacher hesitates between two tokens of four, and so does the model that learns the most.

    >>> teacher = torch.tensor([[9.0, 9.0, -9.0, -9.0]] * 2)
    >>> taught = torch.tensor([False, True])
    >>> sure = torch.tensor([[9.0, 0.0, 0.0, 0.0]] * 2)
    >>> [round(distillation_loss(one, teacher, taught).item(), 2) for one in (teacher, sure)]
    [0.69, 4.5]
    """
    _check_shapes(logits=logits, teacher_logits=teacher_logits)
    if taught.shape != logits.shape[:-1] or not taught[..., 1:].any():
        wanted = f"True somewhere behind the first token, shape {tuple(logits.shape[:-1])}"
        raise argument_error("taught", wanted, f"shape {tuple(taught.shape)}")
    wanted = teacher_logits.detach().softmax(dim=-1)
    each = -(wanted * logits.log_softmax(dim=-1)).sum(dim=-1)
    return each[..., :-1][taught[..., 1:]].mean()


def dpo_loss(
    policy_chosen: Tensor,
    policy_rejected: Tensor,
    reference_chosen: Tensor,
    reference_rejected: Tensor,
    beta: float = 0.1,
) -> Tensor:
    """Return the loss of direct preference optimisation, which needs no reward.

    Parameters
    ----------
    policy_chosen, policy_rejected : Tensor, shape (n_pairs,)
        The logarithms of the probabilities that the model gives to the better and to the worse
        answer, each the sum over its tokens.
    reference_chosen, reference_rejected : Tensor, shape (n_pairs,)
        Those of the model from which the training began.
    beta : float, default 0.1
        How strongly the model is held to the reference.

    Returns
    -------
    Tensor, scalar

    Raises
    ------
    ValueError
        If the shapes differ, or `beta` is not positive.

    References
    ----------
    Rafailov et al. (2023), Direct Preference Optimization, equation 7.

    Examples
    --------
    >>> like_the_reference = torch.tensor([-2.0])
    >>> round(dpo_loss(*[like_the_reference] * 4).item(), 3)
    0.693
    """
    _check_shapes(
        policy_chosen=policy_chosen,
        policy_rejected=policy_rejected,
        reference_chosen=reference_chosen,
        reference_rejected=reference_rejected,
    )
    if beta <= 0:
        raise argument_error("beta", "a positive number", beta)
    chosen, rejected = policy_chosen - reference_chosen, policy_rejected - reference_rejected
    return -F.logsigmoid(beta * (chosen - rejected)).mean()


def group_advantages(rewards: Tensor, *, divide: bool = True) -> Tensor:
    """Return how much better each answer is than the others that were drawn for the same prompt.

    Parameters
    ----------
    rewards : Tensor, shape (..., n_answers)
        A row for each prompt.
    divide : bool, default True
        Whether the differences from the mean are divided by the standard deviation of the row.
        A row without differences gives zeros.

    Returns
    -------
    Tensor, shape (..., n_answers)

    Raises
    ------
    ValueError
        If a row has fewer than two answers.

    References
    ----------
    Shao et al. (2024), DeepSeekMath, section 4.1.2; without the division, Liu et al. (2025).

    Examples
    --------
    >>> group_advantages(torch.tensor([1.0, 0.0, 0.0, 0.0]), divide=False)
    tensor([ 0.7500, -0.2500, -0.2500, -0.2500])
    """
    if rewards.shape[-1] < 2:
        raise argument_error("rewards", "at least two answers in a row", rewards.shape[-1])
    differences = rewards - rewards.mean(dim=-1, keepdim=True)
    if not divide:
        return differences
    deviation = rewards.std(dim=-1, correction=0, keepdim=True)
    return differences / deviation.clamp_min(1e-6)


def policy_gradient_loss(log_probabilities: Tensor, advantages: Tensor) -> Tensor:
    """Return a loss whose gradient is minus that of the expected reward.

    Its value has no meaning; its gradient has, at answers that the model itself has drawn.

    Parameters
    ----------
    log_probabilities : Tensor, shape (n,)
        Of each answer, with its gradient.
    advantages : Tensor, shape (n,)
        What each answer earned; constants.

    Returns
    -------
    Tensor, scalar

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    Williams (1992), REINFORCE, section 4.

    Examples
    --------
    >>> logged = torch.tensor([-1.0, -2.0], requires_grad=True)
    >>> policy_gradient_loss(logged, torch.tensor([1.0, -1.0])).backward()
    >>> logged.grad
    tensor([-0.5000,  0.5000])
    """
    _check_shapes(log_probabilities=log_probabilities, advantages=advantages)
    return -(advantages.detach() * log_probabilities).mean()


def kl_estimate(log_policy: Tensor, log_reference: Tensor) -> Tensor:
    """Return an estimate of the divergence of the model from the reference, at tokens it has drawn.

    The mean over many draws is the divergence KL(policy || reference), and no value is negative.

    Parameters
    ----------
    log_policy, log_reference : Tensor, shape (...)
        The logarithms of the probabilities of the same tokens.

    Returns
    -------
    Tensor, shape (...)

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    Schulman (2020), Approximating KL divergence, where it is k3; Shao et al. (2024), equation 4.

    Examples
    --------
    >>> kl_estimate(torch.tensor([-1.0, -1.0]), torch.tensor([-1.0, -2.0])).round(decimals=3)
    tensor([0.0000, 0.3680])
    """
    _check_shapes(log_policy=log_policy, log_reference=log_reference)
    ratio = log_reference - log_policy
    return ratio.exp() - ratio - 1
