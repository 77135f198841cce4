"""Chapter 16, `step_intensity`: operations per byte of a decoding step, and common mistakes."""

import numpy as np

from attn_course.exercises.spec import Exercise


def step_intensity(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
    """Return the arithmetic intensity of decoding one token for each text of a batch.

    Parameters
    ----------
    n_parameters : float
        How many numbers of the weights multiply each token.
    n_layers, d_model, d_kv : int
        Layers, and the width of all heads of queries and of all heads of keys.
    bits : float
        Of a weight. Numbers in the cache have 16.
    context : int
        How many tokens each text has.
    batches : array, shape (n_batches,)
        How many texts are written at once.

    Returns
    -------
    array, shape (n_batches,)
        FLOP per byte.

    References
    ----------
    Pope et al. (2023), Efficiently Scaling Transformer Inference, section 2.
    """
    return _intensity(n_parameters, n_layers, d_model, d_kv, bits, context, batches)


def cases(seed):
    """Return models of all proportions; some whose cache is larger than their weights.

    Parameters
    ----------
    seed : int
        Seed of the random numbers; the shapes are always the same.

    Returns
    -------
    list of dict
        With the keys of the signature.
    """
    rng = np.random.default_rng(seed)

    def draw(n_layers, d_kv, bits, n_batches):
        shared = int(rng.integers(2, 6))
        return {
            "n_parameters": np.array(float(rng.integers(2_000, 20_000))),
            "n_layers": np.array(n_layers),
            "d_model": np.array(shared * d_kv),
            "d_kv": np.array(d_kv),
            "bits": np.array(bits),
            "context": np.array(int(rng.integers(20, 200))),
            "batches": rng.integers(2, 65, n_batches),
        }

    return [
        draw(1, 4, 8, 1),
        draw(2, 4, 16, 3),
        draw(3, 8, 4, 4),
        draw(4, 2, 8, 3),
        draw(2, 16, 4, 5),
        draw(6, 4, 16, 2),
    ]


def _intensity(n, layers, d, d_kv, bits, context, batch, **other):
    """Return the intensity; a mistake passes other numbers."""
    ways = {
        "per_weight": 2,
        "per_key": 4,
        "computed": batch,
        "wide": d,
        "weight_bytes": n * bits / 8,
        "cached": 2 * 2 * layers * d_kv * context,
        "texts": batch,
    } | other
    flops = ways["computed"] * (
        ways["per_weight"] * n + ways["per_key"] * layers * context * ways["wide"]
    )
    return flops / (ways["weight_bytes"] + ways["texts"] * ways["cached"])


def _with(other):
    """Return a wrong function, with numbers that `other` computes from the right ones."""

    def intensity(n_parameters, n_layers, d_model, d_kv, bits, context, batches):
        given = (n_parameters, n_layers, d_model, d_kv, bits, context, batches)
        return _intensity(*given, **other(*given))

    return intensity


MISTAKES = {
    "upside_down": (lambda *given: 1 / _intensity(*given),),
    "weights_for_each_text": (_with(lambda n, L, d, k, b, T, B: {"weight_bytes": B * n * b / 8}),),
    "cache_once": (_with(lambda n, L, d, k, b, T, B: {"texts": 1}),),
    "cache_forgotten": (_with(lambda n, L, d, k, b, T, B: {"texts": 0}),),
    "batch_not_computed": (_with(lambda n, L, d, k, b, T, B: {"computed": 1}),),
    "one_of_two": (_with(lambda n, L, d, k, b, T, B: {"cached": 2 * L * k * T}),),
    "one_layer": (_with(lambda n, L, d, k, b, T, B: {"cached": 4 * k * T}),),
    "one_token": (_with(lambda n, L, d, k, b, T, B: {"cached": 4 * L * k}),),
    "cache_of_all_heads": (_with(lambda n, L, d, k, b, T, B: {"cached": 4 * L * d * T}),),
    "bits_for_bytes": (
        _with(lambda n, L, d, k, b, T, B: {"weight_bytes": n * b}),
        _with(lambda n, L, d, k, b, T, B: {"weight_bytes": n * b, "cached": 32 * L * k * T}),
    ),
    "cache_of_few_bits": (_with(lambda n, L, d, k, b, T, B: {"cached": 2 * L * k * T * b / 8}),),
    "weights_of_16_bits": (_with(lambda n, L, d, k, b, T, B: {"weight_bytes": 2 * n}),),
    "one_operation": (
        _with(lambda n, L, d, k, b, T, B: {"per_weight": 1}),
        _with(lambda n, L, d, k, b, T, B: {"per_weight": 1, "per_key": 2}),
    ),
    "training": (_with(lambda n, L, d, k, b, T, B: {"per_weight": 6}),),
    "attention_forgotten": (_with(lambda n, L, d, k, b, T, B: {"per_key": 0}),),
    "half_the_attention": (
        _with(lambda n, L, d, k, b, T, B: {"per_key": 2}),
        _with(lambda n, L, d, k, b, T, B: {"per_key": 1}),
    ),
    "attention_of_the_keys": (_with(lambda n, L, d, k, b, T, B: {"wide": k}),),
    "attention_of_one_layer": (_with(lambda n, L, d, k, b, T, B: {"per_key": 4 / L}),),
}

EXERCISE = Exercise.from_file(__file__, ("intensity",), step_intensity, cases, MISTAKES)
