"""The weights of the course's translator as NumPy arrays, and its two vocabularies."""

import functools
import json
from dataclasses import dataclass

import numpy as np

from attn.applications.models import folder

_KINDS = {"F32": "<f4", "I8": "i1"}


@dataclass(frozen=True)
class Trained:
    """The translator of the grammar, as the course trained it.

    Attributes
    ----------
    config : dict
        The sizes, as in `attn.transformer.TransformerConfig`.
    tensors : dict of str to ndarray
        The parameters, by their names in the checkpoint.
    source, target : ndarray of str
        The words of both languages; the place of a word is its id.
    max_len : int
        The most words of a sentence in training.
    """

    config: dict
    tensors: dict[str, np.ndarray]
    source: np.ndarray
    target: np.ndarray
    max_len: int


@functools.cache
def trained():
    """Return the translator of the grammar, which is read once.

    Returns
    -------
    Trained

    Examples
    --------
    >>> trained().config["n_heads"], trained().source[4:7]
    (4, array(['the', 'was', 'a'], dtype='<U10'))
    """
    where = folder("grammar_translator")
    config, tensors = read_checkpoint((where / "model.safetensors").read_bytes())
    about, source, target = (
        json.loads((where / f"{stem}.json").read_text(encoding="utf-8"))
        for stem in ("about", "source", "target")
    )
    words = (np.array(vocabulary["tokens"]) for vocabulary in (source, target))
    return Trained(config, tensors, *words, about["max_len"])


def read_checkpoint(content):
    """Return the configuration and the numbers of a checkpoint that holds integers of 8 bits.

    Eight bytes hold the length of the header; the header holds the place of each tensor. A matrix
    is stored as integers, and its scales, one for each row, as a tensor of their own.

    Parameters
    ----------
    content : bytes

    Returns
    -------
    config : dict
    tensors : dict of str to ndarray
    """
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    about = json.loads(header.pop("__metadata__")["attn"])
    stored = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(content[start + first : start + last], _KINDS[entry["dtype"]])
        stored[name] = numbers.reshape(entry["shape"])
    tensors = {}
    for name, numbers in stored.items():
        if numbers.dtype == np.int8:
            numbers = numbers.astype(np.float32) * stored[f"{name}.scale"][:, None]
        if not name.endswith(".scale"):
            tensors[name] = numbers.astype(float)
    for name, first in about["tied"].items():
        tensors[name] = tensors[first]
    return about["config"], tensors
