"""What students may hand in to the exercises of chapter 12, written from their statements alone."""

import math

import numpy as np


def _rms(x):
    return np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def _scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])


class normed_scores:
    def right_einsum(query, key, query_gain, key_gain):
        d_k = query.shape[-1]
        q = query / np.sqrt((query * query).sum(-1) / d_k + 1e-5)[..., None] * query_gain
        k = key / np.sqrt((key * key).sum(-1) / d_k + 1e-5)[..., None] * key_gain
        return np.einsum("...id,...jd->...ij", q, k) / d_k**0.5

    def right_sizes_at_the_end(query, key, query_gain, key_gain):
        raw = (query * (query_gain * key_gain)) @ np.swapaxes(key, -1, -2)
        return raw / _rms(query) / np.swapaxes(_rms(key), -1, -2) / math.sqrt(key.shape[-1])

    def right_loop(query, key, query_gain, key_gain):
        def norm(x, gain):
            out = np.zeros(x.shape)
            for place in np.ndindex(x.shape[:-1]):
                vector = x[place]
                out[place] = vector / math.sqrt(sum(v * v for v in vector) / len(vector) + 1e-5)
            return out * gain

        return _scores(norm(query, query_gain), norm(key, key_gain))

    def plain_scores(query, key, query_gain, key_gain):
        return _scores(query, key)

    plain_scores.slips = """
    forgets_the_gains: _scores(query, key) ==> _scores(query / _rms(query), key / _rms(key))
    forgets_the_gain_of_the_key: _scores(query, key) ==> _scores(query_gain * query / _rms(query), key / _rms(key))
    only_the_query: _scores(query, key) ==> _scores(query_gain * query / _rms(query), key)
    only_the_query_but_both_gains: _scores(query, key) ==> _scores(query_gain * query / _rms(query), key_gain * key)
    query_gain_twice: _scores(query, key) ==> _scores(query_gain * query / _rms(query), query_gain * key / _rms(key))
    gain_added: _scores(query, key) ==> _scores(query / _rms(query) + query_gain, key / _rms(key) + key_gain)
    divides_by_the_gain: _scores(query, key) ==> _scores(query / (_rms(query) * query_gain), key / (_rms(key) * key_gain))
    """

    def softmaxed(query, key, query_gain, key_gain):
        scores = _scores(query_gain * query / _rms(query), key_gain * key / _rms(key))
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def cosine(query, key, query_gain, key_gain):
        def unit(x):
            return x / np.sqrt((x**2).sum(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * unit(query), key_gain * unit(key))

    def cosine_without_the_root(query, key, query_gain, key_gain):
        def unit(x):
            return x / np.sqrt((x**2).sum(-1, keepdims=True) + 1e-5)

        return query_gain * unit(query) @ np.swapaxes(key_gain * unit(key), -1, -2)

    def linalg_norm(query, key, query_gain, key_gain):
        q = query_gain * query / np.linalg.norm(query, axis=-1, keepdims=True)
        k = key_gain * key / np.linalg.norm(key, axis=-1, keepdims=True)
        return _scores(q, k)

    def layer_norm(query, key, query_gain, key_gain):
        def norm(x):
            return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def standard_deviation(query, key, query_gain, key_gain):
        q = query_gain * query / (query.std(-1, keepdims=True) + 1e-5)
        return _scores(q, key_gain * key / (key.std(-1, keepdims=True) + 1e-5))

    def right_plain(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    right_plain.slips = """
    variance_not_centred: (x**2).mean ==> x.var
    divides_by_one_less: (x**2).mean(-1, keepdims=True) ==> (x**2).sum(-1, keepdims=True) / (x.shape[-1] - 1)
    square_of_the_mean: (x**2).mean(-1, keepdims=True) ==> x.mean(-1, keepdims=True) ** 2
    forgets_the_root: np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) ==> ((x**2).mean(-1, keepdims=True) + 1e-5)
    mean_of_absolute_values: np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) ==> (np.abs(x).mean(-1, keepdims=True) + 1e-5)
    largest_component: np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) ==> (np.abs(x).max(-1, keepdims=True) + 1e-5)
    no_epsilon: (x**2).mean(-1, keepdims=True) + 1e-5 ==> (x**2).mean(-1, keepdims=True)
    nan_to_zero: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) ==> np.nan_to_num(x / np.sqrt((x**2).mean(-1, keepdims=True)))
    epsilon_outside_the_root: np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) ==> (np.sqrt((x**2).mean(-1, keepdims=True)) + 1e-5)
    epsilon_of_pytorch: (x**2).mean(-1, keepdims=True) + 1e-5 ==> (x**2).mean(-1, keepdims=True) + np.finfo(np.float64).eps
    epsilon_of_a_million: (x**2).mean(-1, keepdims=True) + 1e-5 ==> (x**2).mean(-1, keepdims=True) + 1e-6
    whole_array: (x**2).mean(-1, keepdims=True) ==> (x**2).mean()
    over_the_positions: -1 ==> -2
    first_axis: (x**2).mean(-1, keepdims=True) ==> (x**2).mean(axis=0)
    no_keepdims: (x**2).mean(-1, keepdims=True) ==> (x**2).mean(axis=-1)
    """

    def zero_key_by_hand(query, key, query_gain, key_gain):
        def norm(x):
            size = np.sqrt((x**2).mean(-1, keepdims=True))
            return x / np.where(size == 0, 1, size)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def gain_before_the_norm(query, key, query_gain, key_gain):
        q, k = query * query_gain, key * key_gain
        return _scores(q / _rms(q), k / _rms(k))

    def gain_inside_the_root(query, key, query_gain, key_gain):
        q = query / _rms(query * query_gain)
        return _scores(q, key / _rms(key * key_gain))

    def gains_exchanged_with_a_mean(query, key, query_gain, key_gain):
        gain = (query_gain + key_gain) / 2
        return _scores(gain * query / _rms(query), gain * key / _rms(key))

    def norm_of_the_scores(query, key, query_gain, key_gain):
        scores = _scores(query * query_gain, key * key_gain)
        return scores / _rms(scores)

    norm_of_the_scores.slips = r"""
    no_normalisation: scores = ==> return && \n    return scores / _rms(scores) ==>
    in_place: scores = ==> query /= _rms(query)\n    key /= _rms(key)\n    return && \n    return scores / _rms(scores) ==>
    """

    def transposed_scores(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return _scores(k, q)

    transposed_scores.slips = r"""
    forgets_the_root_of_d_k: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2)
    divides_by_d_k: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2) / query.shape[-1]
    multiplies_by_the_root: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2) * np.sqrt(query.shape[-1])
    root_of_the_number_of_keys: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2) / np.sqrt(key.shape[-2])
    first_axis_as_d_k: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2) / np.sqrt(query.shape[0])
    key_capital_t: _scores(k, q) ==> q @ k.T / np.sqrt(query.shape[-1])
    key_not_transposed: _scores(k, q) ==> q @ k / np.sqrt(query.shape[-1])
    star_in_place_of_at: _scores(k, q) ==> q * k / np.sqrt(query.shape[-1])
    dot: _scores(k, q) ==> np.dot(q, np.swapaxes(k, -1, -2)) / np.sqrt(query.shape[-1])
    torch_transpose: _scores(k, q) ==> q @ k.transpose(-2, -1) / np.sqrt(query.shape[-1])
    torch_size: _scores(k, q) ==> q @ np.swapaxes(k, -1, -2) / np.sqrt(query.size(-1))
    returns_the_vectors: q, k = ==> return && \n    return _scores(k, q) ==>
    """

    def one_plus_the_gain(query, key, query_gain, key_gain):
        q, k = (1 + query_gain) * query / _rms(query), (1 + key_gain) * key / _rms(key)
        return _scores(q, k)

    def gain_by_matmul(query, key, query_gain, key_gain):
        q, k = (query / _rms(query)) @ query_gain, (key / _rms(key)) @ key_gain
        return q[..., :, None] * k[..., None, :] / np.sqrt(query.shape[-1])

    def torch_keepdim(query, key, query_gain, key_gain):
        q = query / np.sqrt((query**2).mean(-1, keepdim=True) + 1e-5)
        return _scores(q * query_gain, key / _rms(key) * key_gain)

    def torch_pow(query, key, query_gain, key_gain):
        q = query * (query.pow(2).mean(-1) + 1e-5) ** -0.5
        return _scores(q * query_gain, key / _rms(key) * key_gain)

    def three_axes_loop(query, key, query_gain, key_gain):
        out = np.zeros((len(query), len(key)))
        for i in range(len(query)):
            for j in range(len(key)):
                q = query_gain * query[i] / np.sqrt(np.mean(query[i] ** 2) + 1e-5)
                k = key_gain * key[j] / np.sqrt(np.mean(key[j] ** 2) + 1e-5)
                out[i, j] = q @ k / np.sqrt(len(q))
        return out


def _sigmoid(z):
    return 1 / (1 + np.exp(-z))


def _silu(z):
    return z * _sigmoid(z)


class swiglu:
    def right_sigmoid(x, w_1, w_3, w_2):
        return ((x @ w_1) * _sigmoid(x @ w_1) * (x @ w_3)) @ w_2

    def right_tanh(x, w_1, w_3, w_2):
        gate = np.einsum("...d,df->...f", x, w_1)
        up = np.einsum("...d,df->...f", x, w_3)
        return np.einsum("...f,fd->...d", gate * (1 + np.tanh(gate / 2)) / 2 * up, w_2)

    def right_loop(x, w_1, w_3, w_2):
        out = np.zeros(x.shape[:-1] + (w_2.shape[1],))
        for f in range(w_1.shape[1]):
            gate = x @ w_1[:, f]
            small = np.exp(-np.abs(gate))
            silu = gate * np.where(gate > 0, 1 / (1 + small), small / (1 + small))
            out += (silu * (x @ w_3[:, f]))[..., None] * w_2[f]
        return out

    def right_with_the_exponential(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate * np.exp(gate) / (1 + np.exp(gate)) * (x @ w_3)) @ w_2

    def gelu_tanh(x, w_1, w_3, w_2):
        z = x @ w_1
        gelu = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        return (gelu * (x @ w_3)) @ w_2

    def gelu_erf(x, w_1, w_3, w_2):
        z = x @ w_1
        gelu = z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
        return (gelu * (x @ w_3)) @ w_2

    def right_plain(x, w_1, w_3, w_2):
        return _silu(x @ w_1) * (x @ w_3) @ w_2

    right_plain.slips = """
    one_branch: _silu(x @ w_1) * (x @ w_3) ==> _silu(x @ w_1)
    the_other_branch: _silu(x @ w_1) * (x @ w_3) ==> (x @ w_1) * _silu(x @ w_3)
    both_branches: x @ w_3 ==> _silu(x @ w_3)
    silu_of_the_product: _silu(x @ w_1) * (x @ w_3) ==> _silu((x @ w_1) * (x @ w_3))
    silu_at_the_end: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> _silu(((x @ w_1) * (x @ w_3)) @ w_2)
    silu_of_x: _silu(x @ w_1) ==> _silu(x) @ w_1
    no_silu: _silu(x @ w_1) ==> x @ w_1
    sigmoid_only: _silu(x @ w_1) ==> _sigmoid(x @ w_1)
    relu: _silu(x @ w_1) ==> np.maximum(0, x @ w_1)
    tanh: _silu(x @ w_1) ==> np.tanh(x @ w_1)
    softplus: _silu(x @ w_1) ==> np.log1p(np.exp(x @ w_1))
    sum_of_branches: _silu(x @ w_1) * (x @ w_3) ==> (_silu(x @ w_1) + x @ w_3)
    product_without_parentheses: _silu(x @ w_1) * (x @ w_3) ==> _silu(x @ w_1) * x @ w_3
    multiplies_x_by_the_gate: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> (_sigmoid(x @ w_1) * (x @ w_1)) @ w_2 * x
    forgets_the_last_matrix: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> _silu(x @ w_1) * (x @ w_3)
    in_order_of_the_arguments: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> (_silu(x @ w_1) * (x @ w_2)) @ w_3
    chain_of_three: _silu(x @ w_1) * (x @ w_3) ==> _silu(x @ w_1) @ w_3
    torch_linear: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> (_silu(x @ w_1.T) * (x @ w_3.T)) @ w_2.T
    last_matrix_transposed: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> (_silu(x @ w_1) * (x @ w_3)) @ w_2.T
    matrices_from_the_left: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> w_2 @ (_silu(w_1 @ x) * (w_3 @ x))
    matlab_star: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> (_silu(x * w_1) * (x * w_3)) * w_2
    matrix_product_of_branches: _silu(x @ w_1) * (x @ w_3) ==> _silu(x @ w_1) @ (x @ w_3)
    residual_added: _silu(x @ w_1) * (x @ w_3) @ w_2 ==> x + (_silu(x @ w_1) * (x @ w_3)) @ w_2
    feed_forward_of_the_paper: _silu(x @ w_1) * (x @ w_3) ==> np.maximum(0, x @ w_1)
    sigmoid_of_the_gate_on_the_other: _silu(x @ w_1) ==> (x @ w_1) * _sigmoid(x @ w_3)
    torch_silu: _silu(x @ w_1) ==> (x @ w_1).silu()
    torch_functional: _silu(x @ w_1) ==> F.silu(x @ w_1)
    """

    def concatenated(x, w_1, w_3, w_2):
        both = np.concatenate([_silu(x @ w_1), x @ w_3], axis=-1)
        return both @ np.concatenate([w_2, w_2])

    def swish_with_the_other_branch(x, w_1, w_3, w_2):
        gate, up = x @ w_1, x @ w_3
        return (gate * _sigmoid(up)) @ w_2

    def loop_over_the_first_axis_only(x, w_1, w_3, w_2):
        out = np.zeros((len(x), w_2.shape[1]))
        for i in range(len(x)):
            out[i] = (_silu(x[i] @ w_1) * (x[i] @ w_3)) @ w_2
        return out

    loop_over_the_first_axis_only.slips = r"""
    two_axes: out = ==> rows, d_model = x.shape\n    out = && len(x), w_2.shape[1] ==> rows, d_model && len(x) ==> rows
    """

    def right_too(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (_silu(gate) * (x @ w_3)) @ w_2

    right_too.slips = """
    gate_multiplies_up_twice: gate = x @ w_1 ==> up = x @ w_3 && _silu(gate) * (x @ w_3) ==> _silu(x @ w_1) * up * up
    clipped: x @ w_1 ==> np.clip(x @ w_1, 0, 6)
    gelu_quick: _silu(gate) ==> gate * _sigmoid(1.702 * gate)
    softmax_gate: gate = x @ w_1 ==> e = np.exp(x @ w_1) && _silu(gate) ==> e / e.sum(-1, keepdims=True)
    sign_of_the_exponent: _silu(gate) ==> gate / (1 + np.exp(gate))
    precedence: _silu(gate) * (x @ w_3) ==> gate * 1 / 1 + np.exp(-gate) * (x @ w_3)
    minus_forgotten_inside: _silu(gate) ==> gate / (1 - np.exp(-gate))
    normalised_before: gate = x @ w_1 ==> x = x / _rms(x) && _silu(gate) ==> _silu(x @ w_1)
    one_matrix_cut_in_two: gate = x @ w_1 ==> gate, up = np.split(x @ w_1, 2, axis=-1) && x @ w_3 ==> up
    math_exp: _silu(gate) ==> gate / (1 + math.exp(-gate))
    numpy_sigmoid: _silu(gate) ==> gate * np.sigmoid(gate)
    """


def _taken(x, token):
    return np.take_along_axis(x, np.asarray(token)[..., None], -1)[..., 0]


def _rest(target, draft):
    beyond = np.maximum(target - draft, 0)
    return beyond / beyond.sum(-1, keepdims=True)


class accept:
    def right_without_division(target, draft, token, dice):
        accepted = dice * _taken(draft, token) < _taken(target, token)
        beyond = np.where(target > draft, target - draft, 0)
        return accepted, beyond / beyond.sum(-1)[..., None]

    def right_one_hot(target, draft, token, dice):
        chosen = np.arange(target.shape[-1]) == token[..., None]
        p, q = (target * chosen).sum(-1), (draft * chosen).sum(-1)
        beyond = (target - draft).clip(min=0)
        return p / q > dice, beyond / np.sum(beyond, axis=-1, keepdims=True)

    def right_minimum(target, draft, token, dice):
        accepted = dice < np.minimum(1, _taken(target, token) / _taken(draft, token))
        beyond = target - np.minimum(target, draft)
        return accepted, beyond / beyond.sum(-1, keepdims=True)

    def right_loop(target, draft, token, dice):
        accepted = np.zeros(token.shape, dtype=bool)
        rest = np.zeros(target.shape)
        for place in np.ndindex(token.shape):
            p, q = target[place], draft[place]
            accepted[place] = dice[place] < p[token[place]] / q[token[place]]
            for w in range(len(p)):
                rest[place][w] = max(p[w] - q[w], 0.0)
            rest[place] /= rest[place].sum()
        return accepted, rest

    def less_than_q(target, draft, token, dice):
        return dice < _taken(draft, token), _rest(target, draft)

    less_than_q.slips = """
    upside_down: _taken(draft, token) ==> _taken(draft, token) / _taken(target, token)
    greater: dice < _taken(draft, token) ==> dice > _taken(target, token) / _taken(draft, token)
    less_than_the_difference: _taken(draft, token) ==> _taken(target - draft, token)
    p_above_q_without_dice: dice < _taken(draft, token) ==> _taken(target, token) >= _taken(draft, token)
    most_probable_token: dice < _taken(draft, token) ==> target.argmax(-1) == token
    every_token: dice < _taken(draft, token) ==> dice[..., None] < target / draft
    expected_acceptance: _taken(draft, token) ==> np.minimum(target, draft).sum(-1)
    only_accepted: dice < _taken(draft, token), _rest(target, draft) ==> dice < _taken(target, token) / _taken(draft, token)
    """

    def all_after_the_first_rejected(target, draft, token, dice):
        kept = dice < _taken(target, token) / _taken(draft, token)
        return np.cumprod(kept, axis=-1).astype(bool), _rest(target, draft)

    def new_dice(target, draft, token, dice):
        dice = np.random.default_rng(0).random(token.shape)
        return dice < _taken(target, token) / _taken(draft, token), _rest(target, draft)

    def log_of_the_ratio(target, draft, token, dice):
        ratio = np.log(_taken(target, token)) - np.log(_taken(draft, token))
        return dice < ratio, _rest(target, draft)

    def negative_kept(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = target - draft
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    negative_kept.slips = r"""
    in_place: beyond = target - draft ==> target -= draft\n    target[target < 0] = 0 && beyond / beyond ==> target / target
    """

    def right_plain(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, _rest(target, draft)

    right_plain.slips = r"""
    less_than_p: p, q = ==> return dice < && _taken(draft, token)\n    return dice < p / q, _rest ==> _rest
    indexes_with_the_token: _taken(target, token), _taken(draft, token) ==> target[token], draft[token]
    rest_is_the_target: _rest(target, draft) ==> target
    share_of_both: p / q ==> p / (p + q)
    ratio_and_not_a_decision: dice < p / q ==> np.minimum(1, p / q)
    zeros_and_ones: dice < p / q ==> np.where(dice < p / q, 1, 0)
    not_normalised: _rest(target, draft) ==> np.maximum(target - draft, 0)
    q_minus_p: _rest(target, draft) ==> _rest(draft, target)
    divided_by_the_sum_of_the_target: _rest(target, draft) ==> np.maximum(target - draft, 0) / target.sum(-1, keepdims=True)
    substitute_chosen: _rest(target, draft) ==> _rest(target, draft).argmax(-1)
    exchanged_results: dice < p / q, _rest(target, draft) ==> _rest(target, draft), dice < p / q
    if_of_an_array: return dice < p / q, _rest(target, draft) ==> if dice < p / q:\n        return True, None\n    return False, _rest(target, draft)
    q_with_an_epsilon: p / q ==> p / (q + 0.1)
    rest_times_the_chance: return ==> chance = np.minimum(1, p / q)[..., None]\n    return && _rest ==> (1 - chance) * _rest
    last_axis_with_all_tokens: _taken(target, token), _taken(draft, token) ==> target[..., token], draft[..., token]
    counts_from_one: _taken(target, token), _taken(draft, token) ==> _taken(target, token - 1), _taken(draft, token - 1)
    """

    def rest_without_the_token(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        rest = np.where(np.arange(target.shape[-1]) == token[..., None], 0, target)
        return dice < p / q, rest / rest.sum(-1, keepdims=True)

    rest_without_the_token.slips = """
    target_where_larger: np.arange(target.shape[-1]) == token[..., None], 0, target ==> target > draft, target, 0
    """

    def softmax_of_the_rest(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        e = np.exp(np.maximum(target - draft, 0))
        return dice < p / q, e / e.sum(-1, keepdims=True)

    def minimum_in_place_of_beyond(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        both = np.minimum(target, draft)
        return dice < p / q, both / both.sum(-1, keepdims=True)

    def right_too(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    right_too.slips = r"""
    absolute_difference: np.maximum(target - draft, 0) ==> np.abs(target - draft)
    maximum_of_both: \n    beyond ==> \n    both && target - draft, 0 ==> target, draft && beyond / beyond ==> both / both
    ratio_beyond_one: target - draft ==> target / draft - 1
    torch_clamp: np.maximum(target - draft, 0) ==> (target - draft).clamp(min=0)
    mean_in_place_of_sum: beyond.sum ==> beyond.mean
    summed_over_everything: beyond.sum(-1, keepdims=True) ==> beyond.sum()
    summed_over_the_first_axis: beyond.sum(-1, keepdims=True) ==> beyond.sum(axis=0)
    no_keepdims: beyond.sum(-1, keepdims=True) ==> beyond.sum(axis=-1)
    divided_by_the_largest: beyond.sum ==> beyond.max
    epsilon_in_the_sum: beyond.sum(-1, keepdims=True) ==> (beyond.sum(-1, keepdims=True) + 1e-3)
    """

    def rest_zero_where_accepted(target, draft, token, dice):
        accepted = dice < _taken(target, token) / _taken(draft, token)
        return accepted, np.where(accepted[..., None], 0, _rest(target, draft))

    def rest_of_the_rejected_only(target, draft, token, dice):
        accepted = dice < _taken(target, token) / _taken(draft, token)
        return accepted, _rest(target[~accepted], draft[~accepted])

    def one_arange(target, draft, token, dice):
        rows = np.arange(len(token))
        p, q = target[rows, token], draft[rows, token]
        return dice < p / q, _rest(target, draft)

    def keeps_the_axis(target, draft, token, dice):
        p = np.take_along_axis(target, token[..., None], -1)
        q = np.take_along_axis(draft, token[..., None], -1)
        return dice[..., None] < p / q, _rest(target, draft)

    keeps_the_axis.slips = """
    axis_forgotten_in_dice: dice[..., None] ==> dice
    """

    def python_max(target, draft, token, dice):
        beyond = max(target - draft, 0)
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    python_max.slips = """
    maximum_needs_two: max(target - draft, 0) ==> np.max(target - draft, 0)
    """

    def torch_gather(target, draft, token, dice):
        p = target.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        q = draft.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        return dice < p / q, _rest(target, draft)
