"""MiniLM, the pretrained model that makes a vector of a sentence, or how to fetch it.

It is a BERT of six layers. The vector of a sentence is the mean of the vectors of its tokens,
normalised to length 1, so that the dot product of two vectors is their cosine.

References
----------
Wang et al. (2020), MiniLM. Reimers and Gurevych (2019), Sentence-BERT, for means as vectors.
"""

import numpy as np
import torch

from attn._checks import argument_error
from attn.pretrained import fetched, load
from attn_course.smollm2 import Absent, NotFetched

# The most tokens of a text.
LONGEST = 512


def model():
    """Return the model in the layers of `attn`, and its tokenizer.

    Returns
    -------
    model : attn.transformer.EncoderOnly
    tokenizer : attn.tokenizer.WordPieceTokenizer
        Where the folder is missing, both only say how to get it when they are used.
    """
    try:
        return load(fetched("minilm", download=False))
    except ValueError as error:
        if str(error).startswith("minilm:"):
            absent = Absent(NotFetched("MiniLM", "minilm", 91))
            return absent, absent
        # The folder exists but holds something else.
        raise


@torch.inference_mode()
def vectors(model, tokenizer, texts, attends=True):
    """Return the vector of each text.

    Parameters
    ----------
    model, tokenizer
        As `model` returns them.
    texts : sequence of str
    attends : bool, default True
        Whether the tokens go through the layers, or are taken as they stand in the table of
        embeddings, where they know nothing of each other.

    Returns
    -------
    array, shape (n_texts, d_model)
        Of length 1 each.
    """
    means = []
    for text in texts:
        ids = _tensor(model, tokenizer.encode(text, sos=True, eos=True)[:LONGEST])
        found = model.encode(ids)[0] if attends else model.embedding.tokens(ids)
        means.append(found.mean(dim=0).cpu().double().numpy())
    means = np.stack(means)
    return means / np.linalg.norm(means, axis=1, keepdims=True)


@torch.inference_mode()
def at_every_layer(model, tokenizer, texts, word=""):
    """Return the vector of each text, or of a word in it, at every layer.

    Parameters
    ----------
    model, tokenizer
        As `model` returns them.
    texts : sequence of str
    word : str, optional
        A word that all the texts hold. Its vector is the mean of its pieces' vectors, at its first
        occurrence.

    Returns
    -------
    array, shape (n_layers + 1, n_texts, d_model)
        On entering the first layer, and after each. Of length 1 each.

    Raises
    ------
    ValueError
        If a text lacks the word.
    """
    found = []
    for text in texts:
        ids = tokenizer.encode(text, sos=True, eos=True)[:LONGEST]
        places = _place(tokenizer, ids, word)
        if places is None:
            raise argument_error("texts", f"the word {word!r} in each", repr(text))
        x = model.embedding(_tensor(model, [ids]))
        streams = [x]
        for layer in model.encoder.layers:
            x, _ = layer(x)
            streams.append(x)
        means = torch.cat(streams)[:, places].mean(dim=1).cpu().double().numpy()
        found.append(means / np.linalg.norm(means, axis=1, keepdims=True))
    return np.stack(found, axis=1)


def holds(tokenizer, text, word):
    """Return whether a text holds a word, piece by piece."""
    return _place(tokenizer, tokenizer.encode(text), word) is not None


def _place(tokenizer, ids, word):
    """Return where a word stands first in some ids, all of them without a word; None if nowhere."""
    asked = tokenizer.encode(word)
    if not asked:
        return slice(None)
    starts = (i for i in range(len(ids)) if ids[i : i + len(asked)] == asked)
    first = next(starts, None)
    return None if first is None else slice(first, first + len(asked))


@torch.inference_mode()
def received(model, tokenizer, sentences):
    """Return how much attention each sentence of a text receives, by token.

    It is counted as by `attn.applications.summarization.Summarizer.sentence_scores`: the mean over
    layers, heads and queries, then over the tokens of the sentence. The two special tokens around
    the text count as queries alone.

    Parameters
    ----------
    model, tokenizer
        As `model` returns them.
    sentences : sequence of str

    Returns
    -------
    array, shape (n_sentences,)
    """
    parts = [tokenizer.encode(sentence) for sentence in sentences]
    ids = [tokenizer.sos_id, *(i for part in parts for i in part), tokenizer.eos_id]
    _, weights = model.encode(_tensor(model, ids), need_weights=True)
    each = torch.stack(weights).mean(dim=(0, 1, 2)).cpu().double().numpy()[1:-1]
    ends = np.cumsum([len(part) for part in parts])
    return np.array([part.mean() for part in np.split(each, ends[:-1])])


def _tensor(model, ids):
    """Return ids as a tensor on the device of the model."""
    return torch.tensor(ids, device=next(model.parameters()).device)
