"""A passage and a question as the ids that the reader gets, and the right span."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attn._checks import wrong
from attn.applications.question_answering.spans import CONTEXT, MARKED, MAX_WORDS, OUTSIDE
from attn.tokenizer import WordTokenizer
from attn.tokenizer.text import check_text
from attn.tokenizer.words import normalise, split
from attn.training import pad


class Encoded(NamedTuple):
    """One sequence: ``<sos>``, the question, ``<eos>``, the context.

    Attributes
    ----------
    tokens : list of str
        The tokens as text, for figures and answers.
    ids, roles : list of int
    n_before : int
        The position at which the context begins.
    span : int
        The index of the right span in the flat logits of one example; 0 without an answer.
    """

    tokens: list[str]
    ids: list[int]
    roles: list[int]
    n_before: int
    span: int


def encode(
    tokenizer: WordTokenizer,
    marks_question_words: bool,
    context: str,
    question: str,
    answer: str = "",
    start: int | None = None,
) -> Encoded:
    """Encode a question and, to train on it, its answer.

    Parameters
    ----------
    tokenizer : WordTokenizer
    marks_question_words : bool
        Whether words of the context that occur in the question get the role `MARKED`. The
        texts of the words are compared, so that two unknown words differ.
    context, question, answer, start
        Three texts, and the index in the context of the first word of the answer.

    Returns
    -------
    Encoded

    Raises
    ------
    ValueError
        If a text has no words, or the answer does not stand where it starts, or has more
        than `MAX_WORDS` words.

    Examples
    --------
    >>> from attn.tokenizer import WordTokenizer
    >>> tokenizer = WordTokenizer(["is", "sky", "the", "blue"])
    >>> encoded = encode(tokenizer, True, "The sky is blue", "What is blue?", "sky", start=1)
    >>> encoded.tokens
    ['<sos>', 'What', 'is', 'blue', '?', '<eos>', 'The', 'sky', 'is', 'blue']
    >>> encoded.roles
    [0, 0, 0, 0, 0, 0, 1, 1, 2, 2]
    >>> divmod(encoded.span, MAX_WORDS)  # from position 7, no word more
    (7, 0)
    """
    asked, told = words_of("question", question), words_of("context", context)
    ids = tokenizer.encode(question, sos=True, eos=True) + tokenizer.encode(context)
    n_before = len(asked) + 2
    marked = {word.lower() for word in asked} if marks_question_words else set()
    roles = [OUTSIDE] * n_before
    roles += [MARKED if word.lower() in marked else CONTEXT for word in told]
    span = 0
    if answer:
        words = words_of("answer", answer)
        if len(words) > MAX_WORDS:
            raise wrong("answer", f"at most {MAX_WORDS} words", len(words))
        if start is None or told[start : start + len(words)] != words:
            raise wrong("answer", f"words of the context from start = {start}", repr(answer))
        span = (n_before + start) * MAX_WORDS + len(words) - 1
    return Encoded(["<sos>", *asked, "<eos>", *told], ids, roles, n_before, span)


def words_of(name: str, text: str) -> list[str]:
    """Return the words of a text as they are written; refuse one that has none."""
    words = split(normalise(check_text(name, text), lowercase=False))
    if not words:
        raise wrong(name, "at least one word", repr(text))
    return words


def collate(some: Sequence[Encoded]) -> dict[str, Tensor]:
    """Make a batch of encoded questions.

    Parameters
    ----------
    some : list of Encoded

    Returns
    -------
    dict of str to Tensor
        ``ids`` and ``roles``, shape (batch_size, seq_len); ``lengths`` and ``span``, shape
        (batch_size,).
    """
    ids, lengths = pad([one.ids for one in some], pad_id=0)
    roles, _ = pad([one.roles for one in some], pad_id=OUTSIDE)
    span = torch.tensor([one.span for one in some])
    return {"ids": ids, "roles": roles, "lengths": lengths, "span": span}
