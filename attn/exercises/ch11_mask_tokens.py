"""Chapter 11, `mask_tokens`: what a masked language model reads and is asked for; and slips."""

import numpy as np

from attn.exercises.spec import Exercise, Misconception
from attn.reference import mask_tokens
from attn.reference.masking import CHOSEN, MASKED, N_SPECIAL, REPLACED


def cases(seed):
    """Return inputs: one sentence and batches, each with every fate that a token can have.

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
        others = N_SPECIAL + (tokens - N_SPECIAL + rng.integers(1, 4, shape)) % (vocab_size - 5)
        return {
            "tokens": tokens, "chance": chance, "dice": dice, "others": others,
            "mask_id": np.array(vocab_size - 1), "ignore_id": np.array(ignore_id),
        }  # fmt: skip

    shapes = ((1, 9, 20, -100), (2, 10, 30, -100), (3, 12, 40, -1), (4, 16, 60, -100))
    return [draw(*shape) for shape in shapes]


def _rule(
    chosen=lambda tokens, chance, dice: (chance < CHOSEN) & (tokens >= N_SPECIAL),
    hidden=lambda chance, dice: dice < MASKED,
    touched=lambda chance, dice: dice < MASKED + REPLACED,
    labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, tokens, ignore_id),
):
    """Return the right function, but for the parts that are given."""

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


def _random_everywhere(tokens, chance, dice, others, mask_id, ignore_id):
    inputs, labels = mask_tokens(tokens, chance, dice, others, mask_id, ignore_id)
    return np.where((dice >= MASKED) & (dice < MASKED + REPLACED), others, inputs), labels


def _everywhere(chance, dice):
    return np.ones(dice.shape, dtype=bool)


MISCONCEPTIONS = (
    Misconception(
        "special_chosen",
        (
            _rule(lambda tokens, chance, dice: chance < CHOSEN),
            _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens != 0)),
            _rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens > 1)),
        ),
        {
            "es": "También eliges tokens especiales. Adivinar un `<sos>` o un relleno no enseña "
            "nada, y son muchos en un lote: exige además `tokens >= 4`.",
            "en": "You also choose special tokens. Guessing a `<sos>` or padding teaches nothing, "
            "and a batch has many: ask for `tokens >= 4` as well.",
        },
    ),
    Misconception(
        "first_word_spared",
        (_rule(lambda tokens, chance, dice: (chance < CHOSEN) & (tokens > N_SPECIAL)),),
        {
            "es": "Nunca eliges el token 4, que es una palabra: los especiales van del 0 al 3. "
            "Escribe `>=` en vez de `>`.",
            "en": "You never choose token 4, which is a word: the special ones are 0 to 3. Write "
            "`>=` in place of `>`.",
        },
    ),
    Misconception(
        "always_hidden",
        (_rule(hidden=_everywhere, touched=_everywhere),),
        {
            "es": "Tapas todos los elegidos. Así el modelo solo se fija donde hay `[MASK]`, "
            "y al usarlo nunca lo habrá: cambia un décimo por otra palabra y deja un décimo "
            "como está. El destino de cada elegido lo dice `dice`, no `chance`.",
            "en": "You hide all the chosen ones. The model then attends only where there "
            "is a `[MASK]`, and in use there will be none: change a tenth to another word and "
            "leave a tenth as it is. The fate of each chosen one is in `dice`, not in `chance`.",
        },
    ),
    Misconception(
        "none_left",
        (_rule(touched=_everywhere),),
        {
            "es": "Cambias dos décimos y no dejas ninguno. De los elegidos, los que sacan 0.9 o más "
            "se leen como son, aunque también se preguntan.",
            "en": "You change two tenths and leave none. Of the chosen, those that draw 0.9 or more "
            "are read as they are, though they are asked for too.",
        },
    ),
    Misconception(
        "none_changed",
        (_rule(touched=lambda chance, dice: dice < MASKED),),
        {
            "es": "Nunca cambias una palabra por otra. Si después del 0.8 comparas con 0.1, esa "
            "rama no se alcanza: los límites se acumulan, 0.8 y 0.8 + 0.1.",
            "en": "You never change one word to another. If after 0.8 you compare with 0.1, that "
            "branch is never reached: the limits are cumulative, 0.8 and 0.8 + 0.1.",
        },
    ),
    Misconception(
        "hidden_and_changed_exchanged",
        (_exchanged,),
        {
            "es": "Intercambias dos casos: 8 de cada 10 elegidos deben quedar tapados y solo 1 "
            "convertirse en otra palabra. Al revés, el modelo lee casi siempre mentiras.",
            "en": "You exchange two cases: 8 in 10 of the chosen should be hidden and only 1 become "
            "another word. The other way round the model reads lies nearly all the time.",
        },
    ),
    Misconception(
        "chosen_by_dice",
        (_rule(lambda tokens, chance, dice: (dice < CHOSEN) & (tokens >= N_SPECIAL)),),
        {
            "es": "Eliges con `dice`. Entonces todo elegido tiene menos de 0.15, y nunca se cambia "
            "ni se deja ninguno: elige con `chance`.",
            "en": "You choose by `dice`. Every chosen one then has less than 0.15, and none is ever "
            "changed or left: choose by `chance`.",
        },
    ),
    Misconception(
        "others_chosen",
        (_rule(lambda tokens, chance, dice: (chance >= CHOSEN) & (tokens >= N_SPECIAL)),),
        {
            "es": "Eliges justo los demás, y quedaría tapado el 85 %: con tan poco contexto no hay "
            "quien adivine. Se eligen los que tienen `chance < 0.15`.",
            "en": "You choose exactly the rest, so that 85% would be hidden: with so little context "
            "nobody could guess. Chosen are those with `chance < 0.15`.",
        },
    ),
    Misconception(
        "all_chosen",
        (_rule(lambda tokens, chance, dice: tokens >= N_SPECIAL),),
        {
            "es": "Eliges todas las palabras: no miras `chance`, y 8 de cada 10 quedan tapadas. "
            "Primero se elige el 15 %; solo de esas se tapan 8 de cada 10.",
            "en": "You choose every word: you do not look at `chance`, and 8 in 10 are hidden. "
            "First 15% are chosen; only of those are 8 in 10 hidden.",
        },
    ),
    Misconception(
        "changed_without_being_chosen",
        (_random_everywhere,),
        {
            "es": "Cambias por otra palabra todo lo que saca de 0.8 a 0.9, elegido o no. A quien no "
            "fue elegido no le pasa nada: combina las dos condiciones con `&`.",
            "en": "You change to another word whatever draws from 0.8 to 0.9, chosen or not. "
            "Nothing happens to what was not chosen: join the two conditions with `&`.",
        },
    ),
    Misconception(
        "labels_everywhere",
        (_rule(labels=lambda tokens, chosen, inputs, ignore_id: tokens.copy()),),
        {
            "es": "Pides todos los tokens, también los que el modelo está leyendo. Copiarlos es "
            "fácil y se llevaría casi toda la pérdida: fuera de los elegidos va `ignore_id`.",
            "en": "You ask for every token, those the model is reading included. Copying them is "
            "easy and would make up nearly all of the loss: outside the chosen goes "
            "`ignore_id`.",
        },
    ),
    Misconception(
        "labels_only_where_changed",
        (
            _rule(
                labels=lambda tokens, chosen, inputs, ignore_id: np.where(
                    inputs != tokens, tokens, ignore_id
                )
            ),
        ),
        {
            "es": "Solo pides lo que cambió a la vista. También se preguntan los elegidos que "
            "quedaron como estaban: por ellos el modelo no puede fiarse de lo que lee.",
            "en": "You ask only for what changed to the eye. The chosen ones left as they were are "
            "asked for too: they are why the model cannot trust what it reads.",
        },
    ),
    Misconception(
        "labels_only_where_hidden",
        (
            lambda tokens, chance, dice, others, mask_id, ignore_id: (
                mask_tokens(tokens, chance, dice, others, mask_id, ignore_id)[0],
                np.where(
                    (chance < CHOSEN) & (tokens >= N_SPECIAL) & (dice < MASKED), tokens, ignore_id
                ),
            ),
        ),
        {
            "es": "Solo pides los tapados. Los que se cambiaron o se dejaron también fueron "
            "elegidos, y también se preguntan: la etiqueta depende de la elección, no de `dice`.",
            "en": "You ask only for the hidden ones. Those changed or left were chosen as well and "
            "are asked for as well: the label depends on the choice, not on `dice`.",
        },
    ),
    Misconception(
        "labels_from_inputs",
        (
            _rule(
                labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, inputs, ignore_id)
            ),
        ),
        {
            "es": "Las etiquetas salen de la entrada ya tapada, así que pides al modelo que escriba "
            "`[MASK]`. Se pide el token original: guárdalo antes de tapar.",
            "en": "The labels come from the input already hidden, so that you ask the model to "
            "write `[MASK]`. What is asked for is the original token: keep it before you hide.",
        },
    ),
    Misconception(
        "zero_ignored",
        (
            _rule(
                labels=lambda tokens, chosen, inputs, ignore_id: np.where(chosen, tokens, 0)
            ),
        ),
        {
            "es": "Marcas con 0 lo que no se pide, y 0 es un token: la pérdida lo contaría. Usa "
            "`ignore_id`, que no es ningún token.",
            "en": "You mark with 0 what is not asked for, and 0 is a token: the loss would count "
            "it. Use `ignore_id`, which is no token.",
        },
    ),
    Misconception(
        "answers_exchanged",
        (_swapped,),
        {
            "es": "Devuelves primero las etiquetas. Se pide `(inputs, labels)`: lo que el modelo "
            "lee y después lo que se le pregunta.",
            "en": "You return the labels first. Asked for is `(inputs, labels)`: what the model "
            "reads, then what it is asked.",
        },
    ),
)  # fmt: skip

EXERCISE = Exercise("mask_tokens", 11, ("inputs", "labels"), mask_tokens, cases, MISCONCEPTIONS)
