# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 11, written from their statements alone."""

import numpy as np


class mask_tokens:
    def right_where(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def right_loop(tokens, chance, dice, others, mask_id, ignore_id):
        inputs, labels = tokens.copy(), np.full(tokens.shape, ignore_id)
        for i in np.ndindex(tokens.shape):
            if chance[i] < 0.15 and tokens[i] > 3:
                labels[i] = tokens[i]
                if dice[i] < 0.8:
                    inputs[i] = mask_id
                elif dice[i] < 0.9:
                    inputs[i] = others[i]
        return inputs, labels

    def special_chosen_too(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = chance < 0.15
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def three_not_special(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 3)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def only_padding_special(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens != 0)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def four_special(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens > 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def always_masked(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        return np.where(chosen, mask_id, tokens), np.where(chosen, tokens, ignore_id)

    def labels_of_the_masked_only(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        inputs = np.where(chosen, new, tokens)
        return inputs, np.where(inputs == mask_id, tokens, ignore_id)

    def labels_of_the_changed_only(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        inputs = np.where(chosen, new, tokens)
        return inputs, np.where(inputs != tokens, tokens, ignore_id)

    def labels_everywhere(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), tokens

    def labels_of_the_inputs(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        inputs = np.where(chosen, new, tokens)
        return inputs, np.where(chosen, inputs, ignore_id)

    def labels_inverted(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, ignore_id, tokens)

    def chance_inverted(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance > 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def chance_included(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance <= 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def dice_included(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice <= 0.8, mask_id, np.where(dice <= 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def others_and_kept_exchanged(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, tokens, others))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def never_kept(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, others)
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def a_tenth_is_random_twice(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.1, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def second_condition_overwrites(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = tokens.copy()
        inputs[chosen & (dice < 0.8)] = mask_id
        inputs[chosen & (dice < 0.9)] = others[chosen & (dice < 0.9)]
        return inputs, np.where(chosen, tokens, ignore_id)

    def everyone_masked_by_the_dice(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return inputs, np.where(chosen, tokens, ignore_id)

    def labels_alias_in_place(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = tokens
        inputs[chosen & (dice < 0.8)] = mask_id
        swap = chosen & (dice >= 0.8) & (dice < 0.9)
        inputs[swap] = others[swap]
        return inputs, np.where(chosen, tokens, ignore_id)

    def python_and(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = chance < 0.15 and tokens >= 4
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def missing_parentheses(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = chance < 0.15 & tokens >= 4
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def swapped(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, tokens, ignore_id), np.where(chosen, new, tokens)

    def minus_100(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, -100)

    def flattened_labels(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), tokens[chosen]

    def fifteen_percent_as_15(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 15) & (tokens >= 4)
        new = np.where(dice < 80, mask_id, np.where(dice < 90, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def loop_in_one_axis(tokens, chance, dice, others, mask_id, ignore_id):
        inputs, labels = [], []
        for t, c, d, o in zip(tokens, chance, dice, others):
            if c < 0.15 and t > 3:
                inputs.append(mask_id if d < 0.8 else o if d < 0.9 else t)
                labels.append(t)
            else:
                inputs.append(t)
                labels.append(ignore_id)
        return np.array(inputs), np.array(labels)

    def labels_before_specials(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = chance < 0.15
        real = chosen & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(real, new, tokens), np.where(chosen, tokens, ignore_id)

    def floats(tokens, chance, dice, others, mask_id, ignore_id):
        inputs, labels = np.zeros(tokens.shape), np.zeros(tokens.shape)
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        inputs[...] = np.where(chosen, new, tokens)
        labels[...] = np.where(chosen, tokens, ignore_id)
        return inputs, labels

    def chance_as_dice(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(chance < 0.8, mask_id, np.where(chance < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    def only_inputs(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens)


class corrupt_spans:
    def downwards_without_the_last(tokens, hidden, first_sentinel):
        inputs, targets = [], []
        mark = first_sentinel + 1
        previous = False
        for t, h in zip(tokens.tolist(), hidden.tolist()):
            if h:
                if not previous:
                    mark -= 1
                    inputs.append(mark)
                    targets.append(mark)
                targets.append(t)
            else:
                inputs.append(t)
            previous = h
        return np.array(inputs), np.array(targets)

    def right_loop(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens.tolist(), hidden.tolist()):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def right_groups(tokens, hidden, first_sentinel):
        starts = hidden & ~np.concatenate([[False], hidden[:-1]])
        marks = first_sentinel + np.cumsum(starts) - 1
        inputs = np.where(starts, marks, tokens)[starts | ~hidden]
        targets = []
        for i in range(len(tokens)):
            if starts[i]:
                targets.append(marks[i])
            if hidden[i]:
                targets.append(tokens[i])
        targets.append(first_sentinel + starts.sum())
        return inputs, np.array(targets)

    def a_mark_for_each_token(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        for token, hide in zip(tokens, hidden):
            if hide:
                inputs.append(mark)
                targets += [mark, token]
                mark += 1
            else:
                inputs.append(token)
        return np.array(inputs), np.array([*targets, mark])

    def no_last_mark(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array(targets)

    def last_mark_repeated(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel - 1
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                mark += 1
                inputs.append(mark)
                targets.append(mark)
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def same_mark(tokens, hidden, first_sentinel):
        inputs, targets = [], []
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(first_sentinel)
                targets.append(first_sentinel)
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, first_sentinel])

    def mark_after_the_span(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        n = len(tokens)
        for i in range(n):
            if not hidden[i]:
                inputs.append(tokens[i])
                continue
            targets.append(tokens[i])
            if i + 1 == n or not hidden[i + 1]:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
        return np.array(inputs), np.array([*targets, mark])

    def marks_downwards(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark -= 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def starts_one_later(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                mark += 1
                inputs.append(mark)
                targets.append(mark)
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark + 1])

    def ends_with_the_first(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, first_sentinel])

    def last_mark_only_if_the_end_is_visible(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        if not before:
            targets.append(mark)
        return np.array(inputs), np.array(targets)

    def swapped(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array([*targets, mark]), np.array(inputs)

    def hidden_dropped_from_the_inputs(tokens, hidden, first_sentinel):
        targets, mark = [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                targets.append(mark)
                mark += 1
            if hide:
                targets.append(token)
            before = hide
        return tokens[~hidden], np.array([*targets, mark])

    def targets_without_marks(tokens, hidden, first_sentinel):
        inputs, mark = [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                mark += 1
            if not hide:
                inputs.append(token)
            before = hide
        return np.array(inputs), tokens[hidden]

    def replaced_in_place_of_tokens(tokens, hidden, first_sentinel):
        inputs = np.where(hidden, first_sentinel, tokens)
        return inputs, np.where(hidden, tokens, first_sentinel)

    def numbered_in_place(tokens, hidden, first_sentinel):
        inputs = tokens.copy()
        inputs[hidden] = first_sentinel + np.arange(hidden.sum())
        return inputs, np.append(tokens[hidden], first_sentinel + hidden.sum())

    def hidden_inverted(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, ~hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def forgets_the_state(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
                before = True
            (targets if hide else inputs).append(token)
        return np.array(inputs), np.array([*targets, mark])

    def compares_with_the_last_element(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        for i in range(len(tokens)):
            if hidden[i]:
                if not hidden[i - 1]:
                    inputs.append(mark)
                    targets.append(mark)
                    mark += 1
                targets.append(tokens[i])
            else:
                inputs.append(tokens[i])
        return np.array(inputs), np.array([*targets, mark])

    def compares_from_the_second(tokens, hidden, first_sentinel):
        inputs, targets, mark = [tokens[0]], [], first_sentinel
        for i in range(1, len(tokens)):
            if hidden[i]:
                if not hidden[i - 1]:
                    inputs.append(mark)
                    targets.append(mark)
                    mark += 1
                targets.append(tokens[i])
            else:
                inputs.append(tokens[i])
        return np.array(inputs), np.array([*targets, mark])

    def looks_past_the_end(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        i = 0
        while i < len(tokens):
            if hidden[i]:
                inputs.append(mark)
                targets.append(mark)
                while hidden[i]:
                    targets.append(tokens[i])
                    i += 1
                mark += 1
            else:
                inputs.append(tokens[i])
                i += 1
        return np.array(inputs), np.array([*targets, mark])

    def skips_the_token_after_a_span(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        i = 0
        while i < len(tokens):
            if hidden[i]:
                inputs.append(mark)
                targets.append(mark)
                while i < len(tokens) and hidden[i]:
                    targets.append(tokens[i])
                    i += 1
                mark += 1
            else:
                inputs.append(tokens[i])
            i += 1
        return np.array(inputs), np.array([*targets, mark])

    def only_the_first_token_of_a_span(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets += [mark, token]
                mark += 1
            if not hide:
                inputs.append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def marks_in_the_inputs_only_at_the_end(tokens, hidden, first_sentinel):
        starts = hidden & ~np.concatenate([[False], hidden[:-1]])
        marks = first_sentinel + np.arange(starts.sum())
        targets = []
        mark = first_sentinel
        for i in range(len(tokens)):
            if starts[i]:
                targets.append(mark)
                mark += 1
            if hidden[i]:
                targets.append(tokens[i])
        return np.concatenate([tokens[~hidden], marks]), np.array([*targets, mark])

    def floats(tokens, hidden, first_sentinel):
        inputs, targets = np.array([]), np.array([])
        mark, before = first_sentinel, False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs, targets = np.append(inputs, mark), np.append(targets, mark)
                mark += 1
            if hide:
                targets = np.append(targets, token)
            else:
                inputs = np.append(inputs, token)
            before = hide
        return inputs, np.append(targets, mark)

    def last_mark_in_the_inputs(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array([*inputs, mark]), np.array([*targets, mark])

    def visible_tokens_in_the_targets(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            targets.append(token)
            if not hide:
                inputs.append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    def numpy_append_forgotten(tokens, hidden, first_sentinel):
        inputs, targets = np.array([]), np.array([])
        for token, hide in zip(tokens, hidden):
            if hide:
                np.append(targets, token)
            else:
                np.append(inputs, token)
        return inputs, targets

    def array_append(tokens, hidden, first_sentinel):
        inputs, targets = np.array([]), np.array([])
        for token, hide in zip(tokens, hidden):
            (targets if hide else inputs).append(token)
        return inputs, targets

    def diff_shifted(tokens, hidden, first_sentinel):
        starts = np.diff(hidden)
        marks = first_sentinel + np.cumsum(starts)
        inputs = np.where(starts, marks, tokens)[~hidden]
        return inputs, np.append(tokens[hidden], first_sentinel + starts.sum())


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def _log_softmax(z):
    z = z - z.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


class contrastive_loss:
    def right_diag(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def right_logaddexp(images, texts, temperature):
        scores = np.einsum("id,jd->ij", _unit(images), _unit(texts)) / temperature
        n = len(scores)
        total = 0.0
        for i in range(n):
            total += np.logaddexp.reduce(scores[i]) + np.logaddexp.reduce(scores[:, i])
            total -= 2 * scores[i, i]
        return total / (2 * n)

    def not_normalised(images, texts, temperature):
        scores = images @ texts.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def only_images_normalised(images, texts, temperature):
        scores = _unit(images) @ texts.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def only_texts_normalised(images, texts, temperature):
        scores = images @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def rows_only(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        return -np.diag(_log_softmax(scores)).mean()

    def columns_only(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        return -np.diag(_log_softmax(scores.T)).mean()

    def sum_of_both(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean()

    def summed_over_the_batch(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).sum() / 2

    def multiplied_by_temperature(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T * temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def no_temperature(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def naive(images, texts, temperature):
        e = np.exp(_unit(images) @ _unit(texts).T / temperature)
        rows = np.log(np.diag(e) / e.sum(1))
        columns = np.log(np.diag(e) / e.sum(0))
        return -(rows + columns).mean() / 2

    def log_of_stable_softmax(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        a = np.exp(scores - scores.max(1, keepdims=True))
        b = np.exp(scores - scores.max(0))
        rows = np.log(np.diag(a) / a.sum(1))
        columns = np.log(np.diag(b) / b.sum(0))
        return -(rows + columns).mean() / 2

    def log_with_constant(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        a = np.exp(scores - scores.max(1, keepdims=True))
        b = np.exp(scores - scores.max(0))
        rows = np.log(np.diag(a) / a.sum(1) + 1e-9)
        columns = np.log(np.diag(b) / b.sum(0) + 1e-9)
        return -(rows + columns).mean() / 2

    def positive(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return (rows + columns).mean() / 2

    def whole_table(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        return -(_log_softmax(scores) + _log_softmax(scores.T)).mean() / 2

    def norm_of_the_batch(images, texts, temperature):
        scores = (images / np.linalg.norm(images)) @ (texts / np.linalg.norm(texts)).T
        scores = scores / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def norm_along_the_batch(images, texts, temperature):
        a = images / np.linalg.norm(images, axis=0)
        b = texts / np.linalg.norm(texts, axis=0)
        scores = a @ b.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def norm_without_keepdims(images, texts, temperature):
        a = images / np.linalg.norm(images, axis=1)
        b = texts / np.linalg.norm(texts, axis=1)
        scores = a @ b.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def in_place(images, texts, temperature):
        images /= np.linalg.norm(images, axis=1, keepdims=True)
        texts /= np.linalg.norm(texts, axis=1, keepdims=True)
        scores = images @ texts.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def squared_norm(images, texts, temperature):
        a = images / (images**2).sum(1, keepdims=True)
        b = texts / (texts**2).sum(1, keepdims=True)
        scores = a @ b.T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def negatives_only(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        n = len(scores)
        others = np.where(np.eye(n, dtype=bool), -np.inf, scores)
        rows = np.diag(scores) - np.logaddexp.reduce(others, axis=1)
        columns = np.diag(scores) - np.logaddexp.reduce(others, axis=0)
        return -(rows + columns).mean() / 2

    def pairs_only(images, texts, temperature):
        return -(_unit(images) * _unit(texts)).sum(-1).mean() / temperature

    def squared_distance(images, texts, temperature):
        return ((_unit(images) - _unit(texts)) ** 2).sum(-1).mean() / temperature

    def softmax_of_everything(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        z = scores - scores.max()
        logp = z - np.log(np.exp(z).sum())
        return -np.diag(logp).mean()

    def base_2(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2 / np.log(2)

    def one_for_each(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns) / 2

    def not_transposed(images, texts, temperature):
        scores = _unit(images) @ _unit(texts) / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def probability_not_logarithm(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        rows = np.diag(np.exp(_log_softmax(scores)))
        columns = np.diag(np.exp(_log_softmax(scores.T)))
        return 1 - (rows + columns).mean() / 2

    def first_row_only(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        return -(_log_softmax(scores)[0, 0] + _log_softmax(scores.T)[0, 0]) / 2

    def temperature_after(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2 / temperature

    def images_with_images(images, texts, temperature):
        scores = _unit(images) @ _unit(images).T / temperature
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2

    def same_axis_twice(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        z = scores - scores.max(1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(1, keepdims=True))
        return -(np.diag(logp) + np.diag(logp.T)).mean() / 2

    def clipped(images, texts, temperature):
        scores = np.clip(_unit(images) @ _unit(texts).T / temperature, -50, 50)
        rows, columns = np.diag(_log_softmax(scores)), np.diag(_log_softmax(scores.T))
        return -(rows + columns).mean() / 2


class merge_attention:
    def right_where(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def right_difference(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.fmax(peak_a, peak_b)
        with np.errstate(invalid="ignore"):
            a = np.where(np.isneginf(peak_a), 0.0, np.exp(peak_a - peak))
            b = np.where(np.isneginf(peak_b), 0.0, np.exp(peak_b - peak))
        return peak, total_a * a + total_b * b, output_a * a + output_b * b

    def nan_for_nothing(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def not_rescaled(peak_a, total_a, output_a, peak_b, total_b, output_b):
        return np.maximum(peak_a, peak_b), total_a + total_b, output_a + output_b

    def outputs_not_rescaled(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, output_a + output_b

    def totals_not_rescaled(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, total_a + total_b, a * output_a + b * output_b

    def divided(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        total = a * total_a + b * total_b
        return peak, total, (a * output_a + b * output_b) / np.where(total == 0, 1, total)

    def weighted_by_totals(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe) * total_a, np.exp(peak_b - safe) * total_b
        return peak, a + b, a * output_a + b * output_b

    def sign_reversed(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(safe - peak_a), np.exp(safe - peak_b)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def minimum(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.minimum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def np_max(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.max(peak_a, peak_b)
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def python_max(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = max(peak_a, peak_b)
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def unshifted(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a), np.exp(peak_b)
        total, output = a * total_a + b * total_b, a * output_a + b * output_b
        return peak, total / np.exp(peak), output / np.exp(peak)

    def without_shifting_back(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a), np.exp(peak_b)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def factors_exchanged(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, b * total_a + a * total_b, b * output_a + a * output_b

    def only_b_rescaled(peak_a, total_a, output_a, peak_b, total_b, output_b):
        safe = np.where(np.isinf(peak_a), 0, peak_a)
        b = np.exp(peak_b - safe)
        return np.maximum(peak_a, peak_b), total_a + b * total_b, output_a + b * output_b

    def larger_part_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
        a = peak_a >= peak_b
        return (
            np.maximum(peak_a, peak_b),
            np.where(a, total_a, total_b),
            np.where(a, output_a, output_b),
        )

    def means(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, (a * total_a + b * total_b) / 2, (a * output_a + b * output_b) / 2

    def sum_of_peaks(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = peak_a + peak_b
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def largest_of_everything(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a.max(), peak_b.max())
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak + 0 * total_a, a * total_a + b * total_b, a * output_a + b * output_b

    def wrong_order(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return a * output_a + b * output_b, a * total_a + b * total_b, peak

    def total_and_peak_exchanged(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return a * total_a + b * total_b, peak, a * output_a + b * output_b

    def only_output(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return a * output_a + b * output_b

    def nan_to_num_of_the_peak(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.nan_to_num(np.maximum(peak_a, peak_b))
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def safe_peak_returned(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        peak = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def whole_condition(peak_a, total_a, output_a, peak_b, total_b, output_b):
        if peak_a == -np.inf:
            return peak_b, total_b, output_b
        if peak_b == -np.inf:
            return peak_a, total_a, output_a
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a - peak), np.exp(peak_b - peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def concatenated(peak_a, total_a, output_a, peak_b, total_b, output_b):
        return (
            np.concatenate([peak_a, peak_b], -1),
            np.concatenate([total_a, total_b], -1),
            np.concatenate([output_a, output_b], -1),
        )

    def in_place(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        total_a *= a
        total_a += b * total_b
        output_a *= a
        output_a += b * output_b
        return peak, total_a, output_a

    def base_2(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = 2.0 ** (peak_a - safe), 2.0 ** (peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def logsumexp_peak(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.logaddexp(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    def first_axis_only(peak_a, total_a, output_a, peak_b, total_b, output_b):
        n = len(peak_a)
        peak, total, output = [], [], []
        for i in range(n):
            p = max(peak_a[i, 0], peak_b[i, 0])
            a, b = np.exp(peak_a[i] - p), np.exp(peak_b[i] - p)
            peak.append([p])
            total.append(a * total_a[i] + b * total_b[i])
            output.append(a * output_a[i] + b * output_b[i])
        return np.array(peak), np.array(total), np.array(output)

    def squeezed(peak_a, total_a, output_a, peak_b, total_b, output_b):
        pa, pb = peak_a[..., 0], peak_b[..., 0]
        peak = np.maximum(pa, pb)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(pa - safe), np.exp(pb - safe)
        total = a * total_a[..., 0] + b * total_b[..., 0]
        return peak, total, a[..., None] * output_a + b[..., None] * output_b

    def divided_by_the_peak(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a / peak), np.exp(peak_b / peak)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b
