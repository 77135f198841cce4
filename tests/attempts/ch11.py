# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 11, written from their statements alone."""

import numpy as np


class mask_tokens:
    def right_where(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id)

    right_where.slips = """
    special_chosen_too: (chance < 0.15) & (tokens >= 4) ==> chance < 0.15
    three_not_special: tokens >= 4 ==> tokens >= 3
    only_padding_special: tokens >= 4 ==> tokens != 0
    four_special: tokens >= 4 ==> tokens > 4
    labels_everywhere: np.where(chosen, tokens, ignore_id) ==> tokens
    labels_inverted: np.where(chosen, tokens, ignore_id) ==> np.where(chosen, ignore_id, tokens)
    chance_inverted: chance < 0.15 ==> chance > 0.15
    chance_included: chance < 0.15 ==> chance <= 0.15
    dice_included: dice < ==> dice <=
    others_and_kept_exchanged: np.where(dice < 0.9, others, tokens) ==> np.where(dice < 0.9, tokens, others)
    never_kept: np.where(dice < 0.9, others, tokens) ==> others
    a_tenth_is_random_twice: dice < 0.9 ==> dice < 0.1
    everyone_masked_by_the_dice: new = ==> inputs = && np.where(chosen, new, tokens) ==> inputs
    python_and: (chance < 0.15) & (tokens >= 4) ==> chance < 0.15 and tokens >= 4
    missing_parentheses: (chance < 0.15) & (tokens >= 4) ==> chance < 0.15 & tokens >= 4
    shares_exchanged: dice < 0.8 ==> dice < 0.1
    minus_100: np.where(chosen, tokens, ignore_id) ==> np.where(chosen, tokens, -100)
    flattened_labels: np.where(chosen, tokens, ignore_id) ==> tokens[chosen]
    fifteen_percent_as_15: chance < 0.15 ==> chance < 15 && dice < 0.8 ==> dice < 80 && dice < 0.9 ==> dice < 90
    chance_as_dice: dice < 0.8 ==> chance < 0.8 && dice < 0.9 ==> chance < 0.9
    only_inputs: np.where(chosen, new, tokens), np.where(chosen, tokens, ignore_id) ==> np.where(chosen, new, tokens)
    """

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

    def always_masked(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        return np.where(chosen, mask_id, tokens), np.where(chosen, tokens, ignore_id)

    def labels_of_the_masked_only(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        inputs = np.where(chosen, new, tokens)
        return inputs, np.where(inputs == mask_id, tokens, ignore_id)

    labels_of_the_masked_only.slips = """
    labels_of_the_changed_only: inputs == mask_id ==> inputs != tokens
    labels_of_the_inputs: np.where(inputs == mask_id, tokens, ignore_id) ==> np.where(chosen, inputs, ignore_id)
    """

    def second_condition_overwrites(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = tokens.copy()
        inputs[chosen & (dice < 0.8)] = mask_id
        inputs[chosen & (dice < 0.9)] = others[chosen & (dice < 0.9)]
        return inputs, np.where(chosen, tokens, ignore_id)

    def labels_alias_in_place(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        inputs = tokens
        inputs[chosen & (dice < 0.8)] = mask_id
        swap = chosen & (dice >= 0.8) & (dice < 0.9)
        inputs[swap] = others[swap]
        return inputs, np.where(chosen, tokens, ignore_id)

    def swapped(tokens, chance, dice, others, mask_id, ignore_id):
        chosen = (chance < 0.15) & (tokens >= 4)
        new = np.where(dice < 0.8, mask_id, np.where(dice < 0.9, others, tokens))
        return np.where(chosen, tokens, ignore_id), np.where(chosen, new, tokens)

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

    def right_plain(tokens, hidden, first_sentinel):
        inputs, targets, mark = [], [], first_sentinel
        before = False
        for token, hide in zip(tokens, hidden):
            if hide and not before:
                inputs.append(mark)
                targets.append(mark)
                mark += 1
            (targets if hide else inputs).append(token)
            before = hide
        return np.array(inputs), np.array([*targets, mark])

    right_plain.slips = r"""
    marks_downwards: mark += 1 ==> mark -= 1
    ends_with_the_first: [*targets, mark] ==> [*targets, first_sentinel]
    no_last_mark: [*targets, mark] ==> targets
    swapped: np.array(inputs), np.array([*targets, mark]) ==> np.array([*targets, mark]), np.array(inputs)
    last_mark_only_if_the_end_is_visible: return ==> if not before:\n        targets.append(mark)\n    return && [*targets, mark] ==> targets
    hidden_inverted: zip(tokens, hidden) ==> zip(tokens, ~hidden)
    last_mark_in_the_inputs: np.array(inputs) ==> np.array([*inputs, mark])
    forgets_the_state: mark += 1 ==> mark += 1\n            before = True && \n        before = hide ==>
    """

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

    last_mark_repeated.slips = """
    starts_one_later: first_sentinel - 1 ==> first_sentinel && [*targets, mark] ==> [*targets, mark + 1]
    """

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

    compares_from_the_second.slips = """
    compares_with_the_last_element: [tokens[0]] ==> [] && range(1, len(tokens)) ==> range(len(tokens))
    """

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

    skips_the_token_after_a_span.slips = r"""
    looks_past_the_end: i < len(tokens) and hidden ==> hidden && \n        i += ==> \n            i +=
    """

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

    visible_tokens_in_the_targets.slips = r"""
    only_the_first_token_of_a_span: targets.append(mark) ==> targets += [mark, token] && \n        targets.append(token) ==>
    """

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

    right_diag.slips = """
    not_normalised: _unit(images) @ _unit(texts).T ==> images @ texts.T
    only_images_normalised: _unit(texts).T ==> texts.T
    only_texts_normalised: _unit(images) ==> images
    sum_of_both: -(rows + columns).mean() / 2 ==> -(rows + columns).mean()
    summed_over_the_batch: -(rows + columns).mean() ==> -(rows + columns).sum()
    multiplied_by_temperature: _unit(images) @ _unit(texts).T / temperature ==> _unit(images) @ _unit(texts).T * temperature
    no_temperature: _unit(images) @ _unit(texts).T / temperature ==> _unit(images) @ _unit(texts).T
    positive: -(rows + columns).mean() ==> (rows + columns).mean()
    base_2: -(rows + columns).mean() / 2 ==> -(rows + columns).mean() / 2 / np.log(2)
    one_for_each: -(rows + columns).mean() ==> -(rows + columns)
    not_transposed: _unit(texts).T ==> _unit(texts)
    images_with_images: _unit(texts).T ==> _unit(images).T
    clipped: _unit(images) @ _unit(texts).T / temperature ==> np.clip(_unit(images) @ _unit(texts).T / temperature, -50, 50)
    """

    def right_logaddexp(images, texts, temperature):
        scores = np.einsum("id,jd->ij", _unit(images), _unit(texts)) / temperature
        n = len(scores)
        total = 0.0
        for i in range(n):
            total += np.logaddexp.reduce(scores[i]) + np.logaddexp.reduce(scores[:, i])
            total -= 2 * scores[i, i]
        return total / (2 * n)

    def rows_only(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        return -np.diag(_log_softmax(scores)).mean()

    rows_only.slips = """
    columns_only: _log_softmax(scores) ==> _log_softmax(scores.T)
    whole_table: -np.diag(_log_softmax(scores)).mean() ==> -(_log_softmax(scores) + _log_softmax(scores.T)).mean() / 2
    """

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

    def same_axis_twice(images, texts, temperature):
        scores = _unit(images) @ _unit(texts).T / temperature
        z = scores - scores.max(1, keepdims=True)
        logp = z - np.log(np.exp(z).sum(1, keepdims=True))
        return -(np.diag(logp) + np.diag(logp.T)).mean() / 2


class merge_attention:
    def right_where(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return peak, a * total_a + b * total_b, a * output_a + b * output_b

    right_where.slips = r"""
    outputs_not_rescaled: a * output_a + b * output_b ==> output_a + output_b
    totals_not_rescaled: a * total_a + b * total_b ==> total_a + total_b
    sign_reversed: peak_a - safe ==> safe - peak_a && peak_b - safe ==> safe - peak_b
    minimum: np.maximum ==> np.minimum
    sum_of_peaks: np.maximum(peak_a, peak_b) ==> peak_a + peak_b
    wrong_order: peak, ==> a * output_a + b * output_b, && a * output_a + b * output_b\n ==> peak\n
    safe_peak_returned: safe ==> peak
    base_2: np.exp(peak_a - safe), np.exp(peak_b - safe) ==> 2.0 ** (peak_a - safe), 2.0 ** (peak_b - safe)
    logsumexp_peak: np.maximum ==> np.logaddexp
    """

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

    nan_for_nothing.slips = """
    np_max: np.maximum ==> np.max
    python_max: np.maximum ==> max
    without_shifting_back: peak_a - peak ==> peak_a && peak_b - peak ==> peak_b
    largest_of_everything: peak_a, peak_b ==> peak_a.max(), peak_b.max() && peak, ==> peak + 0 * total_a,
    nan_to_num_of_the_peak: np.maximum(peak_a, peak_b) ==> np.nan_to_num(np.maximum(peak_a, peak_b))
    divided_by_the_peak: peak_a - peak ==> peak_a / peak && peak_b - peak ==> peak_b / peak
    """

    def not_rescaled(peak_a, total_a, output_a, peak_b, total_b, output_b):
        return np.maximum(peak_a, peak_b), total_a + total_b, output_a + output_b

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

    def unshifted(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        a, b = np.exp(peak_a), np.exp(peak_b)
        total, output = a * total_a + b * total_b, a * output_a + b * output_b
        return peak, total / np.exp(peak), output / np.exp(peak)

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

    def only_output(peak_a, total_a, output_a, peak_b, total_b, output_b):
        peak = np.maximum(peak_a, peak_b)
        safe = np.where(np.isinf(peak), 0, peak)
        a, b = np.exp(peak_a - safe), np.exp(peak_b - safe)
        return a * output_a + b * output_b

    only_output.slips = """
    factors_exchanged: a * output_a + b * output_b ==> peak, b * total_a + a * total_b, b * output_a + a * output_b
    means: a * output_a + b * output_b ==> peak, (a * total_a + b * total_b) / 2, (a * output_a + b * output_b) / 2
    total_and_peak_exchanged: a * output_a + b * output_b ==> a * total_a + b * total_b, peak, a * output_a + b * output_b
    """

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
