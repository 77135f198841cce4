"""The modules that the course's are compared with, which do the same work."""

import math
import warnings

from torch import nn

from attn.masks import causal_mask
from attn.transformer.stacks import TokenEmbedding


class ExplicitAttention(nn.Module):
    """Multi-head attention that spells out every matrix, as teaching code often does.

    Examples
    --------
    >>> import torch
    >>> output, weights = ExplicitAttention(d_model=8, n_heads=2)(torch.ones(3, 5, 8))
    >>> output.shape, weights.shape
    (torch.Size([3, 5, 8]), torch.Size([3, 2, 5, 5]))
    """

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        self.projections = nn.ModuleList(nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, x, mask=None):
        """Return the output and the weights; `mask` is True where a query may attend."""
        batch_size, seq_len, d_model = x.shape
        query, key, value = (
            projection(x).view(batch_size, seq_len, self.n_heads, self.d_k).transpose(1, 2)
            for projection in self.projections[:3]
        )
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        output = (weights @ value).transpose(1, 2).reshape(batch_size, seq_len, d_model)
        return self.projections[3](output), weights


class Translator(nn.Module):
    """The embedding and the output of `attn.transformer.Transformer` with another core."""

    def __init__(self, core, config):
        super().__init__()
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.core = core(config)
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.output.weight = self.embedding.tokens.weight

    def forward(self, src, tgt, visible):
        """Return the logits; `visible`, (batch_size, 1, src_len), is True at real tokens."""
        memory = self.core.encode(self.embedding(src), visible)
        return self.output(self.core.decode(self.embedding(tgt), memory, visible))


class TorchCore(nn.Module):
    """`torch.nn.Transformer`, pre-norm."""

    def __init__(self, config):
        super().__init__()
        # PyTorch warns that pre-norm has no fast path, which these benchmarks do not need.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.model = nn.Transformer(
                d_model=config.d_model,
                nhead=config.n_heads,
                num_encoder_layers=config.n_layers,
                num_decoder_layers=config.n_layers,
                dim_feedforward=config.d_ff,
                dropout=config.dropout,
                batch_first=True,
                norm_first=True,
            )

    def encode(self, source, visible):
        """Return one vector per source token."""
        return self.model.encoder(source, src_key_padding_mask=~visible[:, 0])

    def decode(self, target, memory, visible):
        """Return one vector per target token."""
        return self.model.decoder(
            target,
            memory,
            tgt_mask=~causal_mask(target.shape[1]),
            tgt_is_causal=True,
            memory_key_padding_mask=~visible[:, 0],
        )


class XCore(nn.Module):
    """The encoder and the decoder of x-transformers, pre-norm, with the fused kernel."""

    def __init__(self, config):
        # The import is here because it loads the compiler of PyTorch.
        from x_transformers import Decoder, Encoder

        super().__init__()
        options = {
            "dim": config.d_model,
            "depth": config.n_layers,
            "heads": config.n_heads,
            "attn_dim_head": config.d_model // config.n_heads,
            "attn_flash": True,
            "ff_mult": config.d_ff / config.d_model,
            "ff_custom_activation": nn.ReLU(),
        }
        self.encoder = Encoder(**options)
        self.decoder = Decoder(cross_attend=True, **options)

    def encode(self, source, visible):
        """Return one vector per source token."""
        return self.encoder(source, self_attn_kv_mask=visible[:, 0])

    def decode(self, target, memory, visible):
        """Return one vector per target token."""
        return self.decoder(target, context=memory, context_mask=visible[:, 0])
