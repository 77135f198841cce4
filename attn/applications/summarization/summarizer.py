"""Summaries of a story: a generated headline, or extracted sentences."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray

from attn._checks import argument_error, check_size
from attn.applications._application import Application, Sizes, configured, read_words
from attn.applications._folder import About
from attn.applications._sequences import (
    are_texts,
    as_written,
    attention_of,
    check_fits,
    collate,
    listed,
    placed,
    sequence_loss,
    write,
)
from attn.applications.summarization.sentences import lead, sentences_of
from attn.metrics import exact_match, rouge
from attn.metrics.text import as_array
from attn.tokenizer import WordTokenizer
from attn.tokenizer.base import Tokenizer
from attn.tokenizer.text import check_text
from attn.training import History, TrainingConfig
from attn.training.loss import at_least_float32
from attn.transformer import Transformer

# The headline depends on which name is next to which verb, and the sentences are shuffled, so
# rotary positions serve best.
SIZES: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 256,
    "dropout": 0.0,
    "norm": "pre",
    "positions": "rotary",
}
TRAINING = TrainingConfig(steps=800, batch_size=32, learning_rate=3e-3, device="cpu")
# The most tokens of a headline.
MAX_TOKENS = 30


class SummaryAttention(NamedTuple):
    """The attention weights while a headline is written.

    Attributes
    ----------
    story, headline : list of str
        The tokens. Row i of `decoder` and `cross` belongs to the query that *predicts*
        ``headline[i]``, the last of which is ``<eos>``; what it reads begins with ``<sos>``.
    encoder : array, shape (n_layers, n_heads, src_len, src_len)
    decoder : array, shape (n_layers, n_heads, tgt_len, tgt_len)
    cross : array, shape (n_layers, n_heads, tgt_len, src_len)
    """

    story: list[str]
    headline: list[str]
    encoder: NDArray[np.floating]
    decoder: NDArray[np.floating]
    cross: NDArray[np.floating]


class Summarizer(Application[Transformer]):
    """Summarises stories with one vocabulary for stories and headlines.

    References
    ----------
    Rush et al. (2015), for headlines written by a decoder.

    Examples
    --------
    >>> told = ("A storm hit Lima on Monday. Roads were closed.", "Storm hits Lima")
    >>> summarizer = Summarizer.fit([told] * 5, training=TrainingConfig(steps=2))
    >>> text = "A storm hit Lima on Friday. Schools stayed closed."
    >>> summarizer.extract(text, n_sentences=2) == text
    True
    >>> headline = summarizer.generate(text)  # of two steps of training: not a good one
    """

    _format, _model_class = "attn summarizer 1", Transformer

    def __init__(
        self, model: Transformer, tokenizer: WordTokenizer, history: History | None = None
    ) -> None:
        super().__init__(model, history)
        self.tokenizer = tokenizer

    @classmethod
    def fit(
        cls,
        examples: Iterable[tuple[str, str]],
        *,
        sizes: Sizes = (),
        training: TrainingConfig = TRAINING,
    ) -> Self:
        """Learn to write headlines.

        Parameters
        ----------
        examples : iterable of (text, headline)
        sizes : dict, optional
            Fields of `attn.transformer.TransformerConfig` that replace those of `SIZES`.

        Raises
        ------
        ValueError
            If there are no examples, a text has no words or is longer than the learned positions,
            or an argument is wrong.
        """
        examples = _checked(examples)
        tokenizer = WordTokenizer.train(
            (text for pair in examples for text in pair), lowercase=False
        )
        pairs = [
            (encode(tokenizer, "text", text), encode(tokenizer, "headline", headline))
            for text, headline in examples
        ]
        config = configured(SIZES, sizes, tokenizer.vocab_size)
        for i, (src, tgt) in enumerate(pairs):
            check_fits(f"examples[{i}], text", len(src), config)
            # The decoder also reads <sos>.
            check_fits(f"examples[{i}], headline", len(tgt), config, beside=1)
        model, history = cls._train(
            lambda: Transformer(config),
            sequence_loss,
            pairs,
            collate,
            training,
            length=lambda pair: len(pair[0]),
        )
        return cls(model, tokenizer, history)

    def generate(self, text: str) -> str:
        """Write a headline, which can only use words that occurred in training.

        Raises
        ------
        ValueError
            If `text` has no words, or more than there are learned positions.
        """
        return self._generate([text])[0]

    def extract(self, text: str, n_sentences: int = 1) -> str:
        """Pick the sentences whose words receive the most attention, in the order of the text.

        Raises
        ------
        ValueError
            If `text` has no words, or `n_sentences` is not an integer of at least 1.
        """
        n_sentences = check_size("n_sentences", n_sentences, least=1)
        sentences, scores = self.sentence_scores(text)
        best = sorted(range(len(sentences)), key=lambda i: -scores[i])[:n_sentences]
        return " ".join(sentences[i] for i in sorted(best))

    def sentence_scores(self, text: str) -> tuple[list[str], NDArray[np.floating]]:
        """Return the sentences of a text, and how much attention each of them receives.

        The score of a word is the mean weight that it receives in the encoder, over layers, heads
        and queries. The score of a sentence is the mean over its words, because a sum would prefer
        long sentences.

        Raises
        ------
        ValueError
            If `text` has no words.

        References
        ----------
        *Atención y el auge de los Transformers*, section 3.3.4, takes the tokens that receive the
        most attention on average.
        """
        ids = self._encode(text)
        sentences = sentences_of(text)
        with torch.no_grad():
            (read,) = placed(self.model, torch.tensor(ids))
            _, layers = self.model.encode(read, need_weights=True)
        weights = torch.stack(layers or ())
        received = as_array(weights.to(at_least_float32(weights)).mean(dim=(0, 1, 2)))
        ends = np.cumsum([len(self.tokenizer.encode(sentence)) for sentence in sentences])
        return sentences, np.array([part.mean() for part in np.split(received, ends[:-1])])

    def attention(self, text: str) -> SummaryAttention:
        """Return the attention weights of `generate` for a text. Errors are those of `generate`."""
        src = self._encode(text)
        tgt = write(self.model, [src], MAX_TOKENS)[0]
        story, headline = ([self.tokenizer.tokens[i] for i in ids] for ids in (src, tgt))
        weights, _ = attention_of(self.model, src, tgt[:-1])
        return SummaryAttention(story, headline, *weights)

    def evaluate(self, examples: Iterable[tuple[str, str]], n_sentences: int = 1) -> dict[str, Any]:
        """Compare summaries with the right headlines, and with the first sentences.

        Parameters
        ----------
        n_sentences : int, default 1
            The number of sentences that `extract` and `lead` take.

        Returns
        -------
        dict
            ``exact_match`` of what is generated; ``generate``, ``extract`` and ``lead``, each the
            dict of `attn.metrics.rouge`; ``n_stories``.

        Raises
        ------
        ValueError
            If there are no examples, or an argument is not as in `extract`.
        """
        examples = _checked(examples)
        texts = [example[0] for example in examples]
        right = [as_written(example[1], self.tokenizer) for example in examples]
        written = self._generate(texts)
        picked = [self.extract(text, n_sentences) for text in texts]
        first = [lead(text, n_sentences) for text in texts]
        return {
            "exact_match": exact_match(written, right),
            "generate": rouge(written, right),
            "extract": rouge(picked, right),
            "lead": rouge(first, right),
            "n_stories": len(texts),
        }

    def _vocabularies(self) -> dict[str, WordTokenizer]:
        return {"words": self.tokenizer}

    @classmethod
    def _from_folder(cls, folder: Path, about: About, model: Transformer) -> Self:
        return cls(model, read_words(folder, model.config.vocab_size))

    def _generate(self, texts: list[str]) -> list[str]:
        """Write a headline for each text."""
        sources = [self._encode(text) for text in texts]
        written = self._in_batches(sources, lambda some: write(self.model, some, MAX_TOKENS))
        return [self.tokenizer.decode(ids) for ids in written]

    def _encode(self, text: str) -> list[int]:
        ids = encode(self.tokenizer, "text", text)
        check_fits("text", len(ids), self.model.config)
        return ids


def _checked(examples: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return examples as a list; refuse an empty list and items other than two texts."""

    def is_one(example: Any) -> bool:
        return isinstance(example, (tuple, list)) and len(example) == 2 and are_texts(*example)

    return listed("examples", examples, "a pair of texts (text, headline)", is_one, "example")


def encode(tokenizer: Tokenizer, name: str, text: str) -> list[int]:
    """Return the ids of a text; an error for a text without words names the argument `name`."""
    ids = tokenizer.encode(check_text(name, text))
    if not ids:
        raise argument_error(name, "at least one word", repr(text))
    return ids
