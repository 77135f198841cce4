"""The model: the words of a question attend to each other and to the patches of an image."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attn._checks import argument_error, check_shape
from attn.applications.visual_question.patches import GROUND, N_COLUMNS, N_ROWS, PATCH_SIZE
from attn.layers import FeedForward
from attn.masks import padding_mask
from attn.positions import sinusoidal_positions
from attn.tokenizer import WordTokenizer
from attn.training import cross_entropy, pad
from attn.transformer import Decoder, TransformerConfig
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.stacks import TokenEmbedding

# The base of the sinusoidal positions. Over six positions, the waves of a base of 10,000 hardly move.
SLOWEST = 100.0
# The colours differ from the ground by about this much.
CONTRAST = 64.0

# Images, ids, lengths, answers.
Batch: TypeAlias = tuple[Tensor, Tensor, Tensor, Tensor]


class PatchEmbedding(nn.Module):
    """Cut an image into patches, and embed each with its row and column.

    Patches do not attend to each other, so the vector of a patch holds nothing of the others.
    A map of the cross-attention weights therefore shows where an answer came from.

    References
    ----------
    Dosovitskiy et al. (2021), An Image is Worth 16x16 Words, section 3.1, for patches as
    tokens; half the vector encodes the row and half the column, as in Carion et al. (2020).
    """

    places: Tensor
    ground: Tensor

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d_model = config.d_model
        self.linear = nn.Linear(PATCH_SIZE * PATCH_SIZE * 3, d_model)
        # Computed in float64 on the CPU, since the model's device may lack float64.
        rows = sinusoidal_positions(N_ROWS, d_model // 2, SLOWEST, device="cpu")
        columns = sinusoidal_positions(N_COLUMNS, d_model // 2, SLOWEST, device="cpu")
        places = torch.stack([torch.cat((row, column)) for row in rows for column in columns])
        places = places.float().to(self.linear.weight.device)
        self.register_buffer("places", places, persistent=False)
        self.register_buffer("ground", torch.tensor(GROUND).float(), persistent=False)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, config.d_ff)

    def forward(self, image: Tensor) -> Tensor:
        """Return the vectors of the patches, row by row: (..., N_ROWS * N_COLUMNS, d_model)."""
        check_shape("image", image, (..., N_ROWS * PATCH_SIZE, N_COLUMNS * PATCH_SIZE, 3))
        pixels = (image - self.ground) / CONTRAST
        batch = image.shape[:-3]
        grid = pixels.reshape(*batch, N_ROWS, PATCH_SIZE, N_COLUMNS, PATCH_SIZE, 3)
        patches = grid.transpose(-3, -4).flatten(-3).flatten(-3, -2)
        x = self.linear(patches) + self.places
        out: Tensor = self.norm_2(x + self.feed_forward(self.norm_1(x)))
        return out


class VisualQuestionModel(Checkpoint):
    """Choose an answer with a decoder without a causal mask, whose memory is the image.

    A weighted mean is a poor tool for counting, because the mean of three equal vectors is the same
    as that of two. The model counts by the *share* of the weight on the things asked about, so it
    needs the empty patches, which take the rest of the weight.

    The ``vocab_size`` of the configuration counts the tokens of questions, its ``tgt_vocab_size``
    the answers.

    References
    ----------
    *Attention mechanisms & Transformers*, slides "Cross-attention", asks for the colour of a
    ball.
    """

    unused = ("prediction_head",)

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        if config.tgt_vocab_size is None:
            raise argument_error("tgt_vocab_size", "the number of answers", None)
        self.patches = PatchEmbedding(config)
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.decoder = Decoder(config)
        self.output = nn.Linear(config.d_model, config.tgt_vocab_size)

    def forward(
        self, image: Tensor, ids: Tensor, mask: Tensor | None = None, *, need_weights: bool = False
    ) -> tuple[Tensor, tuple[tuple[Tensor, ...], tuple[Tensor, ...]] | None]:
        """Score every answer: logits of shape (..., tgt_vocab_size).

        The image is as in `PatchEmbedding`. The answer is read from the position of ``<sos>``, which
        `ids` begin with; `mask` hides their padding. The weights are those of `Decoder`, or None.
        """
        x, weights = self.decoder(
            self.embedding(ids),
            self.patches(image),
            mask,
            is_causal=False,
            need_weights=need_weights,
        )
        return self.output(x[..., 0, :]), weights


def collate(examples: Sequence[tuple[NDArray[np.uint8], list[int], int]]) -> Batch:
    """Return images, padded ids, their lengths before padding, and answers."""
    images = torch.tensor(np.stack([image for image, _, _ in examples]))
    ids, lengths = pad([ids for _, ids, _ in examples], WordTokenizer.pad_id)
    return images, ids, lengths, torch.tensor([answer for _, _, answer in examples])


def answer_loss(
    model: VisualQuestionModel, batch: Batch, *, label_smoothing: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the sum of the losses of a batch that `collate` made, and their number."""
    images, ids, lengths, answers = batch
    logits, _ = model(images, ids, padding_mask(lengths, ids.shape[1]))
    return cross_entropy(logits, answers, label_smoothing=label_smoothing)
