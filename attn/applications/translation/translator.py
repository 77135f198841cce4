"""A translator: a Transformer with a vocabulary for each language."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from attn._checks import argument_error, check_choice, check_size
from attn.applications import _sequences, models
from attn.applications._application import Application, Sizes, configured
from attn.applications._folder import About
from attn.applications._sequences import Ids
from attn.applications.translation import certainty, vocabularies
from attn.applications.translation.cutting import Piece, cut, put_together
from attn.applications.translation.recipes import SIZES, TRAINING
from attn.corpus import Pair
from attn.corpus.pairs_file import normalise
from attn.metrics import bleu, chrf, exact_match
from attn.tokenizer.base import Tokenizer
from attn.training import History, Progress, TrainingConfig
from attn.transformer import Transformer

Text = TypeVar("Text", str, list[str])

# The languages that a translator may read; it writes the other one.
LANGUAGES = ("en", "es")


class TranslationAttention(NamedTuple):
    """The attention weights while a sentence is translated.

    Attributes
    ----------
    source, target : list of str
        The tokens. Row i of `decoder` and `cross` belongs to the query that *predicts*
        ``target[i]``, the last of which is ``<eos>``; what it can read begins with ``<sos>``.
    encoder : array, shape (n_layers, n_heads, src_len, src_len)
    decoder : array, shape (n_layers, n_heads, tgt_len, tgt_len)
    cross : array, shape (n_layers, n_heads, tgt_len, src_len)
    probabilities : array, shape (tgt_len,)
        The probability that the word of each target token is right, as in `Translator.translation`,
        and 1 for tokens that belong to no word.
    """

    source: list[str]
    target: list[str]
    encoder: NDArray[np.floating]
    decoder: NDArray[np.floating]
    cross: NDArray[np.floating]
    probabilities: NDArray[np.floating]

    @property
    def guessed(self) -> list[bool]:
        """Whether each target token belongs to a word that is more likely wrong than right."""
        return [bool(p < certainty.GUESSED) for p in self.probabilities]


class Translator(Application[Transformer]):
    """Translates sentences with the Transformer of Vaswani et al. (2017).

    Parameters
    ----------
    source, target : Tokenizer
        The vocabularies of the two languages; the same object if the vocabulary is joint.
    max_len : int
        The most source tokens that it reads at once, which is the longest source in training.
    punctuated : bool, default False
        Whether to add a missing capital letter and a missing final punctuation mark.
    source_language : {"en", "es"}, default "en"
        Whether it translates from English into Spanish, or from Spanish into English.
    """

    _format, _model_class = "attn translator 1", Transformer

    def __init__(
        self,
        model: Transformer,
        source: Tokenizer,
        target: Tokenizer,
        max_len: int,
        history: History | None = None,
        *,
        punctuated: bool = False,
        source_language: str = "en",
    ) -> None:
        super().__init__(model, history)
        check_choice("source_language", source_language, LANGUAGES)
        # With this slope and offset, the probabilities of the model stay unchanged.
        self._calibration = (1.0, 0.0)
        self.punctuated, self.source_language = bool(punctuated), source_language
        self.source, self.target = source, target
        self.max_len = check_size("max_len", max_len, least=1)

    @classmethod
    def fit(
        cls,
        pairs: Iterable[Pair],
        *,
        validation: Iterable[Pair] | None = None,
        tokenizer: str = "words",
        vocab_size: int | None = None,
        joint_vocabulary: bool = False,
        sizes: Sizes = (),
        training: TrainingConfig = TRAINING,
        checkpoint: str | Path | None = None,
        prepare: Callable[[Transformer], object] | None = None,
        report: Callable[[Progress], None] | None = None,
        source_language: str = "en",
    ) -> Self:
        """Learn from pairs of sentences.

        Parameters
        ----------
        pairs : iterable of attn.corpus.Pair
            Anything with a ``source`` and a ``target``.
        tokenizer : {"words", "bpe"}, default "words"
            With byte pairs no word is unknown, but training takes longer.
        vocab_size : int, optional
            The most tokens of each language. By default all words, or 2,000 byte pairs.
        joint_vocabulary : bool, default False
            Whether both languages have one vocabulary. Then, if ``tie_embeddings`` of the model is
            True, one embedding serves source, target and output layer.
        sizes : dict, optional
            Fields of `attn.transformer.TransformerConfig` that replace those of `SIZES`.
        training, validation, checkpoint, report
            As in `attn.training.train`. The translator stays on the device of the training.
        prepare : callable, (Transformer) -> None, optional
            Changes the model before it learns, as `facts.make_uniform` does.
        source_language : {"en", "es"}, default "en"
            The language of the sources. The pairs of the corpora are from English:
            `attn.corpus.Pair.turned` gives them in the other direction.

        Raises
        ------
        ValueError
            If there are no pairs, one is longer than the learned positions, or an argument is
            wrong.
        """
        check_choice("source_language", source_language, LANGUAGES)
        pairs = vocabularies.checked_pairs(pairs)
        if validation is not None:
            validation = vocabularies.checked_pairs(validation, "validation")
        source, target = vocabularies.learn(pairs, tokenizer, vocab_size, joint=joint_vocabulary)
        tgt_vocab_size = None if joint_vocabulary else target.vocab_size
        config = configured(SIZES, sizes, source.vocab_size, tgt_vocab_size)

        def make_model() -> Transformer:
            model = Transformer(config)
            if prepare is not None:
                prepare(model)
            return model

        examples = vocabularies.encoded(source, target, pairs, config)
        model, history = cls._train(
            make_model,
            _sequences.sequence_loss,
            examples,
            _sequences.collate,
            training,
            checkpoint=checkpoint,
            report=report,
            length=lambda pair: len(pair[0]) + len(pair[1]),
            validation=None
            if validation is None
            else vocabularies.encoded(source, target, validation, config, "validation"),
        )
        max_len, written = max(len(src) for src, _ in examples), vocabularies.are_sentences(pairs)
        return cls(
            model,
            source,
            target,
            max_len,
            history,
            punctuated=written,
            source_language=source_language,
        )

    def translate(self, text: Text, *, beam_width: int = 1, length_penalty: float = 0.0) -> Text:
        """Translate a text, or each text of a list.

        Line breaks stay where they are. Sentences are translated one by one, and one that is longer
        than any source in training in pieces: `attn.applications.translation.cutting` says which.

        Parameters
        ----------
        beam_width : int, default 1
            The number of hypotheses that `attn.decoding.beam_search` keeps; 1 is greedy search.
        length_penalty : float, default 0.0
            How strongly beam search favours longer hypotheses.

        Raises
        ------
        UnknownWordError
            If the vocabulary lacks a word: a ``ValueError`` that says which.
        ValueError
            If a text is empty, has the character NUL or a word that is longer than any source in
            training, or an option is out of range.
        """
        cuts = [self.pieces(one) for one in (text if isinstance(text, list) else [text])]
        sources = [self.source_ids(piece.text) for pieces in cuts for piece in pieces]
        written = iter(self._write(sources, beam_width, length_penalty))
        found = [
            put_together(pieces, [self.target.decode(next(written)) for _ in pieces])
            for pieces in cuts
        ]
        return found if isinstance(text, list) else found[0]

    def translation(
        self, text: str, *, beam_width: int = 1, length_penalty: float = 0.0
    ) -> certainty.Translation:
        """Translate a text as `translate` does, with the probability that each word is right.

        They come from the probabilities that the model gives its tokens. For the translators of
        real sentences that come with the course they are calibrated: of the words with a
        probability of about .7, seven of ten are in the translation that a person made. The
        probabilities of other translators are the model's own, which are often too high.

        Examples
        --------
        >>> found = Translator.pretrained().translation("The owl is asleep.")
        >>> found.marked()
        'El aceite[?] está dormido.'
        """
        pieces = self.pieces(text)
        sources = [self.source_ids(piece.text) for piece in pieces]
        return self._translations(
            [pieces], sources, self._write(sources, beam_width, length_penalty)
        )[0]

    def _translations(
        self, cuts: Sequence[Sequence[Piece]], sources: Sequence[Ids], written: Sequence[Ids]
    ) -> list[certainty.Translation]:
        """Return the translations of texts; `written` holds those of all their pieces in a row."""
        chances = iter(certainty.word_chances(self, sources, written))
        ids, found = iter(written), []
        for pieces in cuts:
            text = put_together(pieces, [self.target.decode(next(ids)) for _ in pieces])
            of_words = np.concatenate([[], *(next(chances) for _ in pieces)])
            sure = certainty.calibrated(of_words, *self._calibration).tolist()
            found.append(certainty.Translation(text, sure))
        return found

    def pieces(self, text: str) -> list[Piece]:
        """Cut a text into the pieces that `translate` translates, with its errors."""
        most = _sequences.most_tokens(self.model.config)
        limit = self.max_len if most is None else min(self.max_len, most)
        pieces = cut(
            vocabularies.readable("text", text),
            lambda part: len(self.source.encode(self._as_read(part))) <= limit,
        )
        unknown = [w for one in pieces for w in self.source.unknown(self._as_read(one.text))]
        if unknown:
            raise vocabularies.UnknownWordError("text", list(dict.fromkeys(unknown)))
        return pieces

    def attention(self, text: str, translation: str | None = None) -> TranslationAttention:
        """Return the attention weights while a sentence is translated, and how sure each word is.

        Parameters
        ----------
        translation : str, optional
            The tokens that the decoder reads; by default its own translation.

        Raises
        ------
        ValueError
            As `source_ids`, for either text.
        """
        src = self.source_ids(text)
        if translation is None:
            said = [i for i in self._write([src])[0] if i != self.target.eos_id]
        else:
            said = self.target.encode(vocabularies.checked("translation", translation, self.target))
        most = _sequences.most_tokens(self.model.config)
        # A translation that reached no <eos> may fill all positions, and <sos> needs one.
        if translation is None:
            said = said[: None if most is None else most - 1]
        _sequences.check_fits("translation", len(said), self.model.config, beside=1)
        source = [self.source.tokens[i] for i in src]
        target = [self.target.tokens[i] for i in (*said, self.target.eos_id)]
        (encoder, decoder, cross), logits = _sequences.attention_of(self.model, src, said)
        sure = certainty.of_tokens(self.target, said, logits, self._calibration)
        sure = sure.astype(cross.dtype)
        return TranslationAttention(source, target, encoder, decoder, cross, sure)

    def evaluate(
        self, pairs: Iterable[Pair], *, beam_width: int = 1, length_penalty: float = 0.0
    ) -> dict[str, Any]:
        """Compare translations with the right ones.

        Parameters
        ----------
        beam_width, length_penalty
            As in `translate`.

        Returns
        -------
        dict
            ``exact_match`` and ``token_accuracy``, from 0 to 1 (the latter given the right tokens
            before); ``bleu`` and ``chrf``, from 0 to 100, and the ``..._signature`` of either;
            ``n_pairs``. Sources may be longer than for `translate`.

        Raises
        ------
        ValueError
            If there are no pairs, or one is longer than the positions that the model learned.
        """
        pairs = vocabularies.checked_pairs(pairs)
        examples = self._examples(pairs)
        written = self._write([src for src, _ in examples], beam_width, length_penalty)
        found = [self.target.decode(ids) for ids in written]
        right = [_sequences.as_written(pair.target, self.target) for pair in pairs]
        by_words, by_characters = bleu(found, right), chrf(found, right)
        return {
            "exact_match": exact_match(found, right),
            "token_accuracy": _sequences.token_accuracy_of(self.model, examples),
            "bleu": by_words.score,
            "bleu_signature": by_words.signature,
            "chrf": by_characters.score,
            "chrf_signature": by_characters.signature,
            "n_pairs": len(pairs),
        }

    def _about(self) -> About:
        kind = vocabularies.kind_of(self.source)
        about = {"max_len": self.max_len, "tokenizer": kind, "punctuated": self.punctuated}
        # The folders of older versions do not say that they are from English.
        return about if self.source_language == "en" else about | {"from": self.source_language}

    def _vocabularies(self) -> dict[str, Tokenizer]:
        return vocabularies.named(self.source, self.target)

    @classmethod
    def _from_folder(cls, folder: Path, about: About, model: Transformer) -> Self:
        sizes = (model.config.vocab_size, model.config.tgt_vocab_size)
        source, target = vocabularies.read(folder, about.get("tokenizer"), sizes)
        # The constructor checks the types.
        max_len: Any = about.get("max_len")
        source_language: Any = about.get("from", "en")
        return cls(
            model,
            source,
            target,
            max_len,
            punctuated=about.get("punctuated") is True,
            source_language=source_language,
        )

    @classmethod
    def pretrained(
        cls,
        name: str = models.TRANSLATOR,
        *,
        source_language: str = "en",
        device: str | torch.device = "cpu",
    ) -> Self:
        """Read a translator that comes with the course: ``make model`` trains it.

        Parameters
        ----------
        name : {"tatoeba", "grammar"}
            The training data: real sentences, or those of a grammar.
        source_language : {"en", "es"}, default "en"
            The language that it reads. The translator of the grammar reads English alone.

        Raises
        ------
        ValueError
            If an argument is wrong, or no translator of that direction comes with the course.

        Examples
        --------
        >>> Translator.pretrained("grammar").translate("The cat that chased the mouse was black")
        'el gato que persiguió al ratón era negro'
        """
        check_choice("name", name, models.TRANSLATORS)
        check_choice("source_language", source_language, LANGUAGES)
        folder = models.translator_folder(name, source_language)
        if not folder.exists():
            wanted = f"'en', which the translator {name!r} reads ({models.TRANSLATOR!r} reads both)"
            raise argument_error("source_language", wanted, repr(source_language))
        translator = cls.load(folder, device=device)
        fitted = name if source_language == "en" else f"{name}_{source_language}"
        translator._calibration = certainty.fitted().get(fitted, translator._calibration)
        return translator

    def source_ids(self, text: str) -> Ids:
        """Return the ids that the encoder reads at once.

        Errors are those of `translate`, and more ids than the model can read at once are refused.
        """
        ids = self.source.encode(self._as_read(vocabularies.checked("text", text, self.source)))
        if len(ids) > self.max_len:
            raise argument_error("text", f"at most {self.max_len} tokens, as in training", len(ids))
        _sequences.check_fits("text", len(ids), self.model.config)
        return ids

    def _as_read(self, text: str) -> str:
        """Return a text in the form of the training texts, without a check of its words."""
        text = vocabularies.without_stop(normalise(text), self.source)
        return (
            vocabularies.as_sentence(text)
            if self.punctuated and "." in self.source.tokens
            else text
        )

    def _examples(self, pairs: Sequence[Pair]) -> list[tuple[Ids, Ids]]:
        return vocabularies.encoded(self.source, self.target, pairs, self.model.config)

    def _write(
        self, sources: Sequence[Ids], beam_width: int = 1, length_penalty: float = 0.0
    ) -> list[Ids]:
        def decode(some: list[Ids]) -> list[Ids]:
            # A sentence never needs twice the tokens of its translation, and ten more leave room
            # for short sentences.
            limits = [2 * len(source) + 10 for source in some]
            return _sequences.write_each(
                self.model, some, limits, beam_width=beam_width, length_penalty=length_penalty
            )

        return self._in_batches(sources, decode)
