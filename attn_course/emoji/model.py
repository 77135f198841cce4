"""The two encoders, of pictures and of texts, whose vectors are compared by cosine."""

import torch
from torch import nn

from attn._checks import check_shape
from attn.masks import padding_mask
from attn.training import pad
from attn.transformer import Encoder
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.stacks import TokenEmbedding
from attn_course.emoji import MAX_TOKENS, plain

N_DIMENSIONS = 64
SIDE, PATCH = 32, 8
N_PATCHES = (SIDE // PATCH) ** 2


class TextTower(Checkpoint):
    """Make one vector of length 1 of a text, and keep those of the pictures to compare it with.

    Parameters
    ----------
    config : TransformerConfig
        Its ``tgt_vocab_size`` is the number of pictures.

    References
    ----------
    Radford et al. (2021), Learning Transferable Visual Models From Natural Language Supervision.

    Examples
    --------
    >>> from attn.transformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=10, tgt_vocab_size=7, d_model=8, n_heads=2)
    >>> tower = TextTower(config).eval()
    >>> tower(torch.tensor([[5, 6, 0], [5, 6, 7]]), torch.tensor([2, 3])).shape
    torch.Size([2, 64])
    >>> tower.cosines(torch.tensor([[5, 6]]), torch.tensor([2])).shape
    torch.Size([1, 7])
    """

    unused = ("prediction_head",)

    def __init__(self, config):
        super().__init__(config)
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.encoder = Encoder(config)
        self.output = nn.Linear(config.d_model, N_DIMENSIONS)
        self.pictures = nn.Embedding(config.tgt_vocab_size, N_DIMENSIONS).requires_grad_(False)

    def forward(self, ids, lengths):
        """Return the vectors of texts, shape (n_texts, N_DIMENSIONS).

        Parameters
        ----------
        ids : Tensor of int64, shape (n_texts, seq_len)
        lengths : Tensor of int64, shape (n_texts,)
            How many ids of each are no padding.
        """
        x, _ = self.encoder(self.embedding(ids), padding_mask(lengths, ids.shape[1]))
        kept = (torch.arange(ids.shape[1]) < lengths[:, None]).to(x.dtype)[..., None]
        mean = (x * kept).sum(dim=1) / lengths[:, None]
        return nn.functional.normalize(self.output(mean), dim=-1)

    def cosines(self, ids, lengths):
        """Return the cosine of each text with each stored picture, shape (n_texts, n_pictures)."""
        pictures = nn.functional.normalize(self.pictures.weight, dim=-1)
        return self(ids, lengths) @ pictures.T


class ImageTower(nn.Module):
    """Make one vector of length 1 of a picture: a vision Transformer over patches of 8 × 8.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Dosovitskiy et al. (2021), An Image is Worth 16x16 Words, section 3.1.

    Examples
    --------
    >>> from attn.transformer import TransformerConfig
    >>> tower = ImageTower(TransformerConfig(vocab_size=1, d_model=8, n_heads=2)).eval()
    >>> tower(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2, 64])
    """

    def __init__(self, config):
        super().__init__()
        self.linear = nn.Linear(3 * PATCH**2, config.d_model)
        self.places = nn.Parameter(0.02 * torch.randn(N_PATCHES, config.d_model))
        self.encoder = Encoder(config)
        self.output = nn.Linear(config.d_model, N_DIMENSIONS)

    def forward(self, images):
        """Return the vectors of images, shape (n_images, N_DIMENSIONS).

        Parameters
        ----------
        images : Tensor, shape (n_images, 3, SIDE, SIDE)
        """
        check_shape("images", images, (..., 3, SIDE, SIDE))
        patches = nn.functional.unfold(images, PATCH, stride=PATCH).transpose(1, 2)
        x, _ = self.encoder(self.linear(patches) + self.places)
        return nn.functional.normalize(self.output(x.mean(dim=1)), dim=-1)


def batch_of(tokenizer, texts):
    """Return the ids of texts, padded to one length, and their lengths."""
    return pad([tokenizer.encode(plain(text))[:MAX_TOKENS] for text in texts], tokenizer.pad_id)
