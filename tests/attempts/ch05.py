# ruff: noqa: PLR1730 (what students write)
"""What students may hand in to the exercises of chapter 05, written from their statements alone."""

import numpy as np

from attn import reference


class layer_norm:
    def gain_by_a_matrix_product(x, gain, bias):
        z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return z @ gain + bias

    def right_var(x, gain, bias):
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.einsum("...d,...d->...", centred, centred)[..., None] / x.shape[-1]
        return gain * centred / np.sqrt(variance + 1e-5) + bias

    def right_rows(x, gain, bias):
        out = np.zeros(x.shape)
        for i in np.ndindex(x.shape[:-1]):
            row = x[i]
            out[i] = (row - row.mean()) / (row.var() + 1e-5) ** 0.5 * gain + bias
        return out

    def axis_minus_2(x, gain, bias):
        m, v = x.mean(-2, keepdims=True), x.var(-2, keepdims=True)
        return gain * (x - m) / np.sqrt(v + 1e-5) + bias

    def whole_array(x, gain, bias):
        return gain * (x - x.mean()) / np.sqrt(x.var() + 1e-5) + bias

    def rms(x, gain, bias):
        return gain * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) + bias

    def unit_length(x, gain, bias):
        c = x - x.mean(-1, keepdims=True)
        return gain * c / np.sqrt((c**2).sum(-1, keepdims=True) + 1e-5) + bias

    def right_plain(x, gain, bias):
        m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return gain * (x - m) / np.sqrt(v + 1e-5) + bias

    right_plain.slips = """
    axis_1: x.mean(-1, keepdims=True), x.var(-1, keepdims=True) ==> x.mean(1, keepdims=True), x.var(1, keepdims=True)
    large_epsilon: v + 1e-5 ==> v + 1e-3
    variance_not_rooted: np.sqrt(v + 1e-5) ==> (v + 1e-5)
    sample_variance: x.var(-1, keepdims=True) ==> x.var(-1, keepdims=True, ddof=1)
    axis_0: -1, keepdims=True ==> 0
    no_keepdims: , keepdims=True ==>
    bias_inside: gain * (x - m) / np.sqrt(v + 1e-5) + bias ==> (gain * (x - m) + bias) / np.sqrt(v + 1e-5)
    no_bias: gain * (x - m) / np.sqrt(v + 1e-5) + bias ==> gain * (x - m) / np.sqrt(v + 1e-5)
    no_gain: gain * (x - m) ==> (x - m)
    neither: gain * (x - m) / np.sqrt(v + 1e-5) + bias ==> (x - m) / np.sqrt(v + 1e-5)
    not_centred: m, v = x.mean(-1, keepdims=True), x.var(-1, keepdims=True) ==> v = x.var(-1, keepdims=True) && x - m ==> x
    gain_and_bias_exchanged: gain * (x - m) / np.sqrt(v + 1e-5) + bias ==> bias * (x - m) / np.sqrt(v + 1e-5) + gain
    bias_before_gain: gain * (x - m) / np.sqrt(v + 1e-5) + bias ==> gain * ((x - m) / np.sqrt(v + 1e-5) + bias)
    missing_parenthesis: gain * (x - m) / np.sqrt(v + 1e-5) ==> gain * x - m / np.sqrt(v + 1e-5)
    epsilon_wrong_power: v + 1e-5 ==> v + 10e-5
    epsilon_outside_the_root: gain * (x - m) / np.sqrt(v + 1e-5) ==> gain * (x - m) / np.sqrt(v) + 1e-5
    """

    def no_epsilon(x, gain, bias):
        m, s = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        return gain * (x - m) / s + bias

    def standard_deviation_plus_epsilon(x, gain, bias):
        m, s = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        return gain * (x - m) / (s + 1e-5) + bias

    def in_place(x, gain, bias):
        v = x.var(-1, keepdims=True)
        x -= x.mean(-1, keepdims=True)
        x /= np.sqrt(v + 1e-5)
        return gain * x + bias

    def min_and_max(x, gain, bias):
        low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
        return gain * (x - low) / (high - low + 1e-5) + bias

    def mean_of_absolute(x, gain, bias):
        c = x - x.mean(-1, keepdims=True)
        return gain * c / (np.abs(c).mean(-1, keepdims=True) + 1e-5) + bias

    def nan_to_num_without_epsilon(x, gain, bias):
        m, s = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        return gain * np.nan_to_num((x - m) / s) + bias


class feed_forward:
    def right_where(x, w_1, b_1, w_2, b_2):
        z = x @ w_1 + b_1
        return np.where(z > 0, z, 0) @ w_2 + b_2

    def right_abs(x, w_1, b_1, w_2, b_2):
        z = np.tensordot(x, w_1, 1) + b_1
        return np.tensordot((z + np.abs(z)) / 2, w_2, 1) + b_2

    def right_plain(x, w_1, b_1, w_2, b_2):
        return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2

    right_plain.slips = r"""
    missing_parenthesis: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> x @ w_1 + b_1 @ w_2
    np_max: np.maximum ==> np.max
    python_max: np.maximum ==> max
    no_relu: np.maximum(0, x @ w_1 + b_1) ==> (x @ w_1 + b_1)
    relu_before_bias: np.maximum(0, x @ w_1 + b_1) ==> (np.maximum(0, x @ w_1) + b_1)
    relu_at_the_end: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, (x @ w_1 + b_1) @ w_2 + b_2)
    relu_twice: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2)
    no_first_bias: x @ w_1 + b_1 ==> x @ w_1
    no_second_bias: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_1 + b_1) @ w_2
    no_biases: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_1) @ w_2
    precedence: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_1 + b_1 @ w_2 + b_2)
    sigmoid: np.maximum(0, x @ w_1 + b_1) ==> 1 / (1 + np.exp(-(x @ w_1 + b_1)))
    tanh: np.maximum(0, x @ w_1 + b_1) ==> np.tanh(x @ w_1 + b_1)
    absolute: np.maximum(0, x @ w_1 + b_1) ==> np.abs(x @ w_1 + b_1)
    minimum: np.maximum ==> np.minimum
    leaky: return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> z = x @ w_1 + b_1\n    return np.maximum(0.01 * z, z) @ w_2 + b_2
    maximum_with_1: np.maximum(0, x @ w_1 + b_1) ==> np.maximum(1, x @ w_1 + b_1)
    clipped_at_1: np.maximum(0, x @ w_1 + b_1) ==> np.clip(x @ w_1 + b_1, 0, 1)
    residual: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> x + np.maximum(0, x @ w_1 + b_1) @ w_2
    transposed: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> np.maximum(0, x @ w_1.T + b_1) @ w_2.T
    second_transposed: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> np.maximum(0, x @ w_1 + b_1) @ w_2.T
    from_the_left: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> w_2 @ np.maximum(0, w_1 @ x + b_1)
    biases_exchanged: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_1 + b_2) @ w_2 + b_1
    matrices_exchanged: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_2 + b_2) @ w_1 + b_1
    if_on_an_array: return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> z = x @ w_1 + b_1\n    if z < 0:\n        z = 0\n    return z @ w_2 + b_2
    boolean_relu: return np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> z = x @ w_1 + b_1\n    return (z > 0) @ w_2 + b_2
    relu_on_x: np.maximum(0, x @ w_1 + b_1) ==> (np.maximum(0, x) @ w_1 + b_1)
    relu_of_the_product_with_w_2: np.maximum(0, x @ w_1 + b_1) @ w_2 ==> np.maximum(0, (x @ w_1 + b_1) @ w_2)
    biases_subtracted: np.maximum(0, x @ w_1 + b_1) @ w_2 + b_2 ==> np.maximum(0, x @ w_1 - b_1) @ w_2 - b_2
    maximum_along_an_axis: np.maximum(0, x @ w_1 + b_1) ==> (x @ w_1 + b_1).max(-1)
    """

    def gelu(x, w_1, b_1, w_2, b_2):
        z = x @ w_1 + b_1
        z = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        return z @ w_2 + b_2

    def two_loops_for_one_sentence(x, w_1, b_1, w_2, b_2):
        out = np.zeros((x.shape[0], w_2.shape[1]))
        for i in range(x.shape[0]):
            z = x[i] @ w_1 + b_1
            for j in range(len(z)):
                if z[j] < 0:
                    z[j] = 0
            out[i] = z @ w_2 + b_2
        return out


class encoder_layer:
    def right_spelt_out(x, w_q, w_k, w_v, w_o, w_1, w_2):
        def norm(z):
            c = z - z.mean(-1, keepdims=True)
            return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5)

        scores = (x @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[1])
        e = np.exp(scores - scores.max(-1, keepdims=True))
        heads = e / e.sum(-1, keepdims=True) @ (x @ w_v)
        y = norm(x + heads @ w_o)
        return norm(y + np.clip(y @ w_1, 0, None) @ w_2)

    def right_v_o(x, w_q, w_k, w_v, w_o, w_1, w_2):
        attended = reference.self_attention(x, w_q, w_k, w_v @ w_o)[0]
        y = reference.layer_norm(attended + x)
        z = y @ w_1
        return reference.layer_norm(np.where(z > 0, z, 0.0) @ w_2 + y)

    def forgets_w_o(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = reference.layer_norm(x + reference.self_attention(x, w_q, w_k, w_v)[0])
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2)

    forgets_w_o.slips = """
    w_o_transposed: reference.self_attention(x, w_q, w_k, w_v)[0] ==> reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o.T
    """

    def pre_norm(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = x + reference.self_attention(reference.layer_norm(x), w_q, w_k, w_v)[0] @ w_o
        return y + np.maximum(0, reference.layer_norm(y) @ w_1) @ w_2

    def no_norms(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o
        return y + np.maximum(0, y @ w_1) @ w_2

    def no_first_norm(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2)

    def right_plain(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = reference.layer_norm(x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o)
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2)

    right_plain.slips = """
    unpacking_forgotten: reference.self_attention(x, w_q, w_k, w_v)[0] ==> reference.self_attention(x, w_q, w_k, w_v)
    w_o_twice: reference.self_attention(x, w_q, w_k, w_v) ==> reference.self_attention(x, w_q, w_k, w_v @ w_o)
    no_first_residual: x + reference ==> reference
    no_second_residual: y + np.maximum(0, y @ w_1) @ w_2 ==> np.maximum(0, y @ w_1) @ w_2
    no_residuals: x + reference ==> reference && y + np ==> np
    no_last_norm: reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2) ==> y + np.maximum(0, y @ w_1) @ w_2
    feeds_x_forward: y @ w_1 ==> x @ w_1
    no_relu: np.maximum(0, y @ w_1) ==> y @ w_1
    relu_after_w_2: np.maximum(0, y @ w_1) @ w_2 ==> np.maximum(0, y @ w_1 @ w_2)
    np_max: np.maximum ==> np.max
    """

    def residual_from_x(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = reference.layer_norm(x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o)
        return reference.layer_norm(x + np.maximum(0, y @ w_1) @ w_2)

    residual_from_x.slips = r"""
    extra_norm: \n    y ==> \n    x = reference.layer_norm(x)\n    y && x + np ==> y + np
    """

    def norm_before_adding(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = x + reference.layer_norm(reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o)
        return y + reference.layer_norm(np.maximum(0, y @ w_1) @ w_2)

    def w_o_after_the_sum(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = reference.layer_norm((x + reference.self_attention(x, w_q, w_k, w_v)[0]) @ w_o)
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2)

    def in_place(x, w_q, w_k, w_v, w_o, w_1, w_2):
        x += reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o
        x = reference.layer_norm(x)
        x += np.maximum(0, x @ w_1) @ w_2
        return reference.layer_norm(x)

    def feed_forward_first(x, w_q, w_k, w_v, w_o, w_1, w_2):
        y = reference.layer_norm(x + np.maximum(0, x @ w_1) @ w_2)
        return reference.layer_norm(y + reference.self_attention(y, w_q, w_k, w_v)[0] @ w_o)

    def parallel(x, w_q, w_k, w_v, w_o, w_1, w_2):
        a = reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o
        return reference.layer_norm(x + a + np.maximum(0, x @ w_1) @ w_2)

    def norm_over_tokens(x, w_q, w_k, w_v, w_o, w_1, w_2):
        def norm(z):
            return (z - z.mean(-2, keepdims=True)) / np.sqrt(z.var(-2, keepdims=True) + 1e-5)

        y = norm(x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o)
        return norm(y + np.maximum(0, y @ w_1) @ w_2)

    def no_scale(x, w_q, w_k, w_v, w_o, w_1, w_2):
        weights = reference.softmax((x @ w_q) @ (x @ w_k).mT)
        y = reference.layer_norm(x + weights @ (x @ w_v) @ w_o)
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2)

    def only_attention(x, w_q, w_k, w_v, w_o, w_1, w_2):
        return reference.layer_norm(x + reference.self_attention(x, w_q, w_k, w_v)[0] @ w_o)

    def returns_two(x, w_q, w_k, w_v, w_o, w_1, w_2):
        output, weights = reference.self_attention(x, w_q, w_k, w_v)
        y = reference.layer_norm(x + output @ w_o)
        return reference.layer_norm(y + np.maximum(0, y @ w_1) @ w_2), weights

    returns_two.slips = """
    weights_in_place_of_output: output, weights ==> weights, output && , weights ==>
    """


class cross_attention:
    def right_mask_axis(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ np.swapaxes(memory @ w_k, -1, -2) / np.sqrt(w_k.shape[-1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None, :], scores, -np.inf)
        weights = reference.softmax(scores)
        return weights @ (memory @ w_v), weights

    def right_addition(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = np.einsum("...td,...sd->...ts", x @ w_q, memory @ w_k) / w_k.shape[-1] ** 0.5
        if memory_mask is not None:
            scores = scores + np.where(np.expand_dims(memory_mask, -2), 0, -np.inf)
        weights = reference.softmax(scores)
        return weights @ memory @ w_v, weights

    def mask_inverted(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None, :], -np.inf, scores)
        weights = reference.softmax(scores)
        return weights @ (memory @ w_v), weights

    mask_inverted.slips = r"""
    overwrites_the_mask: scores = np ==> np.logical_not(memory_mask, out=memory_mask)\n        scores = np
    """

    def mask_ignored(x, memory, w_q, w_k, w_v, memory_mask=None):
        weights = reference.softmax((x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1]))
        return weights @ (memory @ w_v), weights

    mask_ignored.slips = r"""
    masked_after: return ==> if memory_mask is not None:\n        weights = weights * memory_mask[..., None, :]\n    return
    """

    def memory_masked_to_zero(x, memory, w_q, w_k, w_v, memory_mask=None):
        if memory_mask is not None:
            memory = memory * memory_mask[..., None]
        weights = reference.softmax((x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1]))
        return weights @ (memory @ w_v), weights

    def self_attention(x, memory, w_q, w_k, w_v, memory_mask=None):
        return reference.self_attention(x, w_q, w_k, w_v)

    def queries_from_memory(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (memory @ w_q) @ (x @ w_k).mT / np.sqrt(w_k.shape[-1])
        weights = reference.softmax(scores)
        return weights @ (x @ w_v), weights

    queries_from_memory.slips = """
    keys_from_x: memory @ w_q ==> x @ w_q && x @ w_v ==> memory @ w_v
    """

    def right_plain(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None, :], scores, -np.inf)
        weights = reference.softmax(scores)
        return weights @ (memory @ w_v), weights

    right_plain.slips = """
    root_of_d_model: w_k.shape ==> x.shape
    mask_added: np.where(memory_mask[..., None, :], scores, -np.inf) ==> scores + memory_mask[..., None, :]
    mask_without_axis: memory_mask[..., None, :] ==> memory_mask
    mask_axis_last: ..., None, : ==> ..., None
    mask_axis_first: ..., None, : ==> None
    mask_assumes_batch: ..., None, : ==> :, None, :
    values_from_x: memory @ w_v ==> x @ w_v
    no_scale: (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1]) ==> (x @ w_q) @ (memory @ w_k).mT
    swapped: weights @ (memory @ w_v), weights ==> weights, weights @ (memory @ w_v)
    softmax_over_the_queries: reference.softmax(scores) ==> reference.softmax(scores.mT).mT
    values_not_projected: memory @ w_v ==> memory
    residual: weights @ (memory @ w_v) ==> x + weights @ (memory @ w_v)
    mask_as_a_condition: memory_mask is not None ==> memory_mask
    """

    def output_transposed(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (memory @ w_k) @ (x @ w_q).mT / np.sqrt(w_k.shape[-1])
        if memory_mask is not None:
            scores = np.where(memory_mask[..., None], scores, -np.inf)
        weights = reference.softmax(scores.mT).mT
        return weights.mT @ (memory @ w_v), weights

    def causal_too(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1])
        allowed = np.tril(np.ones(scores.shape[-2:], dtype=bool))
        if memory_mask is not None:
            allowed = allowed & memory_mask[..., None, :]
        weights = reference.softmax(np.where(allowed, scores, -np.inf))
        return weights @ (memory @ w_v), weights

    def both_masked(x, memory, w_q, w_k, w_v, memory_mask=None):
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1])
        if memory_mask is not None:
            square = memory_mask[..., None] & memory_mask[..., None, :]
            scores = np.where(square, scores, -np.inf)
        weights = reference.softmax(scores)
        return weights @ (memory @ w_v), weights

    def joined(x, memory, w_q, w_k, w_v, memory_mask=None):
        both = np.concatenate([memory, x], axis=-2)
        scores = (x @ w_q) @ (both @ w_k).mT / np.sqrt(w_k.shape[-1])
        weights = reference.softmax(scores)
        return weights @ (both @ w_v), weights

    def drops_padding(x, memory, w_q, w_k, w_v, memory_mask=None):
        if memory_mask is not None:
            memory = memory[memory_mask]
        scores = (x @ w_q) @ (memory @ w_k).mT / np.sqrt(w_k.shape[-1])
        weights = reference.softmax(scores)
        return weights @ (memory @ w_v), weights
