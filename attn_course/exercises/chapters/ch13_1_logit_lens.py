"""Chapter 13, `logit_lens`: the rank of a token at every layer, and how to get it wrong."""

import numpy as np

from attn_course.exercises.spec import Exercise

EPS = 1e-5


def _normalised(x):
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPS)


def _rank(logits, token):
    mine = np.take_along_axis(logits, np.broadcast_to(token, logits.shape[:-1])[..., None], axis=-1)
    return 1 + (logits > mine).sum(axis=-1)


def logit_lens(stream, gain, table, token):
    """Return the rank that the last norm and the tied output matrix give a token, in every vector.

    Parameters
    ----------
    stream : array, shape (..., d_model)
        Such as the vectors of the last token at every layer.
    gain : array, shape (d_model,)
        Of the last RMSNorm.
    table : array, shape (vocab_size, d_model)
        The embeddings, which score the next token too.
    token : int

    Returns
    -------
    array of int, shape (...)
        1 where the token has the highest logit.

    References
    ----------
    nostalgebraist (2020), interpreting GPT: the logit lens.
    """
    return _rank((_normalised(stream) * gain) @ table.T, token)


def cases(seed):
    """Return streams of one vector, of layers, and of layers by tokens; also with a square table.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``stream``, ``gain``, ``table`` and ``token``.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape, vocab_size, scale=1.0):
        d_model = shape[-1]
        return {
            "stream": scale * (rng.normal(size=shape) + 0.7),
            "gain": rng.uniform(-1.5, 2.5, d_model),
            "table": rng.normal(size=(vocab_size, d_model)),
            "token": np.array(rng.integers(1, vocab_size - 1)),
        }

    return [
        draw(6, vocab_size=40),
        draw(7, 5, vocab_size=60),
        draw(9, 8, vocab_size=8),
        draw(12, 6, vocab_size=90, scale=20.0),
        draw(8, 4, 5, vocab_size=70),
        draw(2, 6, 3, 6, vocab_size=50),
    ]


def _of(logits_of, rank_of=_rank):
    return lambda stream, gain, table, token: rank_of(logits_of(stream, gain, table), token)


def _centred(x, gain, table):
    x = x - x.mean(axis=-1, keepdims=True)
    return (_normalised(x) * gain) @ table.T


def _square_only(x, gain, table):
    return (_normalised(x) * gain) @ (table if table.shape[0] == table.shape[1] else table.T)


def _over_layers(logits, token):
    return 1 + (logits[..., token][..., None] < logits[..., token].ravel()).sum(axis=-1)


def _probability(logits, token):
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shares[..., token] / shares.sum(axis=-1)


def _over_the_last_axis(logits, token):
    mine = logits[..., token]
    return 1 + (mine[..., None] < mine[..., None, :]).sum(axis=-1)


def _first_index(logits, token):
    return 1 + np.where(np.argsort(-logits, axis=-1) == token)[0]


def _cosine(x, gain, table):
    return (_normalised(x) * gain) @ (table / np.linalg.norm(table, axis=-1, keepdims=True)).T


def _nearest(x, gain, table):
    return -(((_normalised(x) * gain)[..., None, :] - table) ** 2).sum(axis=-1)


def _last_alone(stream, gain, table, token):
    last = stream[-1] if stream.ndim > 1 else stream
    return np.broadcast_to(logit_lens(last, gain, table, token), stream.shape[:-1])


def _lens(stream, gain, table):
    return (_normalised(stream) * gain) @ table.T


MISTAKES = {
    "gain_missing": (_of(lambda x, gain, table: _normalised(x) @ table.T),),
    "centred": (_of(_centred),),
    "gain_added": (_of(lambda x, gain, table: (_normalised(x) + gain) @ table.T),),
    "gain_otherwise": (
        _of(lambda x, gain, table: (_normalised(x) * (1 + gain)) @ table.T),
        _of(lambda x, gain, table: (_normalised(x) * gain**2) @ table.T),
        _of(lambda x, gain, table: (_normalised(x) / gain) @ table.T),
    ),
    "each_component": (_of(lambda x, gain, table: (x / np.sqrt(x**2 + EPS) * gain) @ table.T),),
    "cosine": (_of(_cosine),),
    "nearest": (_of(_nearest),),
    "without_sign": (_of(lambda x, gain, table: np.abs(_lens(x, gain, table))),),
    "from_zero": (_of(_lens, lambda logits, token: _rank(logits, token) - 1),),
    "from_below": (
        _of(_lens, lambda logits, token: 1 + (logits < logits[..., [token]]).sum(axis=-1)),
        _of(_lens, lambda logits, token: (logits < logits[..., [token]]).sum(axis=-1)),
    ),
    "order_for_rank": (
        _of(_lens, lambda logits, token: 1 + np.argsort(-logits, axis=-1)[..., token]),
        _of(_lens, lambda logits, token: 1 + np.argsort(logits, axis=-1)[..., token]),
    ),
    "first_index": (_of(_lens, _first_index),),
    "probability": (_of(_lens, _probability),),
    "share": (_of(_lens, lambda logits, token: (_rank(logits, token) - 1) / logits.shape[-1]),),
    "logit_alone": (_of(_lens, lambda logits, token: logits[..., token]),),
    "best_token": (_of(_lens, lambda logits, token: logits.argmax(axis=-1)),),
    "among_layers": (_of(_lens, _over_layers), _of(_lens, _over_the_last_axis)),
    "transposed": (_of(_square_only),),
    "last_alone": (_last_alone,),
}

EXERCISE = Exercise.from_file(__file__, ("output",), logit_lens, cases, MISTAKES)
