"""A reader that points: an encoder with two scores for every position, start and end."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attn.masks import padding_mask
from attn.training import cross_entropy
from attn.transformer import Encoder, TransformerConfig
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.stacks import TokenEmbedding

# The kind of a token: outside the context, inside it, or inside it and also a word of the question.
OUTSIDE, CONTEXT, MARKED = range(3)

# The most words of an answer.
MAX_WORDS = 8


class SpanReader(Checkpoint):
    """Read question and context together; score where an answer may start and end.

    A learned vector for the role of each token is added to its embedding. Without the mark on
    words that also occur in the question, the layers must first learn which words are equal.

    References
    ----------
    Devlin et al. (2019), section 4.3: one sequence, a vector for starts and one for ends, the
    first token for "no answer". Chen et al. (2017), section 3.2, for the mark.
    """

    unused = ("tgt_vocab_size", "prediction_head")

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.roles = nn.Embedding(3, config.d_model)
        self.encoder = Encoder(config)
        self.output = nn.Linear(config.d_model, 2)

    def forward(
        self,
        ids: Tensor,
        roles: Tensor,
        lengths: Tensor | Sequence[int],
        *,
        need_weights: bool = False,
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...] | None]:
        """Score every position as a start and as an end, each of shape (batch_size, seq_len).

        `ids` and `roles`, shape (batch_size, seq_len), begin with the token that stands for "no
        answer"; the question and the context follow. The weights of each layer come third.
        """
        x = self.embedding(ids) + self.roles(roles)
        mask = padding_mask(torch.as_tensor(lengths, device=x.device), ids.shape[1])
        x, weights = self.encoder(x, mask, need_weights=need_weights)
        start, end = self.output(x).unbind(dim=-1)
        return start, end, weights


def span_logits(start: Tensor, end: Tensor, roles: Tensor) -> Tensor:
    """Score every span of up to `MAX_WORDS` words: its start and its end together.

    Entry [b, i, n] of the result, shape (batch_size, seq_len, MAX_WORDS), is the score of the span
    of n + 1 words from position i, or -inf if the span leaves the context. Entry [b, 0, 0] is the
    score of "no answer".
    """
    no_answer = start[:, 0] + end[:, 0]
    outside = roles == OUTSIDE
    start, end = (scores.masked_fill(outside, -torch.inf) for scores in (start, end))
    ends = pad(end, (0, MAX_WORDS - 1), value=-torch.inf).unfold(1, MAX_WORDS, step=1)
    logits = start[..., None] + ends
    logits[:, 0, 0] = no_answer
    return logits


def flat_logits(reader: SpanReader, batch: dict[str, Tensor]) -> Tensor:
    """Return the scores of all spans of each question in a batch, as `span_logits` orders them."""
    start, end, _ = reader(batch["ids"], batch["roles"], batch["lengths"])
    return span_logits(start, end, batch["roles"]).flatten(1)


def span_loss(
    reader: SpanReader, batch: dict[str, Tensor], *, label_smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the sum of ``-log p(right span)`` over the batch, and the number of questions."""
    logits = flat_logits(reader, batch)
    return cross_entropy(logits, batch["span"], label_smoothing=label_smoothing)
