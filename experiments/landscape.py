"""A masked, a causal and a recurrent model of one size, after more and more training steps.

Writes ``notebooks/data/landscape.json``, which chapter 11 draws. All models are trained on 8,000
Spanish sentences of the grammar and predict each word of 500 others. The models of the longest runs
also predict 500 of their training sentences. A second recurrent model is trained, as the masked one
is, on predicting three words in ten. The runs of 800 steps, of all four models, are made with three
seeds.
"""

from functools import cache

import torch

from attn.masks import padding_mask
from attn.recurrent import BidirectionalRecurrent
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig, cross_entropy, pad, shift, train
from attn.transformer import DecoderOnly, EncoderOnly, TransformerConfig
from attn_course.grammar import splits
from experiments.runner import DATA, Experiment, Row

STEPS = (200, 400, 800, 1600, 3200)
RUNS = [(name, steps, 0) for steps in STEPS for name in ("masked", "causal", "recurrent")]
RUNS += [("recurrent_third", 800, 0)]
RUNS += [(name, 800, seed) for seed in (1, 2) for name, steps, _ in RUNS if steps == 800]
HIDDEN = 0.3
ARTICLES = ("el", "la", "los", "las")
RESULTS = DATA / "landscape.json"


def masked_loss(model, batch):
    """Return the loss of predicting three words in ten, which are masked in the text."""
    ids, lengths = batch
    hide = (torch.rand(ids.shape) < HIDDEN) & (ids > WordTokenizer.eos_id)
    read = ids.masked_fill(hide, model.config.vocab_size - 1)
    logits, _ = model(read, padding_mask(lengths, ids.shape[1]))
    return cross_entropy(logits[hide], ids[hide])


def causal_loss(model, batch):
    """Return the loss of predicting each word from the words before it."""
    read, asked = shift(batch[0])
    return cross_entropy(model(read)[0], asked, pad_id=WordTokenizer.pad_id)


def recurrent_loss(model, batch):
    """Return the loss of predicting each word from the words on both its sides."""
    ids, lengths = batch
    asked = ids[:, 1:-1].masked_fill(ids[:, 1:-1] == WordTokenizer.eos_id, WordTokenizer.pad_id)
    return cross_entropy(model(ids, lengths), asked, pad_id=WordTokenizer.pad_id)


def recurrent_third_loss(model, batch):
    """Return the loss of predicting three words in ten from the words on both their sides."""
    ids, lengths = batch
    asked = ids[:, 1:-1].masked_fill(ids[:, 1:-1] == WordTokenizer.eos_id, WordTokenizer.pad_id)
    asked = asked.masked_fill(torch.rand(asked.shape) >= HIDDEN, WordTokenizer.pad_id)
    return cross_entropy(model(ids, lengths), asked, pad_id=WordTokenizer.pad_id)


def collate(sentences):
    """Pad sentences to the same length."""
    return pad(sentences, WordTokenizer.pad_id)


@torch.no_grad()
def guesses(model, ids):
    """Return the logits of each word of one sentence, computed without reading that word.

    Parameters
    ----------
    model : EncoderOnly, DecoderOnly or BidirectionalRecurrent
    ids : list of int
        From ``<sos>`` to ``<eos>``.

    Returns
    -------
    Tensor, shape (len(ids) - 2, vocab_size)
    """
    read, n_words = torch.tensor([ids]), len(ids) - 2
    if isinstance(model, BidirectionalRecurrent):
        return model(read, torch.tensor([len(ids)]))[0]
    if isinstance(model, DecoderOnly):
        return model(read)[0][0, :n_words]
    places = torch.arange(n_words)
    read = read.repeat(n_words, 1)
    read[places, places + 1] = model.config.vocab_size - 1
    return model(read)[0][places, places + 1]


def accuracy(model, sentences, words=None):
    """Return the share of words that a model predicts, of all words or of those in a set of ids."""
    hits = [
        int(guess) == word
        for ids in sentences
        for guess, word in zip(guesses(model, ids).argmax(-1), ids[1:-1], strict=True)
        if words is None or word in words
    ]
    return sum(hits) / len(hits)


def make_models(vocab_size, seed=0):
    """Yield the name, model and loss of each of the four; the last id is the mask token."""
    config = TransformerConfig(
        vocab_size=vocab_size,
        d_model=64,
        n_heads=4,
        n_layers=2,
        d_ff=256,
        dropout=0.0,
        norm="pre",
        positions="rotary",
    )
    for name, make, loss in (
        ("masked", lambda: EncoderOnly(config), masked_loss),
        ("causal", lambda: DecoderOnly(config), causal_loss),
        ("recurrent", lambda: BidirectionalRecurrent(vocab_size), recurrent_loss),
        ("recurrent_third", lambda: BidirectionalRecurrent(vocab_size), recurrent_third_loss),
    ):
        torch.manual_seed(seed)
        yield name, make(), loss


def measure(name, steps, seed, tokenizer, sentences, held_out):
    """Train one model, and return its accuracy."""
    config = TrainingConfig(
        steps=steps, learning_rate=5e-3, warmup_steps=50, label_smoothing=0.0, seed=seed
    )
    model, loss = next(
        (model, loss)
        for made, model, loss in make_models(tokenizer.vocab_size + 1, seed)
        if made == name
    )
    train(model, loss, sentences, collate, config, length=len)
    articles = {tokenizer.encode(word)[0] for word in ARTICLES}
    row = {
        "model": name,
        "steps": steps,
        "seed": seed,
        "words": round(accuracy(model, held_out), 3),
        "articles": round(accuracy(model, held_out, articles), 3),
    }
    if steps == STEPS[-1]:
        row["train_words"] = round(accuracy(model, sentences[:500]), 3)
    return row


@cache
def material():
    """Return the tokenizer, and the training and test sentences."""
    parts = splits(n_train=8000)
    tokenizer = WordTokenizer.train(pair.target for pair in parts.train)
    sentences, held_out = (
        [tokenizer.encode(pair.target, sos=True, eos=True) for pair in part]
        for part in (parts.train, parts.test)
    )
    return tokenizer, sentences, held_out


def rows():
    """Return what is measured: every model after each number of steps."""
    return {
        f"{name}, {steps} steps, seed {seed}": Row(
            lambda run=(name, steps, seed): measure(*run, *material()),
            ({"model": name, "steps": steps, "seed": seed},),
        )
        for name, steps, seed in RUNS
    }


EXPERIMENT = Experiment(
    "A masked, a causal and a recurrent model of one size: what does each learn from the same text?",
    RESULTS,
    rows,
    minutes=30,
    constants=list,
)
