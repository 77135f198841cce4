"""The form in which widgets keep a translation with its weights."""

import re

import numpy as np

from attn._checks import argument_error
from attn_course.widgets._base import check_labels


def plain_translation(example):
    """Check a translation and its attention weights, and return them as lists.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        Or anything with its five attributes.

    Returns
    -------
    dict
        ``source``, ``target``, ``encoder``, ``decoder`` and ``cross``.

    Raises
    ------
    ValueError
        If a label is empty, or an array does not fit the tokens or is not of finite numbers.
    """
    source = check_labels("example.source", example.source)
    target = check_labels("example.target", example.target)
    sizes = {
        "encoder": (len(source), len(source)),
        "decoder": (len(target), len(target)),
        "cross": (len(target), len(source)),
    }
    plain, layers = {"source": source, "target": target}, None
    for name, size in sizes.items():
        weights = np.asarray(getattr(example, name))
        layers = weights.shape[:2] if layers is None else layers
        if weights.ndim != 4 or 0 in layers or weights.shape != (*layers, *size):
            expected = f"shape (n_layers, n_heads, {size[0]}, {size[1]}), as the others"
            raise argument_error(f"example.{name}", expected, weights.shape)
        if weights.dtype.kind not in "fiu" or not np.isfinite(weights).all():
            raise argument_error(
                f"example.{name}", "finite numbers", f"dtype {weights.dtype} or NaN"
            )
        plain[name] = weights.astype(float).tolist()
    return plain


def plain_cross(example):
    """Check the tokens and the cross-attention of a translation, and return them as lists.

    Parameters
    ----------
    example : attn.applications.translation.TranslationAttention
        Or anything with its ``source``, ``target`` and ``cross``.

    Returns
    -------
    dict
        ``source``, ``target`` and ``cross``, the last with four decimals.

    Raises
    ------
    ValueError
        If one is missing, a label is empty, or the weights do not fit the tokens or are not finite.
    """
    if missing := [n for n in ("source", "target", "cross") if not hasattr(example, n)]:
        expected = "what `Translator.attention` returns"
        raise argument_error(
            "example", expected, f"{type(example).__name__} without `{missing[0]}`"
        )
    source = check_labels("example.source", example.source)
    target = check_labels("example.target", example.target)
    cross = np.asarray(example.cross)
    shape = (len(target), len(source))
    if cross.ndim != 4 or 0 in cross.shape or cross.shape[2:] != shape:
        expected = f"shape (n_layers, n_heads, {shape[0]}, {shape[1]})"
        raise argument_error("example.cross", expected, cross.shape)
    if cross.dtype.kind not in "fiu" or not np.isfinite(cross).all():
        expected = "finite numbers"
        raise argument_error("example.cross", expected, f"some others, of dtype {cross.dtype}")
    return {"source": source, "target": target, "cross": cross.astype(float).round(4).tolist()}


def text_of(tokens, tokenizer):
    r"""Return the text of tokens: words with spaces between them, or byte pairs put together.

    Parameters
    ----------
    tokens : list of str
        As a tokenizer shows them: a byte that is no character of its own is ``\\xNN``.
    tokenizer : {"words", "bpe"}

    Examples
    --------
    >>> text_of(["la", "casa"], "words"), text_of(["¿", "D", "\\xc3", "\\xb3", "nde", "?"], "bpe")
    ('la casa', '¿Dónde?')
    """
    if tokenizer == "words":
        return " ".join(tokens)
    found = re.split(r"\\x([0-9a-f]{2})", "".join(tokens))
    parts = (bytes.fromhex(one) if i % 2 else one.encode() for i, one in enumerate(found))
    return b"".join(parts).decode(errors="replace")
