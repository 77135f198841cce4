"""A text read twice, once from each end: every word is predicted from its two sides."""

import torch
from torch import Tensor, nn

from attn._checks import argument_error, check_ids, check_shape, check_size


class BidirectionalRecurrent(nn.Module):
    """Two GRUs, one from each end: every word is predicted from the states on its two sides.

    Neither state has seen the word, so all words of a text can be asked for at once. The two
    meet only in the last linear layer: the logits are a sum of what the left side says and what
    the right side says.

    Parameters
    ----------
    vocab_size : int
    d_model : int, default 64
        Size of the embeddings and of the states.

    Raises
    ------
    ValueError
        If a size is not a positive integer.

    References
    ----------
    Peters et al. (2018), section 3.1, with two layers of LSTMs, and each direction asked for
    the word by itself; here both are asked together.

    Examples
    --------
    >>> model = BidirectionalRecurrent(vocab_size=10, d_model=8)
    >>> model(torch.tensor([[2, 5, 6, 7, 3]]), torch.tensor([5])).shape
    torch.Size([1, 3, 10])
    """

    def __init__(self, vocab_size: int, d_model: int = 64) -> None:
        super().__init__()
        vocab_size = check_size("vocab_size", vocab_size, least=1)
        d_model = check_size("d_model", d_model, least=1)
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.forwards = nn.GRU(d_model, d_model, batch_first=True)
        self.backwards = nn.GRU(d_model, d_model, batch_first=True)
        self.out_proj = nn.Linear(2 * d_model, vocab_size)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Score every token of the vocabulary at every place but the first and the last.

        Parameters
        ----------
        ids : Tensor of int, shape (batch_size, seq_len)
            At least three tokens each; padding may follow.
        lengths : Tensor of int64, shape (batch_size,)
            How many tokens of each row are no padding.

        Returns
        -------
        Tensor, shape (batch_size, seq_len - 2, vocab_size)
            Entry i is about token i + 1. Where that is a row's last token or padding, it means
            nothing.

        Raises
        ------
        ValueError
            If shapes do not fit, ids are not in the vocabulary or a row is too short.
        """
        check_ids("ids", ids, self.embedding.num_embeddings)
        check_shape("ids", ids, ("batch_size", "seq_len"))
        check_shape("lengths", lengths, (len(ids),))
        if len(ids) == 0 or lengths.min() < 3 or lengths.max() > ids.shape[1]:
            raise argument_error("lengths", f"from 3 to seq_len = {ids.shape[1]}", lengths.tolist())
        x = self.embedding(ids)
        before, _ = self.forwards(x)
        after, _ = self.backwards(_reverse(x, lengths))
        sides = [before[:, :-2], _reverse(after, lengths)[:, 2:]]
        logits: Tensor = self.out_proj(torch.cat(sides, dim=-1))
        return logits


def _reverse(x: Tensor, lengths: Tensor) -> Tensor:
    """Turn each row of `x` around, up to its length."""
    places = lengths[:, None] - 1 - torch.arange(x.shape[1], device=x.device)
    return x.gather(1, places.clamp(min=0)[..., None].expand_as(x))
