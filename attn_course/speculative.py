"""Speculative decoding: a fast model proposes several tokens, and a slow one checks them at once.

The result has the distribution of the slow model, the *target*. The fast model, the *draft*,
only affects the number of passes of the target.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from attn._checks import argument_error, check_size
from attn.transformer import DecoderOnly

# Takes ids of shape (length,) and a count, and returns the probabilities of the token after each of
# the last `count` ids, shape (count, vocab_size).
Reader: TypeAlias = Callable[[Tensor, int], Tensor]
# Takes probabilities of shape (n,) and returns the index of one of them.
Choice: TypeAlias = Callable[[Tensor], int]


class Written(NamedTuple):
    """The result of speculative decoding, with its counts.

    Attributes
    ----------
    ids : Tensor of int64, shape (prompt_len + n,)
    n_proposed, n_accepted : int
        The tokens that the draft proposed, and those that the target accepted.
    n_passes : int
        The number of passes of the target.
    """

    ids: Tensor
    n_proposed: int
    n_accepted: int
    n_passes: int


def speculative(
    target: Reader,
    draft: Reader,
    prompt: Tensor,
    *,
    ahead: int,
    max_new_tokens: int,
    choose: Choice,
) -> Written:
    """Continue a prompt as the target would.

    Parameters
    ----------
    target, draft : callable, (ids, count) -> probabilities
        Functions such as `Probabilities`. At temperature 0, where one token has all the
        probability, the output is that of `greedy`.
    prompt : Tensor of int64, shape (prompt_len,)
    ahead : int
        How many tokens the draft proposes at a time.
    max_new_tokens : int
        How many tokens to write.
    choose : callable, probabilities -> index
        A function that draws an index, such as `drawn`. It also decides whether a proposed
        token is accepted: index 0 accepts it and index 1 rejects it.

    Raises
    ------
    ValueError
        If a number is less than 1, or the prompt is not one-dimensional with at least one id.

    References
    ----------
    Leviathan et al. (2023), Fast Inference from Transformers via Speculative Decoding, Algorithm 1
    and appendix A.1, which proves that the distribution is the target's.
    """
    check_size("ahead", ahead, least=1)
    check_size("max_new_tokens", max_new_tokens, least=1)
    if prompt.ndim != 1 or not len(prompt):
        raise argument_error(
            "prompt", "shape (prompt_len,), prompt_len at least 1", tuple(prompt.shape)
        )
    ids, end = prompt, len(prompt) + max_new_tokens
    n_proposed = n_accepted = n_passes = 0
    while len(ids) < end:
        n_guesses = min(ahead, end - len(ids) - 1)
        guessed, proposals = ids, []
        for _ in range(n_guesses):
            proposals.append(draft(guessed, 1)[0])
            guessed = torch.cat((guessed, guessed.new_full((1,), choose(proposals[-1]))))
        wanted = target(guessed, n_guesses + 1)
        n_passes, n_proposed = n_passes + 1, n_proposed + n_guesses
        for place, proposal in enumerate(proposals):
            token = guessed[len(ids)]
            accepted = (wanted[place, token] / proposal[token]).clamp(max=1.0)
            if choose(torch.stack((accepted, 1 - accepted))) == 1:
                # The token is drawn from the excess of the target over the draft, so that the result
                # has the distribution of the target.
                rest = (wanted[place] - proposal).clamp(min=0.0)
                last = choose(rest / rest.sum())
                break
            ids, n_accepted = guessed[: len(ids) + 1], n_accepted + 1
        else:
            last = choose(wanted[-1])
        ids = torch.cat((ids, ids.new_full((1,), last)))
    return Written(ids, n_proposed, n_accepted, n_passes)


def drawn(generator: torch.Generator) -> Choice:
    """Return a `Choice` that draws each index with its probability."""
    return lambda probabilities: int(torch.multinomial(probabilities, 1, generator=generator))


class Probabilities:
    """A `Reader` with a cache, from which rejected tokens are removed.

    Parameters
    ----------
    model : DecoderOnly
    temperature : float, default 1.0
        The logits are divided by it. At 0 the most probable token has all the probability.

    Attributes
    ----------
    n_calls, n_read : int
        How often the model was called, and with how many tokens in all.
    """

    def __init__(self, model: DecoderOnly, temperature: float = 1.0) -> None:
        self.model, self.temperature = model, temperature
        self.cache, self.seen = model.new_cache(), torch.zeros(0, dtype=torch.int64)
        self.n_calls = self.n_read = 0

    @torch.no_grad()
    def __call__(self, ids: Tensor, count: int) -> Tensor:
        """Return the probabilities after each of the last `count` ids, shape (count, vocab_size).

        They are on the CPU, where the random numbers are drawn, whatever the device of the model.
        """
        shorter = min(len(self.seen), len(ids))
        differ = (self.seen[:shorter].to(ids.device) != ids[:shorter]).nonzero()
        known = min(int(differ[0]) if len(differ) else shorter, len(ids) - count)
        self.cache.truncate(known)
        logits = self.model(ids[None, known:], cache=self.cache)[0][0, -count:].cpu().double()
        # The caller may change its own tensor later.
        self.seen = ids.clone()
        self.n_calls += 1
        self.n_read += len(ids) - known
        if self.temperature == 0:
            return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)
        probabilities: Tensor = (logits / self.temperature).softmax(dim=-1)
        return probabilities
