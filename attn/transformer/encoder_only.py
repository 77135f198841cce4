"""The encoder by itself, in the manner of BERT."""

from torch import Tensor, nn

from attn.attention.multi_head import Linear
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.config import TransformerConfig
from attn.transformer.stacks import Encoder, TokenEmbedding


class EncoderOnly(Checkpoint):
    """Read a text in both directions and score every token of the vocabulary at each position.

    Trained to restore masked tokens, its vectors serve classification and spans as well:
    ``encode`` gives them. `attn.pretrained.families` lists the options that make it a BERT.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Devlin et al. (2019), BERT.

    Examples
    --------
    >>> import torch
    >>> from attn.transformer import TransformerConfig
    >>> model = EncoderOnly(TransformerConfig(vocab_size=10, d_model=8, n_heads=2))
    >>> model(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    unused = ("tgt_vocab_size", "mixers", "experts")

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.encoder = Encoder(config)
        self.head: nn.Module = nn.Identity()
        if config.prediction_head:
            inner = Linear(config.d_model, config.d_model)
            self.head = nn.Sequential(inner, nn.GELU(), config.new_norm())
        self.output = Linear(config.d_model, config.vocab_size, bias=config.prediction_head)
        nn.init.xavier_uniform_(self.output.weight)
        if config.tie_embeddings:
            self.output.weight = self.embedding.tokens.weight

    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        token_types: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Score every token of the vocabulary at every position.

        Parameters
        ----------
        ids : Tensor of int64, shape (..., seq_len)
        mask : Tensor of bool, broadcastable to (..., seq_len, seq_len), optional
            True = may attend; for padding, `attn.masks.padding_mask`; for several texts in a
            row, what each may see.
        positions, token_types : Tensor of int64, broadcastable to (..., seq_len), optional
            Where each token stands, and of which kind it is, if the configuration has kinds; in
            a row from 0, and of kind 0, if not given.
        need_weights : bool, default False
            Also return the attention weights.

        Returns
        -------
        logits : Tensor, shape (..., seq_len, vocab_size)
        weights : tuple of Tensor, or None
            Those of each layer; None unless `need_weights`.
        """
        x, weights = self.encode(
            ids, mask, positions=positions, token_types=token_types, need_weights=need_weights
        )
        return self.output(self.head(x)), weights

    def encode(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        token_types: Tensor | None = None,
        need_weights: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Return the vectors, shape (..., seq_len, d_model), before they are scored."""
        x = self.embedding(ids, 0 if positions is None else positions, token_types)
        x, weights = self.encoder(x, mask, positions=positions, need_weights=need_weights)
        return x, weights
