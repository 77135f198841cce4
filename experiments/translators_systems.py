"""The translators that `experiments.translators` compares, behind one interface.

A trained one is a `System`: how to make the model, how it reads text, what it predicts and how it
decodes. The other translators are functions from the parts of the corpus and some sentences to
translations.
"""

import re
import shutil
import string
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch

from attn.applications import _sequences
from attn.applications.translation import Translator
from attn.decoding import greedy
from attn.masks import padding_mask
from attn.metrics import ibm_model_1, translation_memory
from attn.recurrent import RecurrentCache, RecurrentEncoderDecoder
from attn.tokenizer import BytePairTokenizer
from attn.tokenizer.base import SPECIAL_TOKENS, Tokenizer
from attn.tokenizer.words import join, split
from attn.training import pad, shift
from attn.transformer import Transformer, TransformerConfig
from benchmarks import peers

VOCAB_SIZE = 4000
# The sizes of our Transformer and of nn.Transformer. A GRU with attention has more parameters than
# one without, so its width is smaller.
SIZES = TransformerConfig(
    vocab_size=VOCAB_SIZE,
    d_model=128,
    n_heads=4,
    n_layers=3,
    d_ff=512,
    norm="pre",
    positions="rotary",
)
WIDTHS = {"gru": 268, "gru_attention": 234}
# The limits of the Keras tutorial.
N_WORDS, MOST_WORDS = 15_000, 20
KERAS = TransformerConfig(
    vocab_size=N_WORDS,
    tgt_vocab_size=N_WORDS,
    d_model=256,
    n_heads=8,
    n_layers=1,
    d_ff=2048,
    positions="learned",
    max_len=MOST_WORDS,
    tie_embeddings=False,
)
MARKS = re.compile(f"[{re.escape(string.punctuation + '¿')}]")


def stripped(text):
    """Return a text as the Keras tutorial normalises it: lower case, no punctuation but the ¡.

    Examples
    --------
    >>> stripped("¿Don't they know?")
    'dont they know'
    """
    return MARKS.sub("", text.lower())


class BytePairs:
    """One byte-level BPE for both languages."""

    def __init__(self, pairs, vocab_size=VOCAB_SIZE):
        texts = [text for pair in pairs for text in (pair.source, pair.target)]
        self.tokenizer = BytePairTokenizer.train(texts, vocab_size)

    def example(self, pair):
        """Return the ids of a pair."""
        return self.tokenizer.encode(pair.source), self.tokenizer.encode(pair.target)

    def source(self, text):
        """Return the ids of a sentence to translate."""
        return self.tokenizer.encode(text)

    def text(self, ids):
        """Return the text of the ids."""
        return self.tokenizer.decode(ids)

    def limit(self, longest):
        """Return the maximum number of new tokens for sources of this length."""
        return 2 * longest + 10


class StrippedWords:
    """The words of the Keras tutorial: the most frequent; a sentence has at most 20.

    Examples
    --------
    >>> from attn.corpus import Pair
    >>> words = StrippedWords([Pair("Red, red roses.", "Rosas rojas, rojas.")], 5)
    >>> words.example(Pair("Red violets?", "¿Rojas?"))
    ([4, 1], [4])
    >>> words.text([4, 1])
    'rojas [UNK]'
    """

    def __init__(self, pairs, n_words=N_WORDS):
        self.ids, self.words = [], []
        for side in ("source", "target"):
            counts = Counter(
                word for pair in pairs for word in stripped(getattr(pair, side)).split()
            )
            kept = [word for word, _ in counts.most_common(n_words - len(SPECIAL_TOKENS))]
            self.words.append([*SPECIAL_TOKENS, *kept])
            self.ids.append({word: i for i, word in enumerate(self.words[-1])})

    def example(self, pair):
        """Return the ids of a pair; the target has 19 at most, to leave room for its end token."""
        return self.source(pair.source), self._of(1, pair.target)[: MOST_WORDS - 1]

    def source(self, text):
        """Return the ids of a sentence to translate."""
        return self._of(0, text)[:MOST_WORDS]

    def text(self, ids):
        """Return the text of the ids."""
        said = (self.words[1][i] if i != Tokenizer.unk_id else "[UNK]" for i in ids)
        return " ".join(said)

    def limit(self, longest):
        """Return the maximum number of new tokens."""
        return MOST_WORDS

    def _of(self, side, text):
        return [self.ids[side].get(w, Tokenizer.unk_id) for w in stripped(text).split()]


@dataclass(frozen=True)
class System:
    """A translator to be trained.

    Parameters
    ----------
    rates : tuple of float
        The learning rates to choose from.
    make : callable, () -> Module
    predict : callable, (model, batch) -> (logits, targets)
    write : callable, (model, sources, max_new_tokens) -> list of list of int
        Uses greedy decoding.
    text : type
        `BytePairs` or `StrippedWords`.
    """

    rates: tuple[float, ...]
    make: Callable
    predict: Callable
    write: Callable
    text: type = BytePairs


def predict_recurrent(model, batch):
    """Return the logits of a GRU at every position of the targets, and the tokens there."""
    src, lengths, tgt = batch
    inputs, targets = shift(tgt)
    return model(src, inputs, lengths)[0], targets


def predict_torch(model, batch):
    """Return the logits of ``nn.Transformer``, and the tokens there."""
    src, lengths, tgt = batch
    inputs, targets = shift(tgt)
    return model(src, inputs, padding_mask(lengths, src.shape[1])), targets


@torch.no_grad()
def write_recurrent(model, sources, max_new_tokens):
    """Return the greedy output of a GRU for each source, from its last state."""
    src, lengths = pad(sources, Tokenizer.pad_id)
    memory, last = model.encode(src, lengths)
    step = partial(model.step, memory=memory, last=last, lengths=lengths)
    return _greedy(step, len(src), max_new_tokens, RecurrentCache())


@torch.no_grad()
def write_torch(model, sources, max_new_tokens):
    """Return the output of ``nn.Transformer``, which has no cache and recomputes every prefix."""
    src, lengths = pad(sources, Tokenizer.pad_id)
    visible = padding_mask(lengths, src.shape[1])
    memory = model.core.encode(model.embedding(src), visible)

    def step(ids, cache):
        return model.output(model.core.decode(model.embedding(ids), memory, visible)[:, -1])

    return _greedy(step, len(src), max_new_tokens, None)


def _greedy(step, n_rows, max_new_tokens, cache):
    prompt = torch.full((n_rows, 1), Tokenizer.sos_id)
    ids = greedy(step, prompt, end_id=Tokenizer.eos_id, max_new_tokens=max_new_tokens, cache=cache)
    return [row[row != Tokenizer.pad_id].tolist() for row in ids[:, 1:]]


def make_recurrent(name, attention):
    """Return a bidirectional GRU; without attention it decodes from the last states."""
    return RecurrentEncoderDecoder(
        VOCAB_SIZE,
        WIDTHS[name],
        attention=attention,
        bidirectional=True,
        tie_embeddings=True,
        dropout=SIZES.dropout,
    )


def make_torch():
    """Return PyTorch's own Transformer between our embedding and our output layer.

    It applies dropout in two more places, inside the feed-forward network and to the attention
    weights; both are switched off, so that the recipe is the same.
    """
    model = peers.Translator(peers.TorchCore, replace(SIZES, positions="sinusoidal"))
    core = model.core.model
    for layer in (*core.encoder.layers, *core.decoder.layers):
        layer.dropout.p = 0.0
        layer.self_attn.dropout = 0.0
    for layer in core.decoder.layers:
        layer.multihead_attn.dropout = 0.0
    return model


RATES = (1.5e-3, 3e-3, 6e-3, 1.2e-2)
OURS = {"predict": _sequences.predict, "write": _sequences.write}
RECURRENT = {"predict": predict_recurrent, "write": write_recurrent}
TRAINED = {
    "transformer": System(RATES, partial(Transformer, SIZES), **OURS),
    "gru_attention": System(
        RATES, partial(make_recurrent, "gru_attention", "additive"), **RECURRENT
    ),
    "gru": System(RATES, partial(make_recurrent, "gru", None), **RECURRENT),
    "torch": System(RATES, make_torch, predict=predict_torch, write=write_torch),
    "keras": System(
        (7.5e-4, 1.5e-3, 3e-3), partial(Transformer, KERAS), **OURS, text=StrippedWords
    ),
}


def memory(parts, sources):
    """Translate with the target of the most similar training sentence."""
    return translation_memory(parts["train"], sources)[0]


def model_1(parts, sources):
    """Translate word by word, each with its most probable translation in IBM's model 1."""
    model = ibm_model_1([(split(pair.source), split(pair.target)) for pair in parts["train"]])
    return [join(model.translate(split(source))) for source in sources]


def shipped(parts, sources):
    """Translate with the model that comes with the course, as its page does."""
    translator = Translator.pretrained("tatoeba")
    return translator.translate(sources, beam_width=4, length_penalty=1.0)


def apertium(parts, sources):
    """Translate with Apertium's rules, or return None where it is not installed."""
    program = shutil.which("apertium")
    if program is None:
        return None
    listed = subprocess.run([program, "-l"], capture_output=True, text=True, check=False)
    if "eng-spa" not in listed.stdout.split():
        return None
    # A blank line ends a sentence even without punctuation.
    done = subprocess.run(
        [program, "-u", "eng-spa"],
        input="\n\n".join(sources),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip("\n").split("\n\n")


UNTRAINED = {"memory": memory, "model_1": model_1, "apertium": apertium, "shipped": shipped}
