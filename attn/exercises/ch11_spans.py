"""Chapter 11, `corrupt_spans`: text with holes, and what was in them; and slips."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import corrupt_spans

PATTERNS = ("0110", "01101", "110100", "0011011", "10010", "1101110110", "0100010011", "111")


def cases(seed):
    """Return inputs: holes inside, at the beginning, at the end, one after another, all hole.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``tokens``, ``hidden`` and ``first_sentinel``.
    """
    rng = np.random.default_rng(seed)
    return [
        {
            "tokens": rng.permutation(np.arange(4, 60))[: len(pattern)],
            "hidden": np.array([mark == "1" for mark in pattern]),
            "first_sentinel": np.array(int(rng.integers(90, 200))),
        }
        for pattern in PATTERNS
    ]


def _spans(
    starts=lambda hidden: hidden & ~np.concatenate([[False], hidden[:-1]]),
    name=lambda first, number: first + number,
    inputs=lambda kept, marks: kept,
    mark_first=True,
    asked=lambda targets, first, n: [*targets, first + n],
):
    """Return the right function, but for the parts that are given."""

    def function(tokens, hidden, first_sentinel):
        first, read, targets, number = int(first_sentinel), [], [], 0
        begins = starts(hidden)
        for i, token in enumerate(tokens.tolist()):
            if not hidden[i]:
                read.append((token, False))
                continue
            if begins[i]:
                read.append((name(first, number), True))
            if begins[i] and mark_first:
                targets.append(name(first, number))
            number += bool(begins[i])
            targets.append(token)
            if not mark_first and (i + 1 == len(tokens) or not hidden[i + 1]):
                targets.append(name(first, number - 1))
        read = inputs([token for token, _ in read], [is_mark for _, is_mark in read])
        return np.array(read, dtype=int), np.array(asked(targets, first, number), dtype=int)

    return function


def _inverted(tokens, hidden, first_sentinel):
    return corrupt_spans(tokens, ~hidden, first_sentinel)


def _whole(tokens, hidden, first_sentinel):
    return corrupt_spans(tokens, hidden, first_sentinel)[0], tokens.copy()


def _swapped(tokens, hidden, first_sentinel):
    inputs, targets = corrupt_spans(tokens, hidden, first_sentinel)
    return targets, inputs


def _closed(tokens, hidden, first_sentinel):
    inputs, targets = corrupt_spans(tokens, hidden, first_sentinel)
    return np.append(inputs, targets[-1]), targets


def _no_marks(targets, first, n):
    return [token for token in targets if not first <= token < first + n]


MISCONCEPTIONS = (
    Misconception(
        "a_mark_each",
        (_spans(starts=lambda hidden: hidden),),
        {
            "es": "Pones una marca por token tapado. Es una por **tramo**: los tapados seguidos "
            "comparten la suya, y el modelo tiene que averiguar también cuántos son.",
            "en": "You put a mark for every hidden token. It is one for every **run**: neighbours "
            "share theirs, and the model has to find out how many they are, too.",
        },
    ),
    Misconception(
        "one_mark_for_all",
        (
            _spans(name=lambda first, number: first),
            _spans(name=lambda first, number: first,
                   asked=lambda targets, first, n: [*targets, first]),
        ),
        {
            "es": "Todos los tramos llevan la misma marca, y la respuesta no podría decir a cuál "
            "se refiere. La de cada tramo es una más que la anterior.",
            "en": "All runs have the same mark, and the answer could not say which one it means. "
            "The mark of each run is one more than the last.",
        },
    ),
    Misconception(
        "downwards",
        (
            _spans(name=lambda first, number: first - number,
                   asked=lambda targets, first, n: [*targets, first - n]),
        ),
        {
            "es": "Numeras las marcas hacia abajo, como el vocabulario de T5. Aquí se pide hacia "
            "arriba: `first_sentinel`, `first_sentinel + 1`...",
            "en": "You number the marks downwards, like the vocabulary of T5. Here they go upwards: "
            "`first_sentinel`, `first_sentinel + 1`...",
        },
    ),
    Misconception(
        "no_last_mark",
        (_spans(asked=lambda targets, first, n: targets),),
        {
            "es": "Falta la última marca de lo que se pide. Sin ella el modelo no sabrá dónde "
            "acaba el último tramo.",
            "en": "The last mark of what is asked for is missing. Without it the model cannot know "
            "where the last run ends.",
        },
    ),
    Misconception(
        "last_mark_repeated",
        (_spans(asked=lambda targets, first, n: [*targets, first + n - 1]),),
        {
            "es": "Cierras con la marca del último tramo otra vez. La que cierra es la siguiente, "
            "que no está en la entrada.",
            "en": "You close with the mark of the last run again. The closing one is the next, "
            "which is not in the input.",
        },
    ),
    Misconception(
        "no_marks_asked",
        (
            _spans(asked=_no_marks),
            _spans(asked=lambda targets, first, n: [*_no_marks(targets, first, n), first + n]),
        ),
        {
            "es": "Pides los tokens tapados sin sus marcas: no se sabría cuáles van en cada hueco. "
            "Delante de cada tramo va su marca.",
            "en": "You ask for the hidden tokens without their marks: nobody could tell which go "
            "into which hole. Before each run goes its mark.",
        },
    ),
    Misconception(
        "holes_closed_up",
        (
            _spans(inputs=lambda read, marks: [
                token for token, is_mark in zip(read, marks, strict=True) if not is_mark
            ]),
        ),
        {
            "es": "Quitas los tramos de la entrada sin dejar nada en su lugar: el modelo no sabría "
            "dónde falta texto. En el lugar de cada tramo va su marca.",
            "en": "You take the runs out of the input and leave nothing: the model could not know "
            "where text is missing. In the place of each run goes its mark.",
        },
    ),
    Misconception(
        "mark_behind",
        (_spans(mark_first=False),),
        {
            "es": "En lo que pides, la marca va detrás de su tramo. Va delante: al leerla, el "
            "modelo sabe qué hueco le toca llenar.",
            "en": "In what you ask for, the mark comes after its run. It comes before: reading it, "
            "the model knows which hole it is to fill.",
        },
    ),
    Misconception(
        "inverted",
        (_inverted,),
        {
            "es": "Tapas lo que debía quedar a la vista. En `hidden`, True es lo que **no** se lee; "
            "no es una máscara de atención.",
            "en": "You hide what was to remain in sight. In `hidden`, True is what is **not** read; "
            "it is not an attention mask.",
        },
    ),
    Misconception(
        "everything_asked",
        (_whole,),
        {
            "es": "Pides la oración entera. T5 pide solo los tramos tapados, con sus marcas: la "
            "respuesta es corta, y cada paso cuesta menos.",
            "en": "You ask for the whole sentence. T5 asks only for the hidden runs, with their "
            "marks: the answer is short, and every step costs less.",
        },
    ),
    Misconception(
        "first_run_missed",
        (
            _spans(starts=lambda hidden: np.concatenate([[False], hidden[1:] & ~hidden[:-1]])),
        ),
        {
            "es": "Se te escapa el tramo con el que empieza la oración: no hay nada antes con qué "
            "compararlo. El primer token empieza un tramo si está tapado.",
            "en": "You miss the run that the sentence begins with: there is nothing before to "
            "compare it with. The first token begins a run if it is hidden.",
        },
    ),
    Misconception(
        "input_closed",
        (_closed,),
        {
            "es": "También cierras la entrada con una marca, como si faltara texto al final. La "
            "última marca es solo de lo que se pide.",
            "en": "You close the input with a mark too, as if text were missing at its end. The "
            "last mark belongs only to what is asked for.",
        },
    ),
    Misconception(
        "counted_from_one",
        (
            _spans(name=lambda first, number: first + number + 1,
                   asked=lambda targets, first, n: [*targets, first + n + 1]),
        ),
        {
            "es": "La primera marca es `first_sentinel` misma: empieza a contar en 0.",
            "en": "The first mark is `first_sentinel` itself: start counting at 0.",
        },
    ),
    Misconception(
        "answers_exchanged",
        (_swapped,),
        {
            "es": "Devuelves primero lo que se pide. El orden es `(inputs, targets)`: el texto con "
            "huecos y después lo que había en ellos.",
            "en": "You return first what is asked for. The order is `(inputs, targets)`: the text "
            "with holes, then what was in them.",
        },
    ),
)  # fmt: skip

EXERCISE = Exercise(
    "corrupt_spans", 11, ("inputs", "targets"), corrupt_spans, cases, MISCONCEPTIONS
)
