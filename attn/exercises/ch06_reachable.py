"""Chapter 6, `reachable`: what an output depends on through several layers, and wrong answers."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import reachable


def cases(seed):
    """Return masks, each with a number of layers: chains, holes, dead rows and leaks.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``mask`` and ``n_layers``, the second an array without axes.
    """
    rng = np.random.default_rng(seed)

    def draw(mask, n_layers):
        return {"mask": mask, "n_layers": np.array(n_layers)}

    def chain(n):
        """Return a mask in which each position sees only one other, in a random order."""
        order = rng.permutation(n)
        mask = np.zeros((n, n), dtype=bool)
        mask[order[1:], order[:-1]] = True
        return mask

    window = np.eye(6, dtype=bool) | np.eye(6, k=-1, dtype=bool)
    leak = np.tri(5, dtype=bool)
    leak[rng.integers(0, 2), rng.integers(2, 5)] = True
    return [
        draw(chain(3), 2),
        draw(chain(4), 1),
        draw(chain(5), 2),
        draw(leak, 2),
        draw(window, 3),
        draw(chain(7), 3),
        draw(chain(7) | np.eye(7, dtype=bool), 4),
    ]


def _own(mask):
    return np.eye(len(mask), dtype=bool)


def _power(matrix, number):
    return np.linalg.matrix_power(matrix.astype(int), max(0, int(number))) > 0


def _layers(change):
    """Return the right answer for another number of layers."""
    return lambda mask, n: reachable(mask, max(0, int(change(int(n)))))


def _after(change):
    """Return the right answer, changed."""
    return lambda mask, n: change(reachable(mask, int(n)), mask)


def _without_identity(mask, n_layers):
    return np.any([_power(mask, layer) for layer in range(1, int(n_layers) + 1)], axis=0)


def _squares(fewer):
    """Return a mask squared in every layer but the first `fewer`."""

    def squares(mask, n_layers):
        reached = mask | _own(mask)
        for _ in range(int(n_layers) - fewer):
            reached = reached @ reached
        return reached

    return squares


def _from_the_mask(mask, n_layers):
    return mask @ _power(mask | _own(mask), n_layers)


MISCONCEPTIONS = (
    Misconception(
        "one_layer",
        (_layers(lambda n: 1), lambda mask, n: mask),
        {
            "es": "Devuelves lo que se ve en una sola capa. ¿Elevaste con `**`, que va casilla a "
            "casilla, o quitaste al final lo que la máscara prohíbe? Lo prohibido llega por otra "
            "posición: cada capa es otro producto, `@`.",
            "en": "You return what is seen in a single layer. Did you raise with `**`, which goes "
            "cell by cell, or remove at the end what the mask forbids? What is forbidden arrives "
            "by another position: each layer is one more product, `@`.",
        },
    ),
    Misconception(
        "no_residual",
        (_power,),
        {
            "es": "Falta la conexión residual: cada posición conserva su propio vector, aunque su "
            "máscara no la deje mirarse. Añade la diagonal en cada capa: "
            "`mask | np.eye(n, dtype=bool)`.",
            "en": "The residual connection is missing: each position keeps its own vector even if "
            "its mask does not let it look at itself. Include the diagonal in every layer: "
            "`mask | np.eye(n, dtype=bool)`.",
        },
    ),
    Misconception(
        "residual_at_the_end",
        (lambda mask, n: _power(mask, n) | _own(mask),),
        {
            "es": "Añades la diagonal después de multiplicar, y solo quedan los caminos de tantos "
            "pasos como capas. Con residual en *cada* capa un camino puede esperar en su sitio: "
            "añádela antes.",
            "en": "You put the diagonal in after multiplying, and only the paths with as many steps "
            "as layers remain. With a residual in *every* layer a path may wait where it is: put "
            "it in before.",
        },
    ),
    Misconception(
        "steps_without_waiting",
        (_without_identity,),
        {
            "es": "Juntas los caminos de 1, 2, ... pasos, pero no el de 0: que cada salida depende "
            "de su propia entrada por la conexión residual. La diagonal es True siempre.",
            "en": "You gather the paths of 1, 2, ... steps but not that of 0: each output depends "
            "on its own input through the residual connection. The diagonal is always True.",
        },
    ),
    Misconception(
        "numbers_of_paths",
        (
            lambda mask, n: np.linalg.matrix_power((mask | _own(mask)).astype(int), int(n)),
            lambda mask, n: np.linalg.matrix_power(mask + np.eye(len(mask)), int(n)),
            lambda mask, n: np.linalg.matrix_power(mask.astype(int), int(n)),
        ),
        {
            "es": "Cuentas por cuántos caminos llega, y se pregunta solo si llega. Compara con 0 al "
            "final, o multiplica matrices booleanas: con ellas `@` ya hace «existe algún camino».",
            "en": "You count by how many paths it arrives, and the question is only whether it "
            "does. Compare with 0 at the end, or multiply boolean matrices: with those, `@` "
            "already means “some path exists”.",
        },
    ),
    Misconception(
        "starts_from_the_mask",
        (_from_the_mask,),
        {
            "es": "Empiezas por la máscara sola, que ya es una capa y sin residual, y después "
            "multiplicas por todas. Empieza por la identidad: antes de la primera capa, cada "
            "posición tiene solo su propia entrada.",
            "en": "You start from the mask alone, which is already one layer and without a "
            "residual, and then multiply by all of them. Start from the identity: before the "
            "first layer each position holds only its own input.",
        },
    ),
    Misconception(
        "one_layer_too_many",
        (_layers(lambda n: n + 1),),
        {
            "es": "Hay una capa de más. Con `reached = mask | identidad` ya pasó la primera: "
            "multiplica una vez menos, o empieza por la identidad.",
            "en": "There is one layer too many. With `reached = mask | identity` the first is "
            "already behind you: multiply once less, or start from the identity.",
        },
    ),
    Misconception(
        "one_layer_too_few",
        (_layers(lambda n: n - 1),),
        {
            "es": "Hay una capa de menos: con una sola debería salir la máscara más la diagonal. Si "
            "empiezas por la identidad, multiplica una vez por cada capa.",
            "en": "There is one layer too few: with a single one the mask plus the diagonal should "
            "come out. If you start from the identity, multiply once for each layer.",
        },
    ),
    Misconception(
        "squared_each_time",
        (_squares(1), _squares(0)),
        {
            "es": "Multiplicas el resultado por sí mismo, y así cada vuelta duplica los pasos: 1, "
            "2, 4... Cada capa es un paso más: multiplica siempre por la matriz de una capa.",
            "en": "You multiply the result by itself, so each round doubles the steps: 1, 2, 4... "
            "Each layer is one step more: always multiply by the matrix of one layer.",
        },
    ),
    Misconception(
        "all_the_way",
        (_layers(lambda n: 20),),
        {
            "es": "Sigues los caminos hasta el final, como si hubiera capas sin límite. Con un "
            "número dado de capas un camino da como mucho ese número de pasos.",
            "en": "You follow the paths to the end, as if there were layers without limit. With a "
            "given number of layers a path takes that many steps at most.",
        },
    ),
    Misconception(
        "arrows_reversed",
        (_after(lambda reached, mask: reached.T),),
        {
            "es": "El resultado está traspuesto: dices a quién llega cada entrada. La fila i es la "
            "salida i, y sus True, las entradas de las que depende.",
            "en": "The result is transposed: you say whom each input reaches. Row i is output i, "
            "and its True cells the inputs it depends on.",
        },
    ),
    Misconception(
        "both_ways",
        (lambda mask, n: reachable(mask | mask.T, int(n)),),
        {
            "es": "Sigues las flechas en los dos sentidos. Que i mire a j no deja a j saber nada de "
            "i: la máscara no es simétrica, y es justo lo que la hace causal.",
            "en": "You follow the arrows both ways. That i looks at j tells j nothing of i: the "
            "mask is not symmetric, which is just what makes it causal.",
        },
    ),
    Misconception(
        "what_does_not_arrive",
        (_after(lambda reached, mask: ~reached),),
        {
            "es": "Marcas con True lo que no llega. True en la fila i, columna j, significa que la "
            "salida i depende de la entrada j.",
            "en": "You mark with True what does not arrive. True at row i, column j, means that "
            "output i depends on input j.",
        },
    ),
)

EXERCISE = Exercise("reachable", 6, ("mask",), reachable, cases, MISCONCEPTIONS)
