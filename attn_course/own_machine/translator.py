"""A sentence through the machine in NumPy: the model that PyTorch trained, made of `Parts`.

It computes what `attn.applications.translation.Translator` computes, without a cache: at each step
the decoder reads again all that is written.
"""

import re

import numpy as np

from attn._checks import argument_error
from attn_course.own_machine.weights import trained

PAD, SOS, EOS = "<pad>", "<sos>", "<eos>"
_BASE = 10000.0  # of the rotation, as in `attn.positions`
_STEPS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}


def words_of(sentence):
    """Return the words of a sentence, in the form of the training sentences.

    These have words alone: no punctuation, no capitals, and no full stop at the end.

    Parameters
    ----------
    sentence : str

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there is no word, or there are more than in any sentence of the training.

    Examples
    --------
    >>> words_of("The house is red.")
    ['the', 'house', 'is', 'red']
    """
    words = re.findall(r"[\w'’-]+|\S", sentence.strip().removesuffix(".").lower())
    most = trained().max_len
    if not 1 <= len(words) <= most:
        raise argument_error("sentence", f"1 to {most} words", len(words))
    return words


def write(parts, sources):
    """Translate sentences word by word, always with the most probable word.

    Parameters
    ----------
    parts : attn_course.own_machine.parts.Parts
    sources : list of list of str
        Words.

    Returns
    -------
    list of list of str

    Raises
    ------
    RefusedError
        As `Parts.call`.
    """
    model = trained()
    lengths = np.array([len(words) for words in sources])
    longest = lengths.max()
    padded = np.array([[*words, *[PAD] * (longest - len(words))] for words in sources])
    real = parts.arrays("padding_mask", lengths, longest)
    memory = _encode(parts, padded, np.broadcast_to(real, (len(sources), longest, longest)))
    written = np.full((len(sources), 1), SOS, dtype=model.target.dtype)
    scores = np.zeros(len(sources))
    for _ in range(2 * longest + 10):  # as many as the translator of the course may write
        logits = _decode(parts, written, memory, real[:, 0])
        with np.errstate(divide="ignore"):  # what is impossible
            log_probabilities = np.log(parts.arrays("softmax", logits))
        added = []
        for row, score in enumerate(scores):
            best = parts.arrays("beam_step", log_probabilities[row : row + 1], [score], 1)
            added.append(model.target[int(best[1][0])])
            scores[row] = best[2][0]
        written = np.column_stack([written, added])
        if all(EOS in row for row in written):
            break
    said = ([*row[1:], EOS] for row in written.tolist())
    return [row[: row.index(EOS)] for row in said]


def _encode(parts, tokens, mask):
    model = trained()
    x = _embed(parts, tokens, model.source, "src_embedding")
    for i in range(model.config["n_layers"]):
        layer = f"encoder.layers.{i}"
        x = x + _self_attention(parts, _norm(parts, x, f"{layer}.norm_1"), layer, mask)
        x = x + _feed_forward(parts, _norm(parts, x, f"{layer}.norm_2"), layer)
    return _norm(parts, x, "encoder.norm")


def _decode(parts, tokens, memory, real):
    """Return the logits of the word after the last, for each sentence."""
    model = trained()
    n, length = tokens.shape
    causal = parts.arrays("causal_mask", length, length)
    mask = np.broadcast_to(causal, (n, length, length))
    x = _embed(parts, tokens, model.target, "tgt_embedding")
    for i in range(model.config["n_layers"]):
        layer = f"decoder.layers.{i}"
        x = x + _self_attention(parts, _norm(parts, x, f"{layer}.norm_1"), layer, mask)
        x = x + _cross_attention(parts, _norm(parts, x, f"{layer}.norm_2"), memory, layer, real)
        x = x + _feed_forward(parts, _norm(parts, x, f"{layer}.norm_3"), layer)
    return _norm(parts, x, "decoder.norm")[:, -1] @ model.tensors["output.weight"].T


def _embed(parts, tokens, vocabulary, name):
    table = trained().tensors[f"{name}.tokens.weight"]
    return parts.arrays("embed", tokens, vocabulary, table) * table.shape[1] ** 0.5


def _norm(parts, x, name):
    tensors = trained().tensors
    return parts.arrays("layer_norm", x, tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def _matrices(name):
    """Return what the exercises call w_q, b_q and so on: they multiply from the right."""
    tensors, found = trained().tensors, {}
    for letter, step in _STEPS.items():
        found[f"w_{letter}"] = tensors[f"{name}.{step}.weight"].T
        found[f"b_{letter}"] = tensors[f"{name}.{step}.bias"]
    return found


def _self_attention(parts, x, layer, mask):
    n_heads = trained().config["n_heads"]
    return parts.self_attention(x, _matrices(f"{layer}.self_attention"), n_heads, mask, _BASE)


def _cross_attention(parts, x, memory, layer, real):
    """Call an attention of one head once for each head, and add their outputs.

    A bias is an additional row of its matrix, which multiplies an additional component of 1 in
    every vector.
    """
    w, n_heads = _matrices(f"{layer}.cross_attention"), trained().config["n_heads"]
    own, read = (np.pad(each, ((0, 0), (0, 0), (0, 1)), constant_values=1) for each in (x, memory))
    of_head = [
        np.split(np.vstack([w[f"w_{letter}"], w[f"b_{letter}"]]), n_heads, axis=1)
        for letter in "qkv"
    ]
    heads = [
        parts.arrays("cross_attention", own, read, *each, real)[0]
        for each in zip(*of_head, strict=True)
    ]
    added = parts.arrays("head_contributions", np.stack(heads, axis=-3), w["w_o"])
    return added.sum(axis=-3) + w["b_o"]


def _feed_forward(parts, x, layer):
    tensors = trained().tensors
    numbers = (
        numbers
        for name in (f"{layer}.feed_forward.linear_1", f"{layer}.feed_forward.linear_2")
        for numbers in (tensors[f"{name}.weight"].T, tensors[f"{name}.bias"])
    )
    return parts.arrays("feed_forward", x, *numbers)
