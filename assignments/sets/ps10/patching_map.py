"""Problem set 10, `patching_map`: which activation carries the answer, and mistaken patches."""

import numpy as np

from attn.reference import softmax
from attn_course.exercises.spec import Exercise


def patching_map(clean, corrupted, mixing, matrices, direction):
    """Return how much of the answer comes back when one activation of another run is put in.

    Parameters
    ----------
    clean, corrupted : array, shape (n, d)
        What enters the first layer in either run.
    mixing : array, shape (n_layers, n, n)
    matrices : array, shape (n_layers, d, d)
        Layer l adds ``tanh(mixing[l] @ x @ matrices[l])`` to the stream x.
    direction : array, shape (d,)
        The answer is the product of it with the last token of the last stream.

    Returns
    -------
    array, shape (n_layers, n)
        0 where the patch does nothing, 1 where it brings the whole answer back.

    References
    ----------
    Meng et al. (2022), Locating and Editing Factual Associations in GPT, section 2; Wang et al.
    (2023), Interpretability in the Wild, section 3, for the normalised effect.
    """
    return _map(clean, corrupted, mixing, matrices, direction)


def _layer(x, mix, matrix):
    return x + np.tanh(mix @ x @ matrix)


def _answer(x, direction):
    return x[-1] @ direction


def _one(stream, source, i):
    patched = stream.copy()
    patched[i] = source[i]
    return patched


def _normalised(patched, clean, corrupted):
    return (patched - corrupted) / (clean - corrupted)


def _map(
    clean,
    corrupted,
    mixing,
    matrices,
    direction,
    *,
    layer=_layer,
    answer=_answer,
    put=_one,
    effect=_normalised,
    late=0,
    hold=False,
):
    """Patch each layer and token in turn; the keywords exchange steps for mistaken ones."""
    runs = [[clean], [corrupted]]
    for run in runs:
        for mix, matrix in zip(mixing, matrices, strict=True):
            run.append(layer(run[-1], mix, matrix))
    ends = [answer(run[-1], direction) for run in runs]
    found = np.zeros((len(mixing), len(clean)))
    for start, i in np.ndindex(found.shape):
        place = start + late
        x = put(runs[1][place], runs[0][place], i)
        for n in range(place, len(mixing)):
            x = layer(x, mixing[n], matrices[n])
            x = put(x, runs[0][n + 1], i) if hold else x
        found[start, i] = effect(answer(x, direction), *ends)
    return found


def cases(seed):
    """Return runs of several layers and of one, in which the answer is higher clean, or lower.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``clean``, ``corrupted``, ``mixing``, ``matrices`` and ``direction``.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, n, d, above=True):
        """Draw until both answers are well apart, in the order asked for, and far from 0."""
        while True:
            clean, corrupted = rng.normal(size=(2, n, d))
            scores = np.where(np.tri(n, dtype=bool), rng.normal(size=(n_layers, n, n)), -np.inf)
            case = {"clean": clean, "corrupted": corrupted, "mixing": softmax(scores)}
            case |= {"matrices": rng.normal(size=(n_layers, d, d)), "direction": rng.normal(size=d)}
            ends = []
            for x in (clean, corrupted):
                for mix, matrix in zip(case["mixing"], case["matrices"], strict=True):
                    x = _layer(x, mix, matrix)
                ends.append(_answer(x, case["direction"]))
            apart = ends[0] - ends[1] if above else ends[1] - ends[0]
            if apart > 0.7 and min(np.abs(ends)) > 0.3:
                return case

    return [
        draw(2, 2, 2),
        draw(2, 3, 3),
        draw(3, 3, 2),
        draw(3, 4, 3),
        draw(1, 3, 3),
        draw(1, 2, 4, above=False),
        draw(2, 3, 2, above=False),
        draw(3, 4, 4, above=False),
        draw(*rng.integers(2, 5, 3)),
    ]


def _wrong(**how):
    return lambda *arguments: _map(*arguments, **how)


def _pile_up(clean, corrupted, mixing, matrices, direction):
    runs = [[clean], [corrupted.copy()]]
    for run in runs:
        for mix, matrix in zip(mixing, matrices, strict=True):
            run.append(_layer(run[-1], mix, matrix))
    ends = [_answer(run[-1], direction) for run in runs]
    found = np.zeros((len(mixing), len(clean)))
    for start, i in np.ndindex(found.shape):
        x = runs[1][start]
        x[i] = runs[0][start][i]
        for n in range(start, len(mixing)):
            x = _layer(x, mixing[n], matrices[n])
        found[start, i] = _normalised(_answer(x, direction), *ends)
    return found


def _exchanged(clean, corrupted, *rest):
    return patching_map(corrupted, clean, *rest)


def _whole(stream, source, i):
    return source.copy()


def _every_other(stream, source, i):
    patched = source.copy()
    patched[i] = stream[i]
    return patched


def _added(stream, source, i):
    patched = stream.copy()
    patched[i] += source[i]
    return patched


MISTAKES = {
    "patches_pile_up": (_pile_up,),
    "whole_layer": (_wrong(put=_whole),),
    "all_but_one": (_wrong(put=_every_other),),
    "added_to_the_stream": (_wrong(put=_added),),
    "clean_and_corrupted_exchanged": (_exchanged,),
    "not_normalised": (
        _wrong(effect=lambda patched, clean, corrupted: patched - corrupted),
        _wrong(effect=lambda patched, clean, corrupted: patched),
    ),
    "share_of_the_clean": (
        _wrong(effect=lambda patched, clean, corrupted: patched / clean),
        _wrong(effect=lambda patched, clean, corrupted: (patched - corrupted) / clean),
    ),
    "what_is_missing": (
        _wrong(effect=lambda patched, clean, corrupted: (clean - patched) / (clean - corrupted)),
    ),
    "sign_lost": (
        _wrong(
            effect=lambda patched, clean, corrupted: (patched - corrupted) / abs(clean - corrupted)
        ),
        _wrong(
            effect=lambda patched, clean, corrupted: abs(_normalised(patched, clean, corrupted))
        ),
    ),
    "after_the_layer": (_wrong(late=1),),
    "held_to_the_end": (_wrong(hold=True),),
    "every_token_read": (
        _wrong(answer=lambda x, direction: (x @ direction).mean()),
        _wrong(answer=lambda x, direction: (x @ direction).sum()),
    ),
    "first_token_read": (_wrong(answer=lambda x, direction: x[0] @ direction),),
    "stream_not_added": (_wrong(layer=lambda x, mix, matrix: np.tanh(mix @ x @ matrix)),),
    "tokens_not_mixed": (_wrong(layer=lambda x, mix, matrix: x + np.tanh(x @ matrix)),),
    "no_tanh": (_wrong(layer=lambda x, mix, matrix: x + mix @ x @ matrix),),
    "tokens_by_layers": (lambda *arguments: patching_map(*arguments).T,),
}

EXERCISE = Exercise.from_file(__file__, ("effect",), patching_map, cases, MISTAKES)
