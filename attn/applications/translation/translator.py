"""A translator: the Transformer, two vocabularies, and how a sentence passes through them."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from attn._checks import check_choice, check_size, wrong
from attn.applications._folder import read_folder, whole_folder
from attn.applications._sequences import by_length, collate, predict, sequence_loss
from attn.decoding import beam_search, greedy
from attn.masks import padding_mask
from attn.metrics import bleu, exact_match, token_accuracy
from attn.tokenizer import BytePairTokenizer, WordTokenizer
from attn.training import TrainingConfig, pad, train
from attn.transformer import Transformer, TransformerConfig

TOKENIZERS = {"words": WordTokenizer, "bpe": BytePairTokenizer}
SIZES = {"d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256, "dropout": 0.1}
SIZES |= {"norm": "pre", "positions": "rotary"}
TRAINING = TrainingConfig(steps=2500, learning_rate=5e-3)
FORMAT = "attn translator 1"


class UnknownWordError(ValueError):
    """Words of which a translator knows nothing.

    Attributes
    ----------
    words : list of str
    """

    def __init__(self, name, words):
        self.words = words
        super().__init__(str(wrong(name, "words of the vocabulary", ", ".join(map(repr, words)))))


class TranslationAttention(NamedTuple):
    """Who attends to whom while a sentence is translated.

    Attributes
    ----------
    source, target : list of str
        The tokens. Row i of `decoder` and `cross` belongs to the query that *predicts*
        ``target[i]``, the last of which is ``<eos>``; what it can read begins with ``<sos>``.
    encoder : array, shape (n_layers, n_heads, src_len, src_len)
    decoder : array, shape (n_layers, n_heads, tgt_len, tgt_len)
    cross : array, shape (n_layers, n_heads, tgt_len, src_len)
    """

    source: list[str]
    target: list[str]
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray


class Translator:
    """Translates sentences.

    Parameters
    ----------
    model : Transformer
    source, target : Tokenizer
        The vocabularies of the two languages.
    max_len : int
        The most source tokens it accepts: as many as it was trained on.

    References
    ----------
    Vaswani et al. (2017). Document 000, section 3.3.4, on the translation system.
    """

    def __init__(self, model, source, target, max_len):
        self.model, self.source, self.target = model.eval(), source, target
        self.max_len = check_size("max_len", max_len, least=1)

    @classmethod
    def fit(
        cls, pairs, *, validation=None, tokenizer="words", vocab_size=None, sizes=(),
        training=TRAINING, checkpoint=None,
    ):  # fmt: skip
        """Learn from pairs of sentences.

        Parameters
        ----------
        pairs : sequence of attn.corpus.Pair
            Anything with a ``source`` and a ``target``.
        validation : sequence of attn.corpus.Pair, optional
            As in `attn.training.train`.
        tokenizer : {"words", "bpe"}, default "words"
            Byte pairs know no unknown words, and take longer to learn.
        vocab_size : int, optional
            The most tokens of each language. If not given, all words, or 2,000 byte pairs.
        sizes : dict, optional
            Of `attn.transformer.TransformerConfig`, where they differ from the defaults of a
            translator: small, pre-norm, with rotary positions.
        training : attn.training.TrainingConfig, optional
        checkpoint : str or Path, optional
            As in `attn.training.train`.

        Returns
        -------
        Translator

        Raises
        ------
        ValueError
            If there are no pairs, or an argument is not as above.
        """
        check_choice("tokenizer", tokenizer, tuple(TOKENIZERS))
        if not len(pairs):
            raise wrong("pairs", "at least one pair of sentences", "none")
        kind, size = TOKENIZERS[tokenizer], vocab_size
        if kind is BytePairTokenizer:
            size = 2000 if vocab_size is None else vocab_size
        source = kind.train((pair.source for pair in pairs), vocab_size=size)
        target = kind.train((pair.target for pair in pairs), vocab_size=size)
        config = TransformerConfig(source.vocab_size, target.vocab_size, **{**SIZES, **dict(sizes)})
        torch.manual_seed(training.seed)
        model = Transformer(config)
        lengths = [len(source.encode(pair.source)) for pair in pairs]
        translator = cls(model, source, target, max(lengths))
        train(
            model,
            partial(sequence_loss, label_smoothing=training.label_smoothing),
            translator._examples(pairs),
            collate,
            training,
            length=lambda example: len(example[0]) + len(example[1]),
            validation=None if validation is None else translator._examples(validation),
            checkpoint=checkpoint,
        )
        return translator

    def translate(self, text, *, beam_width=1):
        """Translate a sentence, or several at once.

        Parameters
        ----------
        text : str or list of str
        beam_width : int, default 1
            How many hypotheses `attn.decoding.beam_search` keeps; 1 is the greedy search.

        Returns
        -------
        str or list of str

        Raises
        ------
        UnknownWordError
            If the vocabulary lacks a word: a ``ValueError`` that says which.
        ValueError
            If a sentence is empty, or longer than any in training.
        """
        texts = text if isinstance(text, list) else [text]
        found = self._translate([self._encode(one) for one in texts], beam_width)
        return found if isinstance(text, list) else found[0]

    def attention(self, text, translation=None):
        """Return the attention weights with which a sentence is translated.

        Parameters
        ----------
        text : str
        translation : str, optional
            What to read as the decoder's own words; what it would write, if not given.

        Returns
        -------
        TranslationAttention

        Raises
        ------
        ValueError
            As `translate`, for either text.
        """
        src = self._encode(text)
        if translation is None:
            translation = self._translate([src], beam_width=1)[0]
        tgt = self.target.encode(_checked("translation", translation, self.target), eos=True)
        inputs = torch.tensor([self.target.sos_id, *tgt[:-1]])
        with torch.no_grad():
            _, weights = self.model(torch.tensor(src), inputs, need_weights=True)
        stacks = (torch.stack(layers).numpy() for layers in weights)
        tokens = ([t.tokens[i] for i in ids] for t, ids in ((self.source, src), (self.target, tgt)))
        return TranslationAttention(*tokens, *stacks)

    def evaluate(self, pairs, *, beam_width=1):
        """Compare translations with the right ones.

        Parameters
        ----------
        pairs : sequence of attn.corpus.Pair
        beam_width : int, default 1

        Returns
        -------
        dict
            ``exact_match`` and ``token_accuracy``, from 0 to 1 (the latter given the right
            tokens before); ``bleu``, from 0 to 100, with its ``bleu_signature``; ``n_pairs``.

        Raises
        ------
        ValueError
            If there are no pairs.
        """
        if not len(pairs):
            raise wrong("pairs", "at least one pair of sentences", "none")
        examples = self._examples(pairs)
        found = self._translate([src for src, _ in examples], beam_width)
        right = [self.target.decode(tgt) for _, tgt in examples]
        score = bleu(found, right)
        return {
            "exact_match": exact_match(found, right),
            "token_accuracy": self._token_accuracy(examples),
            "bleu": score.score,
            "bleu_signature": score.signature,
            "n_pairs": len(pairs),
        }

    def save(self, folder, *, quantised=False):
        """Write model and vocabularies to a folder, replacing it only at the end.

        Parameters
        ----------
        folder : str or Path
        quantised : bool, default False
            As in `attn.transformer.Transformer.save`: a quarter of the size, and what the
            widgets read.

        Raises
        ------
        ValueError
            If something else than a translator has this name.
        """
        about = {
            "format": FORMAT,
            "max_len": self.max_len,
            "tokenizer": next(n for n, kind in TOKENIZERS.items() if type(self.source) is kind),
        }
        with whole_folder(folder, about) as unfinished:
            self.model.save(unfinished / "model.safetensors", quantised=quantised)
            self.source.save(unfinished / "source.json")
            self.target.save(unfinished / "target.json")

    @classmethod
    def load(cls, folder):
        """Read a translator that `save` wrote.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        Translator

        Raises
        ------
        ValueError
            If there is none, or it is damaged.
        """
        folder = Path(folder)
        about = read_folder(folder, FORMAT)
        check_choice("tokenizer", about.get("tokenizer"), tuple(TOKENIZERS))
        kind = TOKENIZERS[about["tokenizer"]]
        source, target = kind.load(folder / "source.json"), kind.load(folder / "target.json")
        model = Transformer.load(folder / "model.safetensors")
        sizes = (source.vocab_size, target.vocab_size)
        if sizes != (model.config.vocab_size, model.config.tgt_vocab_size):
            raise wrong("folder", "vocabularies of its model's sizes", f"{folder}, with {sizes}")
        return cls(model, source, target, about.get("max_len"))

    @classmethod
    def pretrained(cls):
        """Read the translator that comes with the course: ``make model`` trains it.

        Returns
        -------
        Translator

        Examples
        --------
        >>> Translator.pretrained().translate("The cat that chased the mouse was black")
        'el gato que persiguió al ratón era negro'
        """
        return cls.load(Path(__file__).parents[1] / "models" / "translator")

    def _encode(self, text):
        if isinstance(text, str) and "." not in self.source.tokens:
            text = text.rstrip().removesuffix(".")  # a habit of writing, nothing to translate
        ids = self.source.encode(_checked("text", text, self.source))
        if len(ids) > self.max_len:
            expected = f"at most {self.max_len} tokens, the most it was trained on"
            raise wrong("text", expected, f"{len(ids)}")
        return ids

    def _examples(self, pairs):
        return [
            (self.source.encode(pair.source), self.target.encode(pair.target)) for pair in pairs
        ]

    @torch.no_grad()
    def _translate(self, sources, beam_width):
        """Translate lists of ids, those of about one length together."""
        found = [None] * len(sources)
        for some in by_length(sources):
            ids_of_some = self._decode([sources[i] for i in some], beam_width)
            for i, ids in zip(some, ids_of_some, strict=True):
                found[i] = self.target.decode(ids)
        return found

    def _decode(self, sources, beam_width):
        src, lengths = pad(sources, self.source.pad_id)
        src_mask = padding_mask(lengths, src.shape[1])
        memory, _ = self.model.encode(src, src_mask)
        step = partial(self.model.step, memory=memory, src_mask=src_mask)
        prompt = torch.full((len(src), 1), self.target.sos_id)
        # Spanish takes more words than English, never twice as many.
        limits = {"end_id": self.target.eos_id, "max_new_tokens": 2 * src.shape[1] + 10}
        cache = self.model.new_cache()
        if check_size("beam_width", beam_width, least=1) == 1:
            return greedy(step, prompt, cache=cache, **limits)
        ids, _ = beam_search(step, prompt, width=beam_width, cache=cache, **limits)
        return ids[:, 0]

    @torch.no_grad()
    def _token_accuracy(self, examples):
        right = count = 0
        for some in by_length([src for src, _ in examples]):
            batch = collate([examples[i] for i in some])
            logits, targets = predict(self.model, batch)
            n_tokens = int((targets != self.target.pad_id).sum())
            right += n_tokens * token_accuracy(logits.argmax(dim=-1), targets)
            count += n_tokens
        return right / count


def _checked(name, text, tokenizer):
    if not isinstance(text, str):
        raise wrong(name, "text", type(text).__name__)
    if not text.strip():
        raise wrong(name, "a sentence", "an empty text")
    unknown = tokenizer.unknown(text)
    if unknown:
        raise UnknownWordError(name, unknown)
    return text
