"""Problem set 10, `mended_lens`: all layers divided by the size of the last, and wrong repairs."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def mended_lens(stream, gain, unembedding, target):
    """Return what each layer would predict if it were the last.

    Parameters
    ----------
    stream : array, shape (n_layers, n, d_model)
        The residual stream at each token after each layer.
    gain : array, shape (d_model,)
        Of the RMSNorm in front of the table.
    unembedding : array, shape (vocab_size, d_model)
    target : array of int, shape (n,)

    Returns
    -------
    log_p : array, shape (n_layers, n)
        Logarithm of the probability of the target.
    best : array of int, shape (n_layers, n)
        The most probable token.

    References
    ----------
    nostalgebraist (2020), Interpreting GPT: the Logit Lens.
    """
    return _lens()(stream, gain, unembedding, target)


def _size(x, axis=-1):
    return np.sqrt((x * x).mean(axis=axis, keepdims=True) + EPS)


def _log_softmax(logits):
    return logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)


def _target(log_p, target):
    return np.take_along_axis(log_p, target[None, :, None], axis=-1)[..., 0]


def _argmax(log_p):
    return log_p.argmax(axis=-1)


def _lens(
    size=_size,
    centre=None,
    weight=lambda gain: gain,
    spread=_log_softmax,
    pick=_target,
    best=_argmax,
):
    """Return the reading with one of its parts exchanged for another."""

    def lens(stream, gain, unembedding, target):
        shifted = stream if centre is None else stream - centre(stream)
        log_p = spread(weight(gain) * shifted / size(shifted) @ unembedding.T)
        return pick(log_p, target), best(log_p)

    return lens


def cases(seed):
    """Return streams that grow from layer to layer, some read by a table of large numbers.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``stream``, ``gain``, ``unembedding`` and ``target``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, n, d_model, vocab_size, size=1.0):
        growth = (1.7 ** np.arange(n_layers))[:, None, None] * rng.uniform(
            0.7, 1.4, (n_layers, n, 1)
        )
        steps = rng.normal(size=(n_layers, n, d_model)) + 0.4
        # Neighbours have different targets, so that exchanging them shows.
        target = (rng.integers(vocab_size) + np.arange(n)) % vocab_size
        return {
            "stream": steps * growth,
            "gain": rng.uniform(0.4, 1.6, d_model),
            "unembedding": size * rng.normal(size=(vocab_size, d_model)),
            "target": target,
        }

    return [
        draw(2, 2, 3, 4),
        draw(3, 2, 4, 5),
        draw(3, 4, 3, 6),
        draw(4, 3, 4, 4),
        draw(5, 4, 5, 7),
        draw(2, 3, 3, 5, size=900.0),
        draw(3, 4, 4, 6, size=2000.0),
        draw(*rng.integers((2, 2, 3, 4), (6, 6, 6, 8))),
    ]


def _unstable(logits):
    exponentials = np.exp(logits)
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _with_floor(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True) + 1e-12)


def _log_of_zero(logits):
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.log(exponentials / exponentials.sum(axis=-1, keepdims=True))


def _next(log_p, target):
    return _target(log_p, np.roll(target, -1))


MISTAKES = {
    "size_of_the_last_layer": (_lens(size=lambda x: _size(x)[-1:]),),
    "size_of_the_first_layer": (_lens(size=lambda x: _size(x)[:1]),),
    "one_size_a_layer": (_lens(size=lambda x: _size(x, axis=(-2, -1))),),
    "one_size_for_all": (_lens(size=lambda x: _size(x, axis=None)),),
    "over_the_layers": (_lens(size=lambda x: _size(x, axis=0)),),
    "not_normalised": (_lens(size=np.ones_like), _lens(size=np.ones_like, weight=lambda gain: 1.0)),
    "length_for_size": (_lens(size=lambda x: np.sqrt((x * x).sum(-1, keepdims=True) + EPS)),),
    "mean_subtracted": (_lens(centre=lambda x: x.mean(axis=-1, keepdims=True)),),
    "gain_missing": (_lens(weight=lambda gain: 1.0),),
    "logits": (_lens(spread=lambda logits: logits),),
    "probability": (_lens(spread=lambda logits: np.exp(_log_softmax(logits))),),
    "over_the_tokens": (
        _lens(spread=lambda z: z - np.logaddexp.reduce(z, axis=-2, keepdims=True)),
        _lens(spread=lambda z: z - np.logaddexp.reduce(z, axis=0, keepdims=True)),
    ),
    "target_of_the_next": (_lens(pick=_next),),
    "best_for_target": (_lens(pick=lambda log_p, target: log_p.max(axis=-1)),),
    "least_probable": (_lens(best=lambda log_p: log_p.argmin(axis=-1)),),
    "best_of_the_last": (
        _lens(best=lambda log_p: np.broadcast_to(_argmax(log_p[-1]), log_p.shape[:-1]).copy()),
    ),
    "overflow": (_lens(spread=_unstable), _lens(spread=_log_of_zero)),
    "logarithm_with_a_floor": (_lens(spread=_with_floor),),
}

EXERCISE = Exercise.from_file(__file__, ("log_p", "best"), mended_lens, cases, MISTAKES)
