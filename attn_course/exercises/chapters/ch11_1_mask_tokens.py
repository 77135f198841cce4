"""Chapter 11, `mask_tokens`: the inputs and targets of a masked language model; and mistakes."""

import numpy as np

from attn.reference import mask_tokens
from attn.reference.training import CHOSEN, MASKED, N_SPECIAL, REPLACED
from attn_course.exercises.spec import Exercise


def cases(seed):
    """Return inputs: one sentence and batches, each with every case that a token can be.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys ``tokens``, ``chance``, ``dice``, ``others``, ``mask_id``, ``ignore_id``.
    """
    rng = np.random.default_rng(seed)
    fates = np.array([0.05, 0.3, 0.85, 0.7, 0.95, 0.2])

    def draw(n_rows, n_words, vocab_size, ignore_id):
        words = rng.integers(N_SPECIAL + 1, vocab_size - 1, size=(n_rows, n_words))
        words[:, 2] = N_SPECIAL  # the first id that is a word
        tokens = np.pad(words, ((0, 0), (1, 2)))
        tokens[:, 0], tokens[:, n_words + 1] = 2, 3
        tokens[:, 5] = 1  # an unknown word
        shape = tokens.shape
        chance = np.where(rng.random(shape) < 0.6, 0.149, 0.99) * rng.uniform(0.3, 1.0, shape)
        chance[:, :8] = 0.01 * rng.uniform(0.1, 1.0, (n_rows, 8))
        chance[:, 8] = 0.9
        dice = rng.uniform(0.0, 1.0, shape)
        dice[:, [1, 2, 3, 4, 6, 7]] = fates
        dice[:, [0, 5, n_words + 1, n_words + 2]] = 0.4
        # Values equal to the thresholds, which do not count as below them.
        chance[:, 9], dice[:, [4, 7]] = CHOSEN, (MASKED, MASKED + REPLACED)
        others = N_SPECIAL + (tokens - N_SPECIAL + rng.integers(1, 4, shape)) % (vocab_size - 5)
        return {
            "tokens": tokens,
            "chance": chance,
            "dice": dice,
            "others": others,
            "mask_id": np.array(vocab_size - 1),
            "ignore_id": np.array(ignore_id),
        }

    shapes = ((1, 9, 20, -100), (2, 10, 30, -100), (3, 12, 40, -1), (4, 16, 60, -100))
    return [draw(*shape) for shape in shapes]


def _rule(
    chosen=lambda tokens, chance, dice: (chance < CHOSEN) & (tokens >= N_SPECIAL),
    hidden=lambda chance, dice: dice < MASKED,
    touched=lambda chance, dice: dice < MASKED + REPLACED,
    labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, tokens, ignore_id),
):
    """Return the right function with the given parts replaced."""

    def function(tokens, chance, dice, others, mask_id, ignore_id):
        asked = chosen(tokens, chance, dice)
        changed = np.where(hidden(chance, dice), mask_id, others)
        inputs = np.where(asked & touched(chance, dice), changed, tokens)
        return inputs, labels(tokens, asked, inputs, ignore_id)

    return function


def _swapped(*arguments):
    inputs, labels = mask_tokens(*arguments)
    return labels, inputs


def _exchanged(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    changed = np.where(dice < MASKED, others, mask_id)
    inputs = np.where(asked & (dice < MASKED + REPLACED), changed, tokens)
    return inputs, np.where(asked, tokens, ignore_id)


def _shares_exchanged(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    changed = np.where(dice < REPLACED, mask_id, others)
    inputs = np.where(asked & (dice < MASKED + REPLACED), changed, tokens)
    return inputs, np.where(asked, tokens, ignore_id)


def _random_everywhere(tokens, chance, dice, others, mask_id, ignore_id):
    inputs, labels = mask_tokens(tokens, chance, dice, others, mask_id, ignore_id)
    return np.where((dice >= MASKED) & (dice < MASKED + REPLACED), others, inputs), labels


def _everywhere(chance, dice):
    return np.ones(dice.shape, dtype=bool)


def _on_the_border(chance=np.less, dice=np.less):
    return _rule(
        lambda tokens, c, d: chance(c, CHOSEN) & (tokens >= N_SPECIAL),
        lambda c, d: dice(d, MASKED),
        lambda c, d: dice(d, MASKED + REPLACED),
    )


def _kept_and_changed_exchanged(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    rest = np.where(dice < MASKED + REPLACED, tokens, others)
    inputs = np.where(asked, np.where(dice < MASKED, mask_id, rest), tokens)
    return inputs, np.where(asked, tokens, ignore_id)


def _changed_twice(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    inputs = np.where(asked & (dice < MASKED + REPLACED), others, tokens)
    return inputs, np.where(asked, tokens, ignore_id)


def _dice_alone(tokens, chance, dice, others, mask_id, ignore_id):
    asked = (chance < CHOSEN) & (tokens >= N_SPECIAL)
    inputs = np.where(dice < MASKED, mask_id, np.where(dice < MASKED + REPLACED, others, tokens))
    return inputs, np.where(asked, tokens, ignore_id)


def _special_asked_for(tokens, chance, dice, others, mask_id, ignore_id):
    inputs, _ = mask_tokens(tokens, chance, dice, others, mask_id, ignore_id)
    return inputs, np.where(chance < CHOSEN, tokens, ignore_id)


MISTAKES = {
    "special_chosen": (
        _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens >= N_SPECIAL - 1)),
        _rule(lambda tokens, chance, dice: chance < CHOSEN),
        _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens != 0)),
        _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens > 1)),
    ),
    "first_word_spared": (
        _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens > N_SPECIAL)),
    ),
    "always_hidden": (_rule(hidden=_everywhere, touched=_everywhere),),
    "none_left": (_rule(touched=_everywhere),),
    "none_changed": (_rule(touched=lambda chance, dice: dice < MASKED),),
    "hidden_and_changed_exchanged": (_exchanged, _shares_exchanged),
    "chosen_by_dice": (
        _rule(lambda tokens, chance, dice: (dice < CHOSEN) & (tokens >= N_SPECIAL)),
    ),
    "others_chosen": (
        _rule(lambda tokens, chance, dice: (chance > CHOSEN) & (tokens >= N_SPECIAL)),
        _rule(lambda tokens, chance, dice: (chance >= CHOSEN) & (tokens >= N_SPECIAL)),
    ),
    "all_chosen": (_rule(lambda tokens, chance, dice: tokens >= N_SPECIAL),),
    "changed_without_being_chosen": (_random_everywhere,),
    "labels_everywhere": (_rule(labels=lambda tokens, chosen, inputs, ignore_id: tokens.copy()),),
    "labels_only_where_changed": (
        _rule(
            labels=lambda tokens, chosen, inputs, ignore_id: np.where(
                inputs != tokens, tokens, ignore_id
            )
        ),
    ),
    "labels_only_where_hidden": (
        lambda tokens, chance, dice, others, mask_id, ignore_id: (
            mask_tokens(tokens, chance, dice, others, mask_id, ignore_id)[0],
            np.where(
                (chance < CHOSEN) & (tokens >= N_SPECIAL) & (dice < MASKED), tokens, ignore_id
            ),
        ),
    ),
    "labels_from_inputs": (
        _rule(labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, inputs, ignore_id)),
    ),
    "zero_ignored": (
        _rule(labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, tokens, 0)),
    ),
    "answers_exchanged": (_swapped,),
    "border_included": (
        _on_the_border(chance=np.less_equal),
        _on_the_border(dice=np.less_equal),
        _on_the_border(np.less_equal, np.less_equal),
    ),
    "kept_and_changed_exchanged": (_kept_and_changed_exchanged,),
    "changed_over_hidden": (_changed_twice,),
    "dice_alone": (_dice_alone,),
    "labels_inverted": (
        _rule(labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, ignore_id, tokens)),
    ),
    "ignore_id_fixed": (
        _rule(labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, tokens, -100)),
    ),
    "special_asked_for": (_special_asked_for,),
}

EXERCISE = Exercise.from_file(__file__, ("inputs", "labels"), mask_tokens, cases, MISTAKES)
