"""One head of self-attention as a module."""

from torch import Tensor, nn

from attn._checks import check_shape, check_size
from attn.attention.scaled_dot_product import Attended, scaled_dot_product_attention


class SelfAttention(nn.Module):
    """One head of self-attention: three learned projections, then attention.

    It takes any batch and any mask, and returns the weights only with ``need_weights=True``.

    Parameters
    ----------
    d_model : int
        Size of the token vectors.
    d_k : int, optional
        Size of queries and keys; `d_model` if not given. Scores are divided by its root.
    d_v : int, optional
        Size of values and so of the output; `d_k` if not given.
    bias : bool, default False
        Whether the projections add a learned bias.

    References
    ----------
    Vaswani et al. (2017), sections 3.2.1 and 3.2.3.

    Examples
    --------
    >>> import torch
    >>> attention = SelfAttention(d_model=8, d_k=4)
    >>> output, weights = attention(torch.ones(2, 5, 8), need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 4]), torch.Size([2, 5, 5]))
    """

    def __init__(
        self, d_model: int, d_k: int | None = None, d_v: int | None = None, bias: bool = False
    ) -> None:
        super().__init__()
        self.d_model = check_size("d_model", d_model, least=1)
        d_k = d_model if d_k is None else check_size("d_k", d_k, least=1)
        d_v = d_k if d_v is None else check_size("d_v", d_v, least=1)
        self.q_proj = nn.Linear(d_model, d_k, bias=bias)
        self.k_proj = nn.Linear(d_model, d_k, bias=bias)
        self.v_proj = nn.Linear(d_model, d_v, bias=bias)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        need_weights: bool = False,
    ) -> Attended:
        """Let the positions of each sequence attend to each other.

        Parameters
        ----------
        x : Tensor, shape (..., seq_len, d_model)
        mask, is_causal, need_weights
            As in `scaled_dot_product_attention`, with both lengths ``seq_len``.

        Returns
        -------
        output : Tensor, shape (..., seq_len, d_v)
        weights : Tensor, shape (..., seq_len, seq_len), or None
        """
        check_shape("x", x, (..., "seq_len", self.d_model))
        return scaled_dot_product_attention(
            self.q_proj(x),
            self.k_proj(x),
            self.v_proj(x),
            mask,
            is_causal=is_causal,
            need_weights=need_weights,
        )
