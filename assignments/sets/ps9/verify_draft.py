"""Problem set 9, `verify_draft`: how much of a draft stays, what comes after, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise


def verify_draft(target, draft, tokens, dice):
    """Return how many tokens of a draft are kept, and what the next one is drawn from.

    Parameters
    ----------
    target : array, shape (n + 1, vocab_size)
        Probabilities of the large model before each token of the draft and after the last.
    draft : array, shape (n, vocab_size)
        Probabilities of the small one.
    tokens : array of int, shape (n,)
    dice : array, shape (n,)
        Numbers from 0 to 1.

    Returns
    -------
    n_kept : int
    rest : array, shape (vocab_size,)

    References
    ----------
    Leviathan et al. (2023), Fast Inference from Transformers via Speculative Decoding, algorithm 1.
    """
    return _verify(target, draft, tokens, dice)


def _ratio(p, q, dice):
    return dice < p / q


def _leading(accepted):
    return int(np.append(accepted, False).argmin())


def _shared(rest):
    return rest / rest.sum()


def _difference(p, q, token):
    return _shared(np.maximum(p - q, 0))


def _verify(
    target,
    draft,
    tokens,
    dice,
    *,
    accept=_ratio,
    count=_leading,
    replace=_difference,
    last=lambda n: n,
    where=lambda n: n,
):
    """Verify, with the given parts replaced."""
    places = np.arange(len(tokens))
    n = count(accept(target[places, tokens], draft[places, tokens], dice))
    if n == len(tokens):
        return n, target[last(n)].copy()
    return n, replace(target[where(n)], draft[where(n)], tokens[n])


PATTERNS = ("", "a", "r", "ab", "bar", "bra", "arb", "abrar", "babac", "rab", "arr", "ca", "bcr")


def cases(seed):
    """Return drafts with a token refused, drafts kept whole, and one without tokens.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``target``, ``draft``, ``tokens`` and ``dice``.
    """
    rng = np.random.default_rng(seed)

    def one(vocab_size, kind):
        """Draw until a token is accepted below 1 (a, c), accepted above (b), or refused (r)."""
        low, high = {"a": (0.3, 0.8), "b": (1.3, 9), "c": (0.3, 0.8), "r": (0.2, 0.6)}[kind]
        while True:
            p, q = rng.dirichlet(np.ones(vocab_size), 2) * 0.9 + 0.1 / vocab_size
            token = rng.choice(vocab_size, p=q)
            if low < p[token] / q[token] < high:
                ratio = p[token] / q[token]
                thrown = {"a": 0.9 * ratio, "b": 0.95, "c": p[token] / 2, "r": (1 + ratio) / 2}
                return p, q, token, thrown[kind]

    def draw(vocab_size, pattern):
        drawn = [one(vocab_size, kind) for kind in pattern]
        p, q, tokens, dice = zip(*drawn, strict=True) if drawn else ((), (), (), ())
        return {
            "target": np.array([*p, rng.dirichlet(np.ones(vocab_size))]),
            "draft": np.array(q).reshape(-1, vocab_size),
            "tokens": np.array(tokens, dtype=int),
            "dice": np.array(dice, dtype=float),
        }

    drawn = "".join(rng.choice(list("abc"), rng.integers(2, 6))) + "r" + "a" * rng.integers(3)
    return [draw(4 + number % 3, pattern) for number, pattern in enumerate((*PATTERNS, drawn))]


def _wrong(**how):
    return lambda *arguments: _verify(*arguments, **how)


def _without_token(p, q, token):
    rest = p.copy()
    rest[token] = 0
    return _shared(rest)


def _no_bonus(target, draft, tokens, dice):
    n, rest = verify_draft(target, draft, tokens, dice)
    return (n - 1, target[n - 1]) if n == len(tokens) else (n, rest)


def _one_token_only(target, draft, tokens, dice):
    n, _ = verify_draft(target[:2], draft[:1], tokens[:1], dice[:1])
    return (len(tokens), target[-1]) if n else verify_draft(target, draft, tokens, dice)


def _needs_a_token(target, draft, tokens, dice):
    _ = tokens[0]
    return verify_draft(target, draft, tokens, dice)


def _total(accepted):
    return int(accepted.sum())


def _upside_down(p, q, dice):
    return dice < q / p


MISTAKES = {
    "counts_after_a_refusal": (_wrong(count=_total),),
    "all_or_nothing": (_wrong(count=lambda accepted: len(accepted) * int(accepted.all())),),
    "refused_one_kept": (
        lambda *arguments: (
            min(verify_draft(*arguments)[0] + 1, len(arguments[2])),
            verify_draft(*arguments)[1],
        ),
    ),
    "first_only": (_one_token_only,),
    "ratio_upside_down": (_wrong(accept=_upside_down),),
    "target_alone": (_wrong(accept=lambda p, q, dice: dice < p),),
    "difference": (_wrong(accept=lambda p, q, dice: dice < p - q),),
    "without_dice": (_wrong(accept=lambda p, q, dice: p >= q),),
    "sign_of_the_dice": (_wrong(accept=lambda p, q, dice: dice >= p / q),),
    "one_dice_for_all": (_wrong(accept=lambda p, q, dice: dice[:1] < p / q),),
    "rest_is_the_target": (_wrong(replace=lambda p, q, token: p.copy()),),
    "rest_without_the_token": (_wrong(replace=_without_token),),
    "rest_of_the_draft": (_wrong(replace=lambda p, q, token: _difference(q, p, token)),),
    "rest_not_shared": (_wrong(replace=lambda p, q, token: np.maximum(p - q, 0)),),
    "rest_negative": (
        _wrong(replace=lambda p, q, token: p - q),
        _wrong(replace=lambda p, q, token: _shared(abs(p - q))),
    ),
    "rest_of_the_first": (_wrong(where=lambda n: 0),),
    "last_before_the_draft": (_wrong(last=lambda n: n - 1), _no_bonus),
    "needs_a_token": (_needs_a_token,),
}

EXERCISE = Exercise.from_file(__file__, ("n_kept", "rest"), verify_draft, cases, MISTAKES)
