"""Problem set 5, `prefix_mask`: a question read whole, and an answer written word by word."""

import numpy as np

from attn.reference import causal_mask
from attn_course.exercises.spec import Exercise


def prefix_mask(real, prefix):
    """Let everybody see the question, and the rest only from where it is written on."""
    return _rule()(real, prefix)


def _question(real, prefix):
    """Return which tokens are of the question: the first `prefix` real ones of each row."""
    return real & (real.cumsum(axis=-1) <= prefix[:, None])


def _rule(
    question=_question,
    allowed=lambda order, question: order | question[:, None, :],
    keys=lambda real: real[:, None, :],
):
    """Return the function, or one with one of its ingredients exchanged for another."""

    def mask(real, prefix):
        order = causal_mask(real.shape[-1])
        return allowed(order, question(real, prefix)) & keys(real)

    return mask


def cases(seed):
    """Return rows without padding, with it at the end, and with it in front.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``real``, boolean, and ``prefix``.
    """
    rng = np.random.default_rng(seed)

    def draw(seq_len, lengths, left=(), unasked=()):
        """Return rows of so many real tokens.

        Those named in `left` have their pads in front, and those in `unasked`, no question.
        """
        real = np.arange(seq_len) < np.array(lengths)[:, None]
        for row in left:
            real[row] = real[row, ::-1]
        # At least two of the question and two of the answer; those of no two rows are alike.
        prefix = np.zeros(len(lengths), dtype=int)
        while (prefix == 0).any() or len(np.unique(prefix)) < len(prefix):
            prefix = rng.integers(2, np.array(lengths) - 1)
        prefix[list(unasked)] = 0
        return {"real": real, "prefix": prefix}

    def whole(n_rows, seq_len):
        return draw(seq_len, [seq_len] * n_rows)

    def three(seq_len, **kwargs):
        """Return a whole row and two shorter ones."""
        return draw(seq_len, [seq_len, *rng.permutation([seq_len - 2, seq_len - 1])], **kwargs)

    short, shorter, long = rng.integers((6, 6, 8), (9, 9, 11))
    return [
        whole(1, rng.integers(5, 8)),
        whole(2, rng.integers(6, 9)),
        whole(3, rng.integers(7, 10)),
        draw(short, [rng.integers(5, short)]),
        three(rng.integers(7, 10)),
        draw(short, [short, short - 1], unasked=[1]),
        draw(shorter, [rng.integers(5, shorter)], left=[0]),
        three(rng.integers(7, 10), left=[1, 2]),
        draw(shorter, [shorter - 2, shorter, shorter - 1], left=[0], unasked=[0, 2]),
        draw(long, rng.integers(5, long, 2), left=[0]),
        # No table of the small masks holds these.
        whole(*rng.integers((2, 10), (5, 30))),
        three(rng.integers(10, 20), left=[2]),
    ]


def _apart(order, question):
    same = question[:, :, None] == question[:, None, :]
    return (order & same) | (question[:, :, None] & question[:, None, :])


MISTAKES = {
    "prefix_ignored": (
        _rule(allowed=lambda order, question: order | (0 * question[:, None, :] > 0)),
    ),
    "everything_allowed": (
        _rule(allowed=lambda order, question: np.ones_like(question)[:, None, :] | order),
    ),
    "padding_counted": (_rule(lambda real, prefix: np.arange(real.shape[-1]) < prefix[:, None]),),
    "one_too_many": (_rule(lambda real, prefix: _question(real, prefix + 1)),),
    "one_too_few": (_rule(lambda real, prefix: _question(real, prefix - 1)),),
    "answer_blind": (_rule(allowed=_apart),),
    "answer_forgets_itself": (
        _rule(allowed=lambda order, question: (order & False) | question[:, None, :]),
    ),
    "asked_instead_of_seen": (_rule(allowed=lambda order, question: order | question[:, :, None]),),
    "padding_visible": (_rule(keys=lambda real: np.ones_like(real)[:, None, :]),),
    "padding_on_the_queries": (
        _rule(keys=lambda real: real[:, :, None]),
        _rule(keys=lambda real: real[:, :, None] & real[:, None, :]),
    ),
    "first_for_all": (_rule(lambda real, prefix: _question(real, 0 * prefix + prefix[0])),),
    "marked_as_forbidden": (lambda real, prefix: ~prefix_mask(real, prefix),),
}

EXERCISE = Exercise.from_file(__file__, ("mask",), prefix_mask, cases, MISTAKES)
