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

    def no_normalisation(query, key, query_gain, key_gain):
        return _scores(query * query_gain, key * key_gain)

    def plain_scores(query, key, query_gain, key_gain):
        return _scores(query, key)

    def forgets_the_gains(query, key, query_gain, key_gain):
        return _scores(query / _rms(query), key / _rms(key))

    def forgets_the_gain_of_the_key(query, key, query_gain, key_gain):
        return _scores(query_gain * query / _rms(query), key / _rms(key))

    def only_the_query(query, key, query_gain, key_gain):
        return _scores(query_gain * query / _rms(query), key)

    def only_the_query_but_both_gains(query, key, query_gain, key_gain):
        return _scores(query_gain * query / _rms(query), key_gain * key)

    def query_gain_twice(query, key, query_gain, key_gain):
        return _scores(query_gain * query / _rms(query), query_gain * key / _rms(key))

    def forgets_the_root_of_d_k(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2)

    def divides_by_d_k(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2) / query.shape[-1]

    def multiplies_by_the_root(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2) * np.sqrt(query.shape[-1])

    def root_of_the_number_of_keys(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2) / np.sqrt(key.shape[-2])

    def first_axis_as_d_k(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2) / np.sqrt(query.shape[0])

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

    def variance_not_centred(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def divides_by_one_less(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).sum(-1, keepdims=True) / (x.shape[-1] - 1) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def square_of_the_mean(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt(x.mean(-1, keepdims=True) ** 2 + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def forgets_the_root(query, key, query_gain, key_gain):
        def norm(x):
            return x / ((x**2).mean(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def mean_of_absolute_values(query, key, query_gain, key_gain):
        def norm(x):
            return x / (np.abs(x).mean(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def largest_component(query, key, query_gain, key_gain):
        def norm(x):
            return x / (np.abs(x).max(-1, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def no_epsilon(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(-1, keepdims=True))

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def zero_key_by_hand(query, key, query_gain, key_gain):
        def norm(x):
            size = np.sqrt((x**2).mean(-1, keepdims=True))
            return x / np.where(size == 0, 1, size)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def nan_to_zero(query, key, query_gain, key_gain):
        def norm(x):
            return np.nan_to_num(x / np.sqrt((x**2).mean(-1, keepdims=True)))

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def epsilon_outside_the_root(query, key, query_gain, key_gain):
        def norm(x):
            return x / (np.sqrt((x**2).mean(-1, keepdims=True)) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def epsilon_of_pytorch(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + np.finfo(np.float64).eps)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def epsilon_of_a_million(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def whole_array(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean() + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def over_the_positions(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(-2, keepdims=True) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def first_axis(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(axis=0) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def no_keepdims(query, key, query_gain, key_gain):
        def norm(x):
            return x / np.sqrt((x**2).mean(axis=-1) + 1e-5)

        return _scores(query_gain * norm(query), key_gain * norm(key))

    def gain_before_the_norm(query, key, query_gain, key_gain):
        q, k = query * query_gain, key * key_gain
        return _scores(q / _rms(q), k / _rms(k))

    def gain_inside_the_root(query, key, query_gain, key_gain):
        q = query / _rms(query * query_gain)
        return _scores(q, key / _rms(key * key_gain))

    def one_plus_the_gain(query, key, query_gain, key_gain):
        q, k = (1 + query_gain) * query / _rms(query), (1 + key_gain) * key / _rms(key)
        return _scores(q, k)

    def gain_added(query, key, query_gain, key_gain):
        return _scores(query / _rms(query) + query_gain, key / _rms(key) + key_gain)

    def divides_by_the_gain(query, key, query_gain, key_gain):
        return _scores(query / (_rms(query) * query_gain), key / (_rms(key) * key_gain))

    def gains_exchanged_with_a_mean(query, key, query_gain, key_gain):
        gain = (query_gain + key_gain) / 2
        return _scores(gain * query / _rms(query), gain * key / _rms(key))

    def norm_of_the_scores(query, key, query_gain, key_gain):
        scores = _scores(query * query_gain, key * key_gain)
        return scores / _rms(scores)

    def transposed_scores(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return _scores(k, q)

    def key_capital_t(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ k.T / np.sqrt(query.shape[-1])

    def key_not_transposed(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ k / np.sqrt(query.shape[-1])

    def star_in_place_of_at(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q * k / np.sqrt(query.shape[-1])

    def dot(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return np.dot(q, np.swapaxes(k, -1, -2)) / np.sqrt(query.shape[-1])

    def gain_by_matmul(query, key, query_gain, key_gain):
        q, k = (query / _rms(query)) @ query_gain, (key / _rms(key)) @ key_gain
        return q[..., :, None] * k[..., None, :] / np.sqrt(query.shape[-1])

    def torch_transpose(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ k.transpose(-2, -1) / np.sqrt(query.shape[-1])

    def torch_size(query, key, query_gain, key_gain):
        q, k = query_gain * query / _rms(query), key_gain * key / _rms(key)
        return q @ np.swapaxes(k, -1, -2) / np.sqrt(query.size(-1))

    def torch_keepdim(query, key, query_gain, key_gain):
        q = query / np.sqrt((query**2).mean(-1, keepdim=True) + 1e-5)
        return _scores(q * query_gain, key / _rms(key) * key_gain)

    def torch_pow(query, key, query_gain, key_gain):
        q = query * (query.pow(2).mean(-1) + 1e-5) ** -0.5
        return _scores(q * query_gain, key / _rms(key) * key_gain)

    def in_place(query, key, query_gain, key_gain):
        query /= _rms(query)
        key /= _rms(key)
        return _scores(query * query_gain, key * key_gain)

    def three_axes_loop(query, key, query_gain, key_gain):
        out = np.zeros((len(query), len(key)))
        for i in range(len(query)):
            for j in range(len(key)):
                q = query_gain * query[i] / np.sqrt(np.mean(query[i] ** 2) + 1e-5)
                k = key_gain * key[j] / np.sqrt(np.mean(key[j] ** 2) + 1e-5)
                out[i, j] = q @ k / np.sqrt(len(q))
        return out

    def returns_the_vectors(query, key, query_gain, key_gain):
        return query_gain * query / _rms(query), key_gain * key / _rms(key)


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

    def the_other_branch(x, w_1, w_3, w_2):
        return ((x @ w_1) * _silu(x @ w_3)) @ w_2

    def both_branches(x, w_1, w_3, w_2):
        return (_silu(x @ w_1) * _silu(x @ w_3)) @ w_2

    def silu_of_the_product(x, w_1, w_3, w_2):
        return _silu((x @ w_1) * (x @ w_3)) @ w_2

    def silu_at_the_end(x, w_1, w_3, w_2):
        return _silu(((x @ w_1) * (x @ w_3)) @ w_2)

    def silu_of_x(x, w_1, w_3, w_2):
        return ((_silu(x) @ w_1) * (x @ w_3)) @ w_2

    def no_silu(x, w_1, w_3, w_2):
        return ((x @ w_1) * (x @ w_3)) @ w_2

    def sigmoid_only(x, w_1, w_3, w_2):
        return (_sigmoid(x @ w_1) * (x @ w_3)) @ w_2

    def relu(x, w_1, w_3, w_2):
        return (np.maximum(0, x @ w_1) * (x @ w_3)) @ w_2

    def gelu_tanh(x, w_1, w_3, w_2):
        z = x @ w_1
        gelu = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))
        return (gelu * (x @ w_3)) @ w_2

    def gelu_erf(x, w_1, w_3, w_2):
        z = x @ w_1
        gelu = z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
        return (gelu * (x @ w_3)) @ w_2

    def gelu_quick(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate * _sigmoid(1.702 * gate) * (x @ w_3)) @ w_2

    def tanh(x, w_1, w_3, w_2):
        return (np.tanh(x @ w_1) * (x @ w_3)) @ w_2

    def softmax_gate(x, w_1, w_3, w_2):
        e = np.exp(x @ w_1)
        return (e / e.sum(-1, keepdims=True) * (x @ w_3)) @ w_2

    def softplus(x, w_1, w_3, w_2):
        return (np.log1p(np.exp(x @ w_1)) * (x @ w_3)) @ w_2

    def sign_of_the_exponent(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate / (1 + np.exp(gate)) * (x @ w_3)) @ w_2

    def precedence(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate * 1 / 1 + np.exp(-gate) * (x @ w_3)) @ w_2

    def minus_forgotten_inside(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate / (1 - np.exp(-gate)) * (x @ w_3)) @ w_2

    def sum_of_branches(x, w_1, w_3, w_2):
        return (_silu(x @ w_1) + x @ w_3) @ w_2

    def one_branch(x, w_1, w_3, w_2):
        return _silu(x @ w_1) @ w_2

    def product_without_parentheses(x, w_1, w_3, w_2):
        return _silu(x @ w_1) * x @ w_3 @ w_2

    def multiplies_x_by_the_gate(x, w_1, w_3, w_2):
        return (_sigmoid(x @ w_1) * (x @ w_1)) @ w_2 * x

    def gate_multiplies_up_twice(x, w_1, w_3, w_2):
        up = x @ w_3
        return (_silu(x @ w_1) * up * up) @ w_2

    def concatenated(x, w_1, w_3, w_2):
        both = np.concatenate([_silu(x @ w_1), x @ w_3], axis=-1)
        return both @ np.concatenate([w_2, w_2])

    def forgets_the_last_matrix(x, w_1, w_3, w_2):
        return _silu(x @ w_1) * (x @ w_3)

    def in_order_of_the_arguments(x, w_1, w_3, w_2):
        return (_silu(x @ w_1) * (x @ w_2)) @ w_3

    def chain_of_three(x, w_1, w_3, w_2):
        return _silu(x @ w_1) @ w_3 @ w_2

    def torch_linear(x, w_1, w_3, w_2):
        return (_silu(x @ w_1.T) * (x @ w_3.T)) @ w_2.T

    def last_matrix_transposed(x, w_1, w_3, w_2):
        return (_silu(x @ w_1) * (x @ w_3)) @ w_2.T

    def matrices_from_the_left(x, w_1, w_3, w_2):
        return w_2 @ (_silu(w_1 @ x) * (w_3 @ x))

    def matlab_star(x, w_1, w_3, w_2):
        return (_silu(x * w_1) * (x * w_3)) * w_2

    def matrix_product_of_branches(x, w_1, w_3, w_2):
        return _silu(x @ w_1) @ (x @ w_3) @ w_2

    def residual_added(x, w_1, w_3, w_2):
        return x + (_silu(x @ w_1) * (x @ w_3)) @ w_2

    def normalised_before(x, w_1, w_3, w_2):
        x = x / _rms(x)
        return (_silu(x @ w_1) * (x @ w_3)) @ w_2

    def feed_forward_of_the_paper(x, w_1, w_3, w_2):
        return np.maximum(0, x @ w_1) @ w_2

    def one_matrix_cut_in_two(x, w_1, w_3, w_2):
        gate, up = np.split(x @ w_1, 2, axis=-1)
        return (_silu(gate) * up) @ w_2

    def sigmoid_of_the_gate_on_the_other(x, w_1, w_3, w_2):
        return ((x @ w_1) * _sigmoid(x @ w_3) * (x @ w_3)) @ w_2

    def swish_with_the_other_branch(x, w_1, w_3, w_2):
        gate, up = x @ w_1, x @ w_3
        return (gate * _sigmoid(up)) @ w_2

    def math_exp(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate / (1 + math.exp(-gate)) * (x @ w_3)) @ w_2

    def torch_silu(x, w_1, w_3, w_2):
        return ((x @ w_1).silu() * (x @ w_3)) @ w_2

    def torch_functional(x, w_1, w_3, w_2):
        return (F.silu(x @ w_1) * (x @ w_3)) @ w_2  # noqa: F821 - a student forgot the import

    def numpy_sigmoid(x, w_1, w_3, w_2):
        gate = x @ w_1
        return (gate * np.sigmoid(gate) * (x @ w_3)) @ w_2

    def two_axes(x, w_1, w_3, w_2):
        rows, d_model = x.shape
        out = np.zeros((rows, d_model))
        for i in range(rows):
            out[i] = (_silu(x[i] @ w_1) * (x[i] @ w_3)) @ w_2
        return out

    def loop_over_the_first_axis_only(x, w_1, w_3, w_2):
        out = np.zeros((len(x), w_2.shape[1]))
        for i in range(len(x)):
            out[i] = (_silu(x[i] @ w_1) * (x[i] @ w_3)) @ w_2
        return out

    def clipped(x, w_1, w_3, w_2):
        gate = np.clip(x @ w_1, 0, 6)
        return (_silu(gate) * (x @ w_3)) @ w_2


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

    def upside_down(target, draft, token, dice):
        return dice < _taken(draft, token) / _taken(target, token), _rest(target, draft)

    def greater(target, draft, token, dice):
        return dice > _taken(target, token) / _taken(draft, token), _rest(target, draft)

    def less_than_p(target, draft, token, dice):
        return dice < _taken(target, token), _rest(target, draft)

    def less_than_q(target, draft, token, dice):
        return dice < _taken(draft, token), _rest(target, draft)

    def less_than_the_difference(target, draft, token, dice):
        return dice < _taken(target - draft, token), _rest(target, draft)

    def share_of_both(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / (p + q), _rest(target, draft)

    def p_above_q_without_dice(target, draft, token, dice):
        return _taken(target, token) >= _taken(draft, token), _rest(target, draft)

    def most_probable_token(target, draft, token, dice):
        return target.argmax(-1) == token, _rest(target, draft)

    def ratio_and_not_a_decision(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return np.minimum(1, p / q), _rest(target, draft)

    def zeros_and_ones(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return np.where(dice < p / q, 1, 0), _rest(target, draft)

    def every_token(target, draft, token, dice):
        return dice[..., None] < target / draft, _rest(target, draft)

    def expected_acceptance(target, draft, token, dice):
        return dice < np.minimum(target, draft).sum(-1), _rest(target, draft)

    def all_after_the_first_rejected(target, draft, token, dice):
        kept = dice < _taken(target, token) / _taken(draft, token)
        return np.cumprod(kept, axis=-1).astype(bool), _rest(target, draft)

    def new_dice(target, draft, token, dice):
        dice = np.random.default_rng(0).random(token.shape)
        return dice < _taken(target, token) / _taken(draft, token), _rest(target, draft)

    def log_of_the_ratio(target, draft, token, dice):
        ratio = np.log(_taken(target, token)) - np.log(_taken(draft, token))
        return dice < ratio, _rest(target, draft)

    def not_normalised(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, np.maximum(target - draft, 0)

    def negative_kept(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = target - draft
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def absolute_difference(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.abs(target - draft)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def q_minus_p(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, _rest(draft, target)

    def rest_is_the_target(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, target

    def rest_without_the_token(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        rest = np.where(np.arange(target.shape[-1]) == token[..., None], 0, target)
        return dice < p / q, rest / rest.sum(-1, keepdims=True)

    def target_where_larger(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        rest = np.where(target > draft, target, 0)
        return dice < p / q, rest / rest.sum(-1, keepdims=True)

    def softmax_of_the_rest(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        e = np.exp(np.maximum(target - draft, 0))
        return dice < p / q, e / e.sum(-1, keepdims=True)

    def divided_by_the_sum_of_the_target(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, np.maximum(target - draft, 0) / target.sum(-1, keepdims=True)

    def minimum_in_place_of_beyond(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        both = np.minimum(target, draft)
        return dice < p / q, both / both.sum(-1, keepdims=True)

    def maximum_of_both(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        both = np.maximum(target, draft)
        return dice < p / q, both / both.sum(-1, keepdims=True)

    def ratio_beyond_one(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target / draft - 1, 0)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def summed_over_everything(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.sum()

    def summed_over_the_first_axis(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.sum(axis=0)

    def no_keepdims(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.sum(axis=-1)

    def mean_in_place_of_sum(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.mean(-1, keepdims=True)

    def divided_by_the_largest(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / beyond.max(-1, keepdims=True)

    def rest_zero_where_accepted(target, draft, token, dice):
        accepted = dice < _taken(target, token) / _taken(draft, token)
        return accepted, np.where(accepted[..., None], 0, _rest(target, draft))

    def rest_of_the_rejected_only(target, draft, token, dice):
        accepted = dice < _taken(target, token) / _taken(draft, token)
        return accepted, _rest(target[~accepted], draft[~accepted])

    def rest_times_the_chance(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        chance = np.minimum(1, p / q)[..., None]
        return dice < p / q, (1 - chance) * _rest(target, draft)

    def substitute_chosen(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, _rest(target, draft).argmax(-1)

    def indexes_with_the_token(target, draft, token, dice):
        p, q = target[token], draft[token]
        return dice < p / q, _rest(target, draft)

    def last_axis_with_all_tokens(target, draft, token, dice):
        p, q = target[..., token], draft[..., token]
        return dice < p / q, _rest(target, draft)

    def one_arange(target, draft, token, dice):
        rows = np.arange(len(token))
        p, q = target[rows, token], draft[rows, token]
        return dice < p / q, _rest(target, draft)

    def keeps_the_axis(target, draft, token, dice):
        p = np.take_along_axis(target, token[..., None], -1)
        q = np.take_along_axis(draft, token[..., None], -1)
        return dice[..., None] < p / q, _rest(target, draft)

    def axis_forgotten_in_dice(target, draft, token, dice):
        p = np.take_along_axis(target, token[..., None], -1)
        q = np.take_along_axis(draft, token[..., None], -1)
        return dice < p / q, _rest(target, draft)

    def counts_from_one(target, draft, token, dice):
        p, q = _taken(target, token - 1), _taken(draft, token - 1)
        return dice < p / q, _rest(target, draft)

    def exchanged_results(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return _rest(target, draft), dice < p / q

    def only_accepted(target, draft, token, dice):
        return dice < _taken(target, token) / _taken(draft, token)

    def python_max(target, draft, token, dice):
        beyond = max(target - draft, 0)
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def maximum_needs_two(target, draft, token, dice):
        beyond = np.max(target - draft, 0)
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def torch_gather(target, draft, token, dice):
        p = target.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        q = draft.gather(-1, token.unsqueeze(-1)).squeeze(-1)
        return dice < p / q, _rest(target, draft)

    def torch_clamp(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = (target - draft).clamp(min=0)
        return dice < p / q, beyond / beyond.sum(-1, keepdims=True)

    def if_of_an_array(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        if dice < p / q:
            return True, None
        return False, _rest(target, draft)

    def in_place(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        target -= draft
        target[target < 0] = 0
        return dice < p / q, target / target.sum(-1, keepdims=True)

    def epsilon_in_the_sum(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        beyond = np.maximum(target - draft, 0)
        return dice < p / q, beyond / (beyond.sum(-1, keepdims=True) + 1e-3)

    def q_with_an_epsilon(target, draft, token, dice):
        p, q = _taken(target, token), _taken(draft, token)
        return dice < p / (q + 0.1), _rest(target, draft)
