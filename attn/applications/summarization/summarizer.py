"""Summaries of a story: a headline that is written, and sentences that are picked."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from attn._checks import check_size
from attn.applications._folder import read_folder, whole_folder
from attn.applications._sequences import by_length, collate, sequence_loss
from attn.applications.summarization.encoding import encode
from attn.applications.summarization.sentences import lead, sentences_of
from attn.applications.summarization.stories import stories
from attn.decoding import greedy
from attn.masks import padding_mask
from attn.metrics import exact_match, rouge
from attn.tokenizer import WordTokenizer
from attn.training import TrainingConfig, pad, train
from attn.transformer import Transformer, TransformerConfig

FORMAT = "attn summarizer 1"
# Which name stands beside which verb decides, wherever the sentence was shuffled to: positions
# relative to each other serve best.
SIZES = {
    "d_model": 64, "n_heads": 4, "n_layers": 2, "d_ff": 256, "dropout": 0.0,
    "norm": "pre", "positions": "rotary",
}  # fmt: skip
TRAINING = TrainingConfig(steps=800, batch_size=32, learning_rate=3e-3, device="cpu")
N_EXAMPLES = 12000
MAX_TOKENS = 30  # of a headline


class SummaryAttention(NamedTuple):
    """Who attends to whom while a headline is written.

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
    encoder: np.ndarray
    decoder: np.ndarray
    cross: np.ndarray


class Summarizer:
    """Summarises stories.

    Parameters
    ----------
    model : Transformer
    tokenizer : WordTokenizer
        Of stories and headlines.
    history : attn.training.History, optional
        What became of the loss in training.

    References
    ----------
    Rush et al. (2015), for headlines as what a decoder is to write. Document 000, section
    3.3.4, on summaries: there the tokens that receive the most attention are the summary.

    Examples
    --------
    >>> summarizer = Summarizer.fit(stories(50, seed=0), training=TrainingConfig(steps=2))
    >>> text = "A storm hit Lima on Friday. Schools stayed closed."
    >>> summarizer.extract(text, n_sentences=2) == text
    True
    >>> headline = summarizer.generate(text)  # of two steps of training: not a good one
    """

    def __init__(self, model, tokenizer, history=None):
        self.model, self.tokenizer, self.history = model.cpu().eval(), tokenizer, history

    @classmethod
    def fit(cls, examples=None, *, sizes=(), training=TRAINING):
        """Learn to write headlines.

        Parameters
        ----------
        examples : list of Story, optional
            Those of `stories`, with the seed of `training`, if not given.
        sizes : dict, optional
            Of `attn.transformer.TransformerConfig`, where they are to differ from `SIZES`.
        training : attn.training.TrainingConfig, optional

        Returns
        -------
        Summarizer

        Raises
        ------
        ValueError
            If there are no examples, or a text of them has no words.
        """
        examples = stories(N_EXAMPLES, training.seed) if examples is None else list(examples)
        tokenizer = WordTokenizer.train(
            (text for pair in examples for text in pair), lowercase=False
        )
        pairs = [
            (encode(tokenizer, "text", text), encode(tokenizer, "headline", headline))
            for text, headline in examples
        ]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(training.seed)
            model = Transformer(TransformerConfig(tokenizer.vocab_size, **{**SIZES, **dict(sizes)}))
        loss = partial(sequence_loss, label_smoothing=training.label_smoothing)
        history = train(model, loss, pairs, collate, training, length=lambda pair: len(pair[0]))
        return cls(model, tokenizer, history)

    def generate(self, text):
        """Write a headline.

        Parameters
        ----------
        text : str
            Of its words, only those met in training can be written.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If `text` has no words.
        """
        return self._generate([text])[0]

    def extract(self, text, n_sentences=1):
        """Pick the sentences whose words receive the most attention.

        Parameters
        ----------
        text : str
        n_sentences : int, default 1

        Returns
        -------
        str
            The sentences, in their order; all of them if there are no more.

        Raises
        ------
        ValueError
            If `text` has no words, or `n_sentences` is not an integer of at least 1.
        """
        n_sentences = check_size("n_sentences", n_sentences, least=1)
        sentences, scores = self.sentence_scores(text)
        best = np.argsort(-scores, kind="stable")[:n_sentences]
        return " ".join(sentences[i] for i in sorted(best))

    def sentence_scores(self, text):
        """Return how much attention each sentence receives.

        That of a word is the mean weight it has in the encoder, over layers, heads and
        queries; that of a sentence is the mean over its words. (A sum would prefer long
        sentences.)

        Parameters
        ----------
        text : str

        Returns
        -------
        sentences : list of str
        scores : array, shape (n_sentences,)

        Raises
        ------
        ValueError
            If `text` has no words.

        References
        ----------
        Document 000, section 3.3.4: the mean over the queries, and the tokens with the most.
        """
        ids = encode(self.tokenizer, "text", text)
        sentences = sentences_of(text)
        with torch.inference_mode():
            _, weights = self.model.encode(torch.tensor(ids), need_weights=True)
        received = torch.stack(weights).mean(dim=(0, 1, 2)).numpy()
        ends = np.cumsum([len(self.tokenizer.encode(sentence)) for sentence in sentences])
        return sentences, np.array([part.mean() for part in np.split(received, ends[:-1])])

    def attention(self, text):
        """Return the attention weights with which a headline is written.

        Parameters
        ----------
        text : str

        Returns
        -------
        SummaryAttention

        Raises
        ------
        ValueError
            If `text` has no words.
        """
        src = encode(self.tokenizer, "text", text)
        tgt = self._decode([src])[0]
        with torch.inference_mode():
            inputs = torch.tensor([self.tokenizer.sos_id, *tgt[:-1]])
            _, weights = self.model(torch.tensor(src), inputs, need_weights=True)
        tokens = ([self.tokenizer.tokens[i] for i in ids] for ids in (src, tgt))
        return SummaryAttention(*tokens, *(torch.stack(layers).numpy() for layers in weights))

    def evaluate(self, examples, n_sentences=1):
        """Compare summaries with the right headlines, and with the first sentences.

        Parameters
        ----------
        examples : list of Story
        n_sentences : int, default 1
            How many `extract` and `lead` take.

        Returns
        -------
        dict
            ``exact_match`` of what is generated; ``generate``, ``extract`` and ``lead``, each
            the dict of `attn.metrics.rouge`; ``n_stories``.

        Raises
        ------
        ValueError
            If there are no examples, or an argument is not as in `extract`.
        """
        texts, right = [example[0] for example in examples], [example[1] for example in examples]
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

    def save(self, folder):
        """Write model and vocabulary to a folder, replacing it only at the end.

        Parameters
        ----------
        folder : str or Path

        Raises
        ------
        ValueError
            If something else than a summariser has this name, or it cannot be written.
        """
        with whole_folder(folder, {"format": FORMAT}) as unfinished:
            self.model.save(unfinished / "model.safetensors")
            self.tokenizer.save(unfinished / "words.json")

    @classmethod
    def load(cls, folder):
        """Read a summariser that `save` wrote.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        Summarizer
            Without its history.

        Raises
        ------
        ValueError
            If there is none, or it is damaged.
        """
        read_folder(folder, FORMAT)
        model = Transformer.load(Path(folder) / "model.safetensors")
        return cls(model, WordTokenizer.load(Path(folder) / "words.json"))

    def _generate(self, texts):
        """Write a headline for each text, those of about one length together."""
        sources = [encode(self.tokenizer, "text", text) for text in texts]
        headlines = [None] * len(sources)
        for some in by_length(sources):
            for i, ids in zip(some, self._decode([sources[i] for i in some]), strict=True):
                headlines[i] = self.tokenizer.decode(ids)
        return headlines

    @torch.inference_mode()
    def _decode(self, sources):
        """Return the ids of headlines, each with its ``<eos>``."""
        src, lengths = pad(sources, self.tokenizer.pad_id)
        src_mask = padding_mask(lengths, src.shape[1])
        memory, _ = self.model.encode(src, src_mask)
        ids = greedy(
            partial(self.model.step, memory=memory, src_mask=src_mask),
            torch.full((len(src), 1), self.tokenizer.sos_id),
            end_id=self.tokenizer.eos_id,
            max_new_tokens=MAX_TOKENS,
            cache=self.model.new_cache(),
        )
        return [row[row != self.tokenizer.pad_id].tolist() for row in ids[:, 1:]]
