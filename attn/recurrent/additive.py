"""Additive attention: a small network compares one state with each state of the encoder."""

import torch
from torch import Tensor, nn

from attn._checks import check_shape, check_size


class AdditiveAttention(nn.Module):
    """Score each state of the encoder by a network with one hidden layer, and average them.

    ``score_j = v . tanh(W query + U memory_j)``

    Parameters
    ----------
    d_model : int
        Size of the states, and of the hidden layer.

    Raises
    ------
    ValueError
        If the size is not a positive integer.

    References
    ----------
    Bahdanau et al. (2015), section 3.1 and appendix A.1.2.

    Examples
    --------
    >>> attention = AdditiveAttention(d_model=8)
    >>> memory = torch.ones(2, 5, 8)
    >>> context, weights = attention(torch.ones(2, 8), memory, attention.keys(memory))
    >>> context.shape, weights.shape
    (torch.Size([2, 8]), torch.Size([2, 5]))
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        d_model = check_size("d_model", d_model, least=1)
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model)
        self.score = nn.Linear(d_model, 1, bias=False)

    def keys(self, memory: Tensor) -> Tensor:
        """Return ``U memory``, which does not depend on the query and is computed once.

        Parameters
        ----------
        memory : Tensor, shape (batch_size, src_len, d_model)

        Returns
        -------
        Tensor, shape (batch_size, src_len, d_model)
        """
        keys: Tensor = self.k_proj(memory)
        return keys

    def forward(
        self, query: Tensor, memory: Tensor, keys: Tensor, visible: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Average the states of the encoder for one query.

        Parameters
        ----------
        query : Tensor, shape (batch_size, d_model)
        memory : Tensor, shape (batch_size, src_len, d_model)
        keys : Tensor, shape (batch_size, src_len, d_model)
            The result of the method `keys`.
        visible : Tensor of bool, shape (batch_size, src_len), optional
            True at real tokens; each row has at least one.

        Returns
        -------
        context : Tensor, shape (batch_size, d_model)
        weights : Tensor, shape (batch_size, src_len)

        Raises
        ------
        ValueError
            If the shapes do not fit.
        """
        check_shape("query", query, (len(memory), memory.shape[-1]), like="memory")
        check_shape("keys", keys, tuple(memory.shape), like="memory")
        scores: Tensor = self.score(torch.tanh(self.q_proj(query)[:, None] + keys))[..., 0]
        if visible is not None:
            scores = scores.masked_fill(~visible, -torch.inf)
        weights = scores.softmax(dim=-1)
        return (weights[:, None] @ memory)[:, 0], weights
