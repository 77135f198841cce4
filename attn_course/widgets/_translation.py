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
