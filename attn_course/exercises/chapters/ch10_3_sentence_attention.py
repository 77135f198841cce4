"""Chapter 10, `sentence_attention`: the attention that sentences receive, and mistakes."""

import numpy as np

from attn.reference import sentence_attention, softmax
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: weights of self-attention and the sentence of each token.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``weights`` and ``sentence``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, n_heads, lengths):
        n = sum(lengths)
        # All tokens attend to some tokens, as in a trained model.
        scores = rng.normal(size=(n_layers, n_heads, n, n)) + 1.5 * rng.normal(size=n)
        return {"weights": softmax(scores), "sentence": np.repeat(range(len(lengths)), lengths)}

    sizes = [
        (1, 1, (2, 3)),
        (1, 2, (4, 2, 3)),
        (2, 1, (1, 5, 2)),
        (2, 4, (5, 7, 3, 6)),
        (3, 2, (2, 8, 4)),
        (2, 3, (6, 1, 4, 3, 2)),
    ]
    return [draw(*size) for size in sizes]


def _mean_by_sentence(received, sentence):
    return np.bincount(sentence, weights=received) / np.bincount(sentence)


def _of(receive, gather=_mean_by_sentence):
    """Compute the score of sentences from what each token receives."""

    def scores(weights, sentence):
        return gather(receive(weights), sentence)

    return scores


def _received(weights):
    return weights.mean(axis=(0, 1, 2))


def _given(weights):
    return weights.mean(axis=(0, 1, 3))


def _per_sentence(reduce):
    def gather(received, sentence):
        return np.array([reduce(received[sentence == s]) for s in range(sentence.max() + 1)])

    return gather


def _without_diagonal(weights):
    n = weights.shape[-1]
    return (weights * ~np.eye(n, dtype=bool)).sum(axis=-2).mean(axis=(0, 1)) / n


def _others_only(weights, sentence):
    other = sentence[:, None] != sentence
    return _mean_by_sentence(_received(weights * other), sentence)


def _own_only(weights, sentence):
    own = sentence[:, None] == sentence
    return _mean_by_sentence(_received(weights * own), sentence)


def _by_all_tokens(received, sentence):
    return np.bincount(sentence, weights=received) / len(sentence)


def _per_token(weights, sentence):
    return _received(weights)


def _of_result(change):
    def scores(weights, sentence):
        return change(sentence_attention(weights, sentence))

    return scores


def _each_head(weights, sentence):
    return np.array([[_mean_by_sentence(h.mean(axis=0), sentence) for h in w] for w in weights])


def _inside(weights, sentence):
    mean = weights.mean(axis=(0, 1))
    groups = [sentence == s for s in range(sentence.max() + 1)]
    return np.array([mean[np.ix_(group, group)].mean() for group in groups])


def _from_outside(weights, sentence):
    mean = weights.mean(axis=(0, 1))
    groups = [sentence == s for s in range(sentence.max() + 1)]
    return np.array([mean[np.ix_(~group, group)].mean() for group in groups])


def _last_assigned(received, sentence):
    scores = np.zeros(sentence.max() + 1)
    scores[sentence] += received
    return scores / np.bincount(sentence)


def _by_sentences(received, sentence):
    return np.bincount(sentence, weights=received) / (sentence.max() + 1)


MISTAKES = {
    "given_instead_of_received": (_of(_given), _of(lambda w: w.mean(axis=(0, 1)).sum(axis=-1))),
    "sum_over_words": (
        _of(lambda w: w.mean(axis=(0, 1)).sum(axis=0), lambda r, s: np.bincount(s, weights=r)),
        _of(_received, lambda r, s: np.bincount(s, weights=r)),
    ),
    "divided_by_all": (_of(_received, _by_all_tokens),),
    "best_word": (_of(_received, _per_sentence(np.max)),),
    "first_word": (
        _of(_received, _per_sentence(lambda part: part[0])),
        _of(_received, _per_sentence(lambda part: part[-1])),
    ),
    "one_layer": (_of(lambda w: w[-1].mean(axis=(0, 1))), _of(lambda w: w[0].mean(axis=(0, 1)))),
    "one_head": (
        _of(lambda w: w[:, 0].mean(axis=(0, 1))),
        _of(lambda w: w[:, -1].mean(axis=(0, 1))),
    ),
    "largest_head": (
        _of(lambda w: w.max(axis=(0, 1)).mean(axis=0)),
        _of(lambda w: w.max(axis=1).mean(axis=(0, 1))),
    ),
    "one_query": (
        _of(lambda w: w[..., 0, :].mean(axis=(0, 1))),
        _of(lambda w: w[..., -1, :].mean(axis=(0, 1))),
    ),
    "sum_over_queries": (
        _of(lambda w: w.sum(axis=-2).mean(axis=(0, 1))),
        _of(lambda w: w.sum(axis=(0, 1, 2))),
    ),
    "own_word_left_out": (_of(_without_diagonal),),
    "some_sentences_only": (_inside, _from_outside, _others_only, _own_only),
    "normalised": (
        _of_result(lambda x: x / x.sum()),
        _of_result(lambda x: softmax(x)),
        _of_result(lambda x: x / x.max()),
    ),
    "order_instead_of_scores": (
        _of_result(lambda x: np.argsort(-x)),
        _of_result(np.argmax),
        _of_result(lambda x: np.sort(x)[::-1]),
    ),
    "not_gathered": (
        lambda weights, sentence: sentence_attention(weights, sentence)[sentence],
        lambda weights, sentence: _received(weights)[sentence],
        _per_token,
        _each_head,
    ),
    "own_weight_only": (_of(lambda w: np.diagonal(w.mean(axis=(0, 1)))),),
    "divided_by_sentences": (_of(_received, _by_sentences),),
    "last_assigned": (_of(_received, _last_assigned),),
}

EXERCISE = Exercise.from_file(__file__, ("scores",), sentence_attention, cases, MISTAKES)
