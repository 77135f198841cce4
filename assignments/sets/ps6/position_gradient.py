"""Problem set 6, `position_gradient`: what reaches each row of a learned table."""

import numpy as np

from attn_course.exercises.spec import Exercise


def position_gradient(gradient, positions, n_positions):
    """Return the gradient of a table whose rows were added to tokens; -1 marks padding."""
    chosen = positions[..., None] == np.arange(n_positions)
    return np.einsum("bnp,bnd->pd", chosen.astype(float), gradient)


def cases(seed):
    """Return gradients and positions: whole sentences, and padding wherever it may be.

    Parameters
    ----------
    seed : int
        Seed of the random numbers, and of the sizes of some inputs.

    Returns
    -------
    list of dict
        With the keys ``gradient``, ``positions`` and ``n_positions``.
    """
    rng = np.random.default_rng(seed)

    def draw(positions, d_model, n_positions):
        positions = np.array(positions)
        return {
            "gradient": rng.uniform(-1, 1, (*positions.shape, d_model)),
            "positions": positions,
            "n_positions": np.int64(n_positions),
        }

    return [
        draw([[0, 1], [0, 1], [1, 0]], 5, 2),
        draw([[0, 1, 2], [2, 0, 1]], 4, 3),
        draw([[0, 1, 2, 3], [3, 4, 5, 6]], 3, 9),
        draw([[0, 1, 0, 1, 2], [0, 1, 2, 0, 1]], 2, 3),
        draw([[0, 1, -1], [0, 1, 2]], 2, 3),
        draw([[-1, 0, 1, 2], [-1, -1, 0, 1], [0, 1, 2, 3]], 2, 4),
        draw([[-1, 0, 1, -1, 0], [0, 1, 2, 3, -1]], 3, 6),
        draw(rng.integers(5, size=rng.integers((2, 3), (4, 6))), 3, rng.integers(5, 8)),
    ]


def _scattered(combine=lambda rows: rows.sum(axis=0), position=lambda given: given):
    """Return the table when something else is done with the rows that meet."""

    def table(gradient, positions, n_positions):
        result = np.zeros((n_positions, gradient.shape[-1]))
        for row in range(n_positions):
            met = gradient[position(positions) == row]
            if len(met):
                result[row] = combine(met)
        return result

    return table


def _padding_at_the_end(gradient, positions, n_positions):
    return position_gradient(gradient, positions % n_positions, n_positions)


def _padding_dropped_with_its_sentence(gradient, positions, n_positions):
    whole = (positions >= 0).all(axis=1)
    return position_gradient(gradient[whole], positions[whole], n_positions)


def _by_place(gradient, positions, n_positions):
    place = np.broadcast_to(np.arange(positions.shape[1]), positions.shape)
    return position_gradient(gradient, place, n_positions)


def _by_place_without_padding(gradient, positions, n_positions):
    place = np.broadcast_to(np.arange(positions.shape[1]), positions.shape)
    return position_gradient(gradient, np.where(positions < 0, -1, place), n_positions)


def _as_long_as_needed(gradient, positions, n_positions):
    return position_gradient(gradient, positions, positions.max() + 1)


def _changed(change):
    return lambda gradient, positions, n_positions: change(
        position_gradient(gradient, positions, n_positions), positions
    )


def _one_sentence(gradient, positions, n_positions):
    return position_gradient(gradient[:1], positions[:1], n_positions)


def _each_sentence(gradient, positions, n_positions):
    chosen = positions[..., None] == np.arange(n_positions)
    return np.einsum("bnp,bnd->bpd", chosen.astype(float), gradient)


def _gathered(gradient, positions, n_positions):
    return gradient.sum(axis=0)[:n_positions]


MISTAKES = {
    "repeats_lost": (_scattered(lambda rows: rows[-1]),),
    "first_kept": (_scattered(lambda rows: rows[0]),),
    "mean": (_scattered(lambda rows: rows.mean(axis=0)),),
    "mean_over_the_batch": (_changed(lambda table, positions: table / len(positions)),),
    "padding_in_the_last_row": (_padding_at_the_end,),
    "padding_in_the_first_row": (_scattered(position=lambda positions: np.maximum(positions, 0)),),
    "sentence_dropped": (_padding_dropped_with_its_sentence,),
    "place_instead_of_position": (_by_place, _by_place_without_padding),
    "sum_over_sentences": (_gathered,),
    "shorter_table": (_as_long_as_needed,),
    "sign_of_the_step": (_changed(lambda table, positions: -table),),
    "first_sentence_only": (_one_sentence,),
    "one_table_each": (_each_sentence,),
    "transposed": (_changed(lambda table, positions: table.T.copy()),),
}

EXERCISE = Exercise.from_file(__file__, ("table_gradient",), position_gradient, cases, MISTAKES)
