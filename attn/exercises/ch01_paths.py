"""Chapter 1, `path_lengths`, and the ways to get it wrong."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import path_lengths


def cases(seed):
    """Return masks: a chain, a ring, one step that sees all, and some at random.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the key ``mask``.
    """
    rng = np.random.default_rng(seed)

    def sparse(n):
        """Return a mask with few True, in which 0 hears of nobody and n - 1 of somebody."""
        mask = rng.random((n, n)) < 1.2 / n
        mask[0], mask[n - 1, 1] = False, True
        return mask

    chain, ring = np.eye(4, k=-1, dtype=bool), np.roll(np.eye(5, dtype=bool), 1, axis=0)
    order = rng.permutation(5)
    masks = [chain, ring[order][:, order], np.ones((3, 3), dtype=bool)]
    masks += [np.eye(7, k=-1, dtype=bool) | np.eye(7, k=-3, dtype=bool) | np.eye(7, dtype=bool)]
    return [{"mask": mask} for mask in (*masks, sparse(6), sparse(8), sparse(9))]


def _changed(change):
    return lambda mask: change(path_lengths(mask))


def _distance(mask):
    places = np.arange(len(mask))
    return abs(places[:, None] - places)


def _one_step(mask):
    return np.where(np.eye(len(mask), dtype=bool), 0, np.where(mask, 1, -1))


def _search(mask, steps, *, overwrite=False, double=False):
    """Return the lengths by a search of so many steps, with its mistakes."""
    reads = mask | np.eye(len(mask), dtype=bool)
    heard = np.eye(len(mask), dtype=bool)
    lengths = np.where(heard, 0, -1)
    for step in range(1, steps + 1):
        heard = reads @ reads if double else reads @ heard
        if double:
            new, reads = reads & (lengths < 0), heard
        else:
            new = heard if overwrite else heard & (lengths < 0)
        lengths[new] = step
    return lengths


def _from_the_mask(mask):
    """Return the lengths by a search that takes nothing as known before the first step."""
    heard, lengths = mask, np.where(mask, 1, -1)
    for step in range(2, len(mask) + 1):
        heard = mask @ heard
        lengths[heard & (lengths < 0)] = step
    return lengths


MISCONCEPTIONS = (
    Misconception(
        "transposed",
        (lambda mask: path_lengths(mask.T),),
        {
            "es": "Sigues las flechas al revés. `mask[i, j]` dice que i lee a j, así que la "
            "información va de j a i: lo que oyó j pasa a i, `mask @ heard`.",
            "en": "You follow the arrows backwards. `mask[i, j]` says that i reads j, so the "
            "information goes from j to i: what j heard passes to i, `mask @ heard`.",
        },
    ),
    Misconception(
        "self_is_one_step",
        (_changed(lambda lengths: lengths + np.eye(len(lengths), dtype=int)),),
        {
            "es": "La diagonal vale 1: cuentas un paso para llegar a donde ya estás. Antes del "
            "primer paso cada posición tiene lo suyo: ahí va 0.",
            "en": "The diagonal is 1: you count a step to get where you already are. Before the "
            "first step each position has its own: put 0 there.",
        },
    ),
    Misconception(
        "way_back_home",
        (_from_the_mask, _changed(lambda lengths: np.where(lengths == 0, -1, lengths))),
        {
            "es": "Empiezas por la máscara y no por la identidad: en la diagonal queda la vuelta a "
            "casa, o −1. Lo suyo no viaja: parte de `np.eye(n)`, con 0 pasos.",
            "en": "You start from the mask and not from the identity: the diagonal is left with "
            "the way back home, or −1. One's own does not travel: begin at `np.eye(n)`, with 0 "
            "steps.",
        },
    ),
    Misconception(
        "distance",
        (_distance,),
        {
            "es": "Devuelves la distancia |i − j|. Solo coincide si cada posición lee a sus dos "
            "vecinas; con otras conexiones hay atajos o no hay camino: síguelas en `mask`.",
            "en": "You return the distance |i − j|. It agrees only if each position reads its two "
            "neighbours; with other connections there are shortcuts, or no way: follow them in "
            "`mask`.",
        },
    ),
    Misconception(
        "one_step_only",
        (_one_step,),
        {
            "es": "Solo das un paso: lo que no se lee directamente queda en −1. Con otro paso "
            "llega también lo que leyeron aquellas a quienes lees. Repite mientras llegue algo.",
            "en": "You take one step only: what is not read directly stays at −1. With another "
            "step, what those you read have read arrives too. Repeat while anything arrives.",
        },
    ),
    Misconception(
        "positions_counted",
        (_changed(lambda lengths: np.where(lengths < 0, -1, lengths + 1)),),
        {
            "es": "Sobra 1 en todo el camino: cuentas las posiciones por las que pasa, y no los "
            "pasos entre ellas. De una posición a la vecina hay uno, no dos.",
            "en": "Each path is 1 too long: you count the positions it goes through, and not the "
            "steps between them. From a position to its neighbour there is one, not two.",
        },
    ),
    Misconception(
        "stops_counted",
        (_changed(lambda lengths: np.maximum(lengths - 1, np.minimum(lengths, 0))),),
        {
            "es": "Falta 1 en cada camino: cuentas solo las posiciones que hay en medio. De una "
            "posición a la que lee directamente hay un paso, no cero.",
            "en": "Each path is 1 too short: you count only the positions in between. From a "
            "position to one that it reads directly there is one step, not zero.",
        },
    ),
    Misconception(
        "doubled",
        (lambda mask: _search(mask, len(mask), double=True),),
        {
            "es": "Multiplicas la matriz por sí misma, y cada vuelta dobla el número de pasos. Un "
            "paso más es una sola aplicación de `mask`: `mask @ heard`.",
            "en": "You multiply the matrix by itself, and each round doubles the number of steps. "
            "One more step is a single application of `mask`: `mask @ heard`.",
        },
    ),
    Misconception(
        "unreachable_is_zero",
        (_changed(lambda lengths: np.maximum(lengths, 0)),),
        {
            "es": "Donde no hay camino devuelves 0, que significa «ya está aquí». Con 0 no se "
            "distingue lo más cercano de lo inalcanzable: pon −1.",
            "en": "Where there is no way you return 0, which means “already here”. With 0 the "
            "nearest cannot be told from what is out of reach: put −1.",
        },
    ),
    Misconception(
        "unreachable_is_far",
        (
            _changed(lambda lengths: np.where(lengths < 0, len(lengths), lengths)),
            _changed(lambda lengths: np.where(lengths < 0, np.inf, lengths)),
        ),
        {
            "es": "Donde no hay camino devuelves n o infinito. Aquí lo que no llega nunca se marca "
            "con −1, para que la matriz siga siendo de enteros y n no parezca una longitud.",
            "en": "Where there is no way you return n or infinity. Here what never arrives is "
            "marked −1, so that the matrix stays one of integers and n does not pass for a length.",
        },
    ),
    Misconception(
        "ways_counted",
        (
            lambda mask: np.linalg.matrix_power(mask.astype(int), len(mask) - 1),
            lambda mask: np.linalg.matrix_power(mask.astype(int), 2),
        ),
        {
            "es": "Una potencia de la matriz de enteros cuenta cuántos caminos hay de esa "
            "longitud. Se pide el más corto: la primera potencia en la que hay alguno.",
            "en": "A power of the integer matrix counts how many paths of that length there are. "
            "The shortest is asked for: the first power in which there is any.",
        },
    ),
    Misconception(
        "both_ways",
        (lambda mask: path_lengths(mask | mask.T),),
        {
            "es": "Recorres cada conexión en los dos sentidos. Que i lea a j no hace que j lea a "
            "i: en una RNN, el final oye al principio y el principio no oye al final.",
            "en": "You follow each connection both ways. That i reads j does not make j read i: in "
            "an RNN the end hears the beginning, and the beginning never hears the end.",
        },
    ),
    Misconception(
        "last_step_kept",
        (lambda mask: _search(mask, len(mask) - 1, overwrite=True),),
        {
            "es": "Cada paso sobrescribe lo anotado por los anteriores, y queda el último en el "
            "que llega algo. Anota solo la primera vez, donde aún hay −1.",
            "en": "Each step overwrites what the ones before noted, and the last at which "
            "anything arrives remains. Note the first time only, where there still is −1.",
        },
    ),
    Misconception(
        "stopped_early",
        (lambda mask: _search(mask, len(mask) - 2),),
        {
            "es": "Te detienes un paso antes de tiempo. Entre n posiciones el camino más largo "
            "tiene n − 1 pasos: `range(1, n)`, no `range(1, n - 1)`.",
            "en": "You stop one step too soon. Among n positions the longest path has n − 1 "
            "steps: `range(1, n)`, not `range(1, n - 1)`.",
        },
    ),
    Misconception(
        "longest_only",
        (_changed(np.max),),
        {
            "es": "Devuelves un solo número, el camino más largo. Se pide la matriz entera: una "
            "longitud por cada par de posiciones.",
            "en": "You return a single number, the longest path. The whole matrix is asked for: "
            "one length for each pair of positions.",
        },
    ),
)

EXERCISE = Exercise(
    id="path_lengths",
    chapter=1,
    outputs=("lengths",),
    oracle=path_lengths,
    cases=cases,
    misconceptions=MISCONCEPTIONS,
)
