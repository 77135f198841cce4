# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 08, written from their statements alone."""

import math

import numpy as np


class teacher_forcing:
    def end_read_and_one_too_early(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        lengths = (tokens != pad_id).sum(axis=1)
        targets = np.full((b, n + 1), pad_id)
        targets[:, :n] = tokens
        targets[np.arange(b), lengths - 1] = eos_id
        inputs = np.full((b, n + 1), sos_id)
        inputs[:, 1:] = targets[:, :-1]
        return inputs, targets

    def start_asked_for_besides(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        inputs = np.full((b, n + 1), pad_id)
        inputs[:, 0] = sos_id
        inputs[:, 1:] = tokens
        lengths = (tokens != pad_id).sum(axis=1)
        targets = np.full((b, n + 2), pad_id)
        targets[:, :-1] = inputs
        targets[np.arange(b), lengths + 1] = eos_id
        return inputs, targets

    def right_loop(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        inputs = np.full((b, n + 1), pad_id)
        targets = np.full((b, n + 1), pad_id)
        for i, row in enumerate(tokens):
            words = row[row != pad_id]
            inputs[i, : len(words) + 1] = [sos_id, *words]
            targets[i, : len(words) + 1] = [*words, eos_id]
        return inputs, targets

    def right_lengths(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        lengths = (tokens != pad_id).sum(1)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens])
        targets = np.pad(tokens, ((0, 0), (0, 1)), constant_values=pad_id)
        targets[np.arange(b), lengths] = eos_id
        return inputs, targets

    def eos_in_the_inputs(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        lengths = (tokens != pad_id).sum(1)
        targets = np.hstack([tokens, np.full((b, 1), pad_id)])
        targets[np.arange(b), lengths] = eos_id
        whole = np.hstack([np.full((b, 1), sos_id), targets])
        return whole[:, :-1], whole[:, 1:]

    eos_in_the_inputs.slips = """
    both_marks_in_both: whole[:, :-1], whole[:, 1:] ==> whole, whole
    """

    def right_plain(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        lengths = (tokens != pad_id).sum(1)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens])
        targets = np.hstack([tokens, np.full((b, 1), pad_id)])
        targets[np.arange(b), lengths] = eos_id
        return inputs, targets

    right_plain.slips = r"""
    eos_overwrites_the_last_word: np.arange(b), lengths ==> np.arange(b), lengths - 1
    swapped: inputs, targets ==> targets, inputs
    last_word_not_read: return inputs ==> inputs[:, 1:][targets[:, 1:] == eos_id] = pad_id\n    return inputs
    eos_one_too_late: b = len(tokens) ==> b, n = tokens.shape && np.arange(b), lengths ==> np.arange(b), np.minimum(lengths + 1, n)
    every_padding_is_eos: \n    lengths = (tokens != pad_id).sum(1) ==> && np.arange(b), lengths ==> targets == pad_id
    first_padding_of_argmax: \n    lengths = (tokens != pad_id).sum(1) ==> && np.arange(b), lengths ==> np.arange(b), (tokens == pad_id).argmax(1)
    """

    def inputs_without_sos(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        lengths = (tokens != pad_id).sum(1)
        targets = np.hstack([tokens, np.full((b, 1), pad_id)])
        inputs = targets.copy()
        targets[np.arange(b), lengths] = eos_id
        return inputs, targets

    def too_short(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens[:, :-1]])
        return inputs, tokens

    too_short.slips = """
    eos_at_the_end: tokens[:, :-1] ==> tokens && inputs, tokens ==> inputs, np.hstack([tokens, np.full((b, 1), eos_id)])
    no_eos: tokens[:, :-1] ==> tokens && inputs, tokens ==> inputs, np.hstack([tokens, np.full((b, 1), pad_id)])
    targets_not_shifted: tokens[:, :-1] ==> tokens && inputs, tokens ==> inputs, inputs
    """

    def pad_is_zero(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        lengths = (tokens != 0).sum(1)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens])
        targets = np.zeros((b, n + 1), dtype=int)
        targets[:, :-1] = tokens
        targets[np.arange(b), lengths] = eos_id
        return inputs, targets

    def floats(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        inputs = np.ones((b, n + 1)) * pad_id
        targets = np.ones((b, n + 1)) * pad_id
        inputs[:, 0] = sos_id
        inputs[:, 1:] = tokens
        targets[:, :-1] = tokens
        targets[np.arange(b), (tokens != pad_id).sum(1)] = eos_id
        return inputs, targets

    def floats_with_halves(tokens, sos_id, eos_id, pad_id):
        b, n = tokens.shape
        inputs, targets = np.empty((b, n + 1)), np.empty((b, n + 1))
        inputs[:, 0], inputs[:, 1:] = sos_id, tokens
        targets[:, :-1], targets[:, -1] = tokens, eos_id
        return inputs, targets

    def concatenates_numbers(tokens, sos_id, eos_id, pad_id):
        inputs = np.concatenate([sos_id, tokens])
        targets = np.concatenate([tokens, eos_id])
        return inputs, targets

    def appended_flat(tokens, sos_id, eos_id, pad_id):
        return np.append(sos_id, tokens), np.append(tokens, eos_id)

    def inserted_in_rows(tokens, sos_id, eos_id, pad_id):
        inputs = np.vstack([np.full(tokens.shape[1], sos_id), tokens])
        targets = np.vstack([tokens, np.full(tokens.shape[1], eos_id)])
        return inputs, targets

    def ragged(tokens, sos_id, eos_id, pad_id):
        words = [[t for t in row if t != pad_id] for row in tokens.tolist()]
        return [[sos_id, *row] for row in words], [[*row, eos_id] for row in words]

    def rolled(tokens, sos_id, eos_id, pad_id):
        whole = np.hstack([np.full((len(tokens), 1), sos_id), tokens])
        targets = np.roll(whole, -1, axis=1)
        targets[:, -1] = eos_id
        return whole, targets

    def writes_into_tokens(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens])
        for row in tokens:
            if pad_id in row:
                row[list(row).index(pad_id)] = eos_id
        targets = np.hstack([tokens, np.full((b, 1), pad_id)])
        full = (tokens != pad_id).all(1) & (tokens != eos_id).all(1)
        targets[full, -1] = eos_id
        return inputs, targets

    def length_of_the_first_row(tokens, sos_id, eos_id, pad_id):
        b = len(tokens)
        inputs = np.hstack([np.full((b, 1), sos_id), tokens])
        targets = np.hstack([tokens, np.full((b, 1), pad_id)])
        targets[:, (tokens[0] != pad_id).sum()] = eos_id
        return inputs, targets

    def index_without_rows(tokens, sos_id, eos_id, pad_id):
        inputs = np.hstack([np.full((len(tokens), 1), sos_id), tokens])
        targets = np.hstack([tokens, np.full((len(tokens), 1), pad_id)])
        targets[:, (tokens != pad_id).sum(1)] = eos_id
        return inputs, targets


def _log_softmax(z):
    z = z - z.max(-1, keepdims=True)
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


class smoothed_cross_entropy:
    def sum_with_more_than_one_asked_for(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        total = 0.0
        for place in np.ndindex(targets.shape):
            if targets[place] != pad_id:
                total += -logp[place][targets[place]] - smoothing * logp[place].mean()
        return total

    def right_gather(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * right - smoothing * logp.mean(-1)
        return loss[targets != pad_id].mean()

    right_gather.slips = r"""
    divided_by_all: loss[targets != pad_id] ==> (loss * (targets != pad_id))
    summed: loss[targets != pad_id].mean() ==> loss[targets != pad_id].sum()
    sum_over_the_vocabulary: logp.mean ==> logp.sum
    one_not_reduced: -(1 - smoothing) * right ==> -right
    base_2: _log_softmax(logits) ==> _log_softmax(logits) / np.log(2)
    loss_of_each: loss = ==> return && \n    return loss[targets != pad_id].mean() ==>
    losses_of_real: loss[targets != pad_id].mean() ==> loss[targets != pad_id]
    indexes_wrong: np.take_along_axis(logp, targets[..., None], -1)[..., 0] ==> logp[..., targets]
    pad_zero: targets != pad_id ==> targets != 0
    only_padding: targets != pad_id ==> targets == pad_id
    log_of_the_mean: loss = ==> mean = np.log(np.exp(logp).mean(-1))\n    loss = && logp.mean(-1) ==> mean
    whole_maximum: logp = _log_softmax(logits) ==> z = logits - logits.max()\n    logp = z - np.log(np.exp(z).sum())
    """

    def logits_not_normalised(logits, targets, pad_id, smoothing):
        right = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * right - smoothing * logits.mean(-1)
        return loss[targets != pad_id].mean()

    def right_distribution(logits, targets, pad_id, smoothing):
        v = logits.shape[-1]
        top = logits.max(-1, keepdims=True)
        logp = logits - top - np.log(np.exp(logits - top).sum(-1, keepdims=True))
        wanted = (1 - smoothing) * np.eye(v)[targets] + smoothing / v
        keep = (targets != pad_id).astype(float)
        return float(-(wanted * logp).sum(-1).ravel() @ keep.ravel() / keep.sum())

    def naive_log(logits, targets, pad_id, smoothing):
        p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        logp = np.log(p)
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * right - smoothing * logp.mean(-1)
        return loss[targets != pad_id].mean()

    def log_of_stable_softmax(logits, targets, pad_id, smoothing):
        e = np.exp(logits - logits.max(-1, keepdims=True))
        logp = np.log(e / e.sum(-1, keepdims=True))
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * right - smoothing * logp.mean(-1)
        return loss[targets != pad_id].mean()

    log_of_stable_softmax.slips = """
    log_with_constant: e / e.sum(-1, keepdims=True) ==> e / e.sum(-1, keepdims=True) + 1e-9
    """

    def no_smoothing(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        return -right[targets != pad_id].mean()

    no_smoothing.slips = r"""
    padding_counted: -right[targets != pad_id].mean() ==> (-(1 - smoothing) * right - smoothing * logp.mean(-1)).mean()
    weights_exchanged: return -right ==> loss = -smoothing * right - (1 - smoothing) * logp.mean(-1)\n    return loss
    sign_forgotten: return -right ==> loss = (1 - smoothing) * right + smoothing * logp.mean(-1)\n    return loss
    fixed_tenth: return -right ==> loss = -0.9 * right - 0.1 * logp.mean(-1)\n    return loss
    """

    def shared_among_the_others(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        v = logits.shape[-1]
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        others = (logp.sum(-1) - right) / (v - 1)
        loss = -(1 - smoothing) * right - smoothing * others
        return loss[targets != pad_id].mean()

    def without_the_padding_word(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        others = np.delete(logp, pad_id, -1).mean(-1)
        loss = -(1 - smoothing) * right - smoothing * others
        return loss[targets != pad_id].mean()

    def mean_per_sentence(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        right = np.take_along_axis(logp, targets[..., None], -1)[..., 0]
        loss = -(1 - smoothing) * right - smoothing * logp.mean(-1)
        keep = targets != pad_id
        return ((loss * keep).sum(-1) / keep.sum(-1)).mean()

    def indexes_a_batch_of_rows(logits, targets, pad_id, smoothing):
        logp = _log_softmax(logits)
        right = logp[np.arange(len(targets)), targets]
        loss = -(1 - smoothing) * right - smoothing * logp.mean(-1)
        return loss[targets != pad_id].mean()

    def probability_not_logarithm(logits, targets, pad_id, smoothing):
        p = np.exp(_log_softmax(logits))
        right = np.take_along_axis(p, targets[..., None], -1)[..., 0]
        loss = (1 - smoothing) * (1 - right) + smoothing * (1 - p.mean(-1))
        return loss[targets != pad_id].mean()

    def smoothed_probability(logits, targets, pad_id, smoothing):
        p = np.exp(_log_softmax(logits))
        right = np.take_along_axis(p, targets[..., None], -1)[..., 0]
        right = (1 - smoothing) * right + smoothing * p.mean(-1)
        return -np.log(right)[targets != pad_id].mean()

    def two_loops_flat(logits, targets, pad_id, smoothing):
        total, n = 0, 0
        for z, t in zip(logits, targets):
            if t != pad_id:
                logp = z - z.max() - math.log(np.exp(z - z.max()).sum())
                total -= (1 - smoothing) * logp[t] + smoothing * logp.mean()
                n += 1
        return total / n


class adam_step:
    def right_plain(theta, gradient, m, v, t, learning_rate):
        m = m * 0.9 + gradient * 0.1
        v = v * 0.98 + gradient**2 * 0.02
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        return theta - learning_rate * step, m, v

    def right_lerp(theta, gradient, m, v, t, learning_rate):
        new_m = m + (1 - 0.9) * (gradient - m)
        new_v = v + (1 - 0.98) * (gradient * gradient - v)
        m_hat = new_m / -np.expm1(t * np.log(0.9))
        v_hat = new_v / -np.expm1(t * np.log(0.98))
        return np.subtract(theta, learning_rate * m_hat / (v_hat**0.5 + 1e-9)), new_m, new_v

    def no_correction(theta, gradient, m, v, t, learning_rate):
        m = 0.9 * m + 0.1 * gradient
        v = 0.98 * v + 0.02 * gradient**2
        return theta - learning_rate * m / (np.sqrt(v) + 1e-9), m, v

    no_correction.slips = """
    gradient_over_root: learning_rate * m ==> learning_rate * gradient && np.sqrt(v) ==> np.sqrt(v / (1 - 0.98**t))
    """

    def corrected_returned(theta, gradient, m, v, t, learning_rate):
        m = (0.9 * m + 0.1 * gradient) / (1 - 0.9**t)
        v = (0.98 * v + 0.02 * gradient**2) / (1 - 0.98**t)
        return theta - learning_rate * m / (np.sqrt(v) + 1e-9), m, v

    def betas_exchanged(theta, gradient, m, v, t, learning_rate):
        m = 0.98 * m + 0.02 * gradient
        v = 0.9 * v + 0.1 * gradient**2
        step = m / (1 - 0.98**t) / (np.sqrt(v / (1 - 0.9**t)) + 1e-9)
        return theta - learning_rate * step, m, v

    def old_averages(theta, gradient, m, v, t, learning_rate):
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        m = 0.9 * m + 0.1 * gradient
        v = 0.98 * v + 0.02 * gradient**2
        return theta - learning_rate * step, m, v

    def in_place(theta, gradient, m, v, t, learning_rate):
        m *= 0.9
        m += 0.1 * gradient
        v *= 0.98
        v += 0.02 * gradient**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        theta -= learning_rate * step
        return theta, m, v

    def right_too(theta, gradient, m, v, t, learning_rate):
        m = 0.9 * m + 0.1 * gradient
        v = 0.98 * v + 0.02 * gradient**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        return theta - learning_rate * step, m, v

    right_too.slips = r"""
    rate_forgotten: step = ==> return theta - && \n    return theta - learning_rate * step ==>
    square_of_the_average: gradient**2 ==> m**2
    beta_999: 0.98 * v + 0.02 * gradient**2 ==> 0.999 * v + 0.001 * gradient**2 && 0.98**t ==> 0.999**t
    epsilon_inside: np.sqrt(v / (1 - 0.98**t)) + 1e-9 ==> np.sqrt(v / (1 - 0.98**t) + 1e-9)
    epsilon_8: np.sqrt(v / (1 - 0.98**t)) + 1e-9 ==> np.sqrt(v / (1 - 0.98**t)) + 1e-8
    no_epsilon: np.sqrt(v / (1 - 0.98**t)) + 1e-9 ==> np.sqrt(v / (1 - 0.98**t))
    no_square: gradient**2 ==> np.abs(gradient)
    no_root: np.sqrt(v / (1 - 0.98**t)) ==> v / (1 - 0.98**t)
    uphill: theta - learning_rate * step ==> theta + learning_rate * step
    t_from_0: 0.9**t ==> 0.9 ** (t + 1) && 0.98**t ==> 0.98 ** (t + 1)
    t_minus_1: 0.9**t ==> 0.9 ** (t - 1) && 0.98**t ==> 0.98 ** (t - 1)
    correction_without_power: 0.9**t ==> 0.9 && 0.98**t ==> 0.98
    times_t: 0.9**t ==> 0.9 * t && 0.98**t ==> 0.98 * t
    only_theta: theta - learning_rate * step, m, v ==> theta - learning_rate * step
    wrong_order: theta - learning_rate * step, m, v ==> m, v, theta - learning_rate * step
    root_correction_forgotten: v / (1 - 0.98**t) ==> v
    only_v_corrected: m / (1 - 0.9**t) ==> m
    the_step: theta - learning_rate * step ==> -learning_rate * step
    math_sqrt: np.sqrt ==> math.sqrt
    no_averages: 0.1 * gradient ==> gradient && 0.02 * gradient**2 ==> gradient**2
    correction_multiplied: m / (1 - 0.9**t) ==> m * (1 - 0.9**t) && v / (1 - 0.98**t) ==> v * (1 - 0.98**t)
    """

    def weights_of_the_mean_exchanged(theta, gradient, m, v, t, learning_rate):
        m = 0.1 * m + 0.9 * gradient
        v = 0.02 * v + 0.98 * gradient**2
        step = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.98**t)) + 1e-9)
        return theta - learning_rate * step, m, v

    def plain_descent(theta, gradient, m, v, t, learning_rate):
        m = 0.9 * m + 0.1 * gradient
        v = 0.98 * v + 0.02 * gradient**2
        return theta - learning_rate * gradient, m, v

    def precedence(theta, gradient, m, v, t, learning_rate):
        m = 0.9 * m + 0.1 * gradient
        v = 0.98 * v + 0.02 * gradient**2
        m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.98**t)
        return theta - learning_rate * m_hat / np.sqrt(v_hat) + 1e-9, m, v


class warmup_schedule:
    def right_minimum(t, d_model, warmup):
        return np.minimum(1 / np.sqrt(t), t / warmup**1.5) / np.sqrt(d_model)

    def right_where(t, d_model, warmup):
        t = np.asarray(t, dtype=float)
        up, down = t * warmup**-1.5, t**-0.5
        return np.where(t < warmup, up, down) * d_model**-0.5

    def right_plain(t, d_model, warmup):
        return d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5)

    right_plain.slips = """
    maximum: np.minimum ==> np.maximum
    python_min: np.minimum ==> min
    np_min: np.minimum ==> np.min
    np_min_of_a_list: np.minimum(t**-0.5, t * warmup**-1.5) ==> np.min([t**-0.5, t * warmup**-1.5])
    multiplied_by_root: d_model**-0.5 ==> d_model**0.5
    divided_by_d_model: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> np.minimum(t**-0.5, t * warmup**-1.5) / d_model
    without_d_model: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> np.minimum(t**-0.5, t * warmup**-1.5)
    integer_power: t**-0.5 ==> t ** (-1 // 2)
    only_ramp: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> d_model**-0.5 * t * warmup**-1.5
    warmup_half: -1.5 ==> -0.5
    warmup_one: t * warmup**-1.5 ==> t / warmup
    one_and_a_half_positive: -1.5 ==> 1.5
    from_0: t**-0.5 ==> (t + 1.0) ** -0.5 && t * warmup**-1.5 ==> (t + 1.0) * warmup**-1.5
    root_positive: t**-0.5 ==> t**0.5
    linear_decay: t**-0.5 ==> 1 / t
    plateau: t**-0.5 ==> warmup**-0.5
    scaled_to_1: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> np.minimum(t / warmup, np.sqrt(warmup / t))
    d_model_and_warmup_exchanged: d_model**-0.5 ==> warmup**-0.5 && warmup**-1.5 ==> d_model**-1.5
    d_model_only_in_one: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> np.minimum(d_model**-0.5 * t**-0.5, t * warmup**-1.5)
    sum_of_both: np.minimum(t**-0.5, t * warmup**-1.5) ==> (t**-0.5 + t * warmup**-1.5)
    branches_exchanged: np.minimum(t**-0.5, t * warmup**-1.5) ==> np.where(t > warmup, t * warmup**-1.5, t**-0.5)
    math_sqrt: d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5) ==> min(1 / math.sqrt(t), t / warmup**1.5) / math.sqrt(d_model)
    """

    def no_ramp(t, d_model, warmup):
        return d_model**-0.5 * t**-0.5

    no_ramp.slips = r"""
    first_only: return ==> for step in t:\n        return && t**-0.5 ==> min(step**-0.5, step * warmup**-1.5)
    product_of_both: d_model**-0.5 * t**-0.5 ==> d_model**-0.5 * t**-0.5 * np.minimum(1, t * warmup**-1.5)
    shifted: return d_model**-0.5 * t**-0.5 ==> t = t - 1\n    return d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5)
    """

    def if_on_an_array(t, d_model, warmup):
        if t < warmup:
            return d_model**-0.5 * t * warmup**-1.5
        return d_model**-0.5 * t**-0.5

    def written_into_integers(t, d_model, warmup):
        rates = np.zeros_like(t)
        for i, step in enumerate(t):
            rates[i] = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        return rates

    def positions_in_place_of_t(t, d_model, warmup):
        t = np.arange(1, len(t) + 1)
        return d_model**-0.5 * np.minimum(t**-0.5, t * warmup**-1.5)

    def cosine(t, d_model, warmup):
        peak = d_model**-0.5 * warmup**-0.5
        return np.where(
            t < warmup, peak * t / warmup, peak * 0.5 * (1 + np.cos(np.pi * t / t.max()))
        )
