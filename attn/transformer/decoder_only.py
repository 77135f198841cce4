"""The decoder by itself, in the manner of GPT: an encoder's layers under a causal mask."""

from torch import Tensor, nn

from attn._checks import argument_error
from attn.attention.multi_head import Linear
from attn.cache import DecoderCache, FixedCache, restored_on_error
from attn.transformer.checkpoint import Checkpoint
from attn.transformer.config import TransformerConfig
from attn.transformer.stacks import Encoder, TokenEmbedding, following, new_tokens


class DecoderOnly(Checkpoint):
    """Predict, at every position of a text, the token that follows.

    Without a source there is no cross-attention: the rest of a decoder layer is an encoder layer
    with a causal mask. `attn.pretrained.families` lists the options that make it a GPT-2 or a
    Llama.

    Parameters
    ----------
    config : TransformerConfig

    References
    ----------
    Radford et al. (2018), Improving Language Understanding by Generative Pre-Training.

    Examples
    --------
    >>> import torch
    >>> from attn.transformer import TransformerConfig
    >>> model = DecoderOnly(TransformerConfig(vocab_size=10, d_model=8, n_heads=2))
    >>> model(torch.tensor([[5, 6, 7]]))[0].shape
    torch.Size([1, 3, 10])
    """

    unused = ("tgt_vocab_size", "prediction_head")

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.embedding = TokenEmbedding(config.vocab_size, config)
        self.stack = Encoder(config)
        self.output = Linear(config.d_model, config.vocab_size, bias=False)
        nn.init.xavier_uniform_(self.output.weight)
        if config.tie_embeddings:
            self.output.weight = self.embedding.tokens.weight

    def forward(
        self,
        ids: Tensor,
        mask: Tensor | None = None,
        *,
        positions: Tensor | None = None,
        need_weights: bool = False,
        cache: DecoderCache | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Score the token that follows each position.

        Parameters
        ----------
        ids : Tensor of int64, shape (..., seq_len)
            With a `cache`, only the tokens it has not seen.
        mask : Tensor of bool, broadcastable to (..., seq_len, seq_len), optional
            Besides the causal mask: what padding hides, or, with several texts in a row, what
            belongs to another text.
        positions : Tensor of int64, broadcastable to (..., seq_len), optional
            Where each token stands; behind those in the cache if not given.
        need_weights : bool, default False
            Also return the attention weights.
        cache : attn.cache.DecoderCache, optional
            From `new_cache`.

        Returns
        -------
        logits : Tensor, shape (..., seq_len, vocab_size)
        weights : tuple of Tensor, or None
            Those of each layer; None unless `need_weights`.
        """
        if isinstance(cache, FixedCache):
            for name, given in {"mask": mask, "positions": positions}.items():
                if given is not None:
                    raise argument_error(
                        name, "None, since the room of the cache is fixed", "a tensor"
                    )
            slots = cache.slots(ids.shape[-1])
            try:
                logits, weights = self.in_room(ids, cache, slots, need_weights)
            except BaseException:
                cache.forget_failed()
                raise
            cache.advance(ids.shape[-1])
            cache.keep_ids(ids)
            return logits, weights
        start = following(ids, cache) if positions is None else positions
        with restored_on_error(cache):
            x, weights = self.stack(
                self.embedding(ids, start),
                mask,
                positions=positions,
                is_causal=True,
                need_weights=need_weights,
                cache=cache,
            )
            logits = self.output(x)
        if cache is not None:
            cache.keep_ids(ids)
        return logits, weights

    def in_room(
        self, ids: Tensor, cache: FixedCache, slots: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """Write tokens into slots of a cache and score what follows each, as `forward` does.

        The method neither reads nor changes the length of the cache: `FixedCache.advance` does. So
        it is the same for every step, and can be recorded or compiled once. Each call continues
        from the states and windows that the previous call left.

        Parameters
        ----------
        ids : Tensor of int64, shape (n_rows, n_new)
        cache : attn.cache.FixedCache
        slots : Tensor of int64, shape (n_new,)
            From `FixedCache.slots`, on the device of the cache.
        need_weights : bool, default False
            As in `forward`; their last axis has all the room, or the window and the new tokens.

        Returns
        -------
        logits : Tensor, shape (n_rows, n_new, vocab_size)
        weights : tuple of Tensor, or None
        """
        cache.place(slots)
        x = self.embedding(ids, slots)
        x, weights = self.stack(x, is_causal=True, need_weights=need_weights, cache=cache)
        logits = self.output(x)
        cache.settle()
        return logits, weights

    def step(
        self,
        ids: Tensor,
        cache: DecoderCache | None,
        mask: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> Tensor:
        """Score the next token of each row: the step of `attn.decoding`.

        Parameters
        ----------
        ids : Tensor of int64, shape (n_rows, length)
            Everything written so far.
        cache : attn.cache.DecoderCache, or None
            From `new_cache`; None reads the whole of `ids` again.
        mask : Tensor of bool, shape (n_prompts, 1, prompt_len), optional
            True at the real tokens of prompts of unequal length, which are padded on the left
            so that all end together: ``padding_mask(lengths, prompt_len).flip(-1)``. `n_rows`
            may be a multiple of `n_prompts`.
        positions : Tensor of int64, shape (n_prompts, prompt_len), optional
            Where the tokens of the prompts stand, if not as `mask` counts them.

        Returns
        -------
        Tensor, shape (n_rows, vocab_size)

        Raises
        ------
        ValueError
            If `ids` holds no token that is new to the cache, or prompts end in padding.

        Examples
        --------
        Two prompts, of two tokens and of one, go on together.

        >>> import torch
        >>> from functools import partial
        >>> from attn.decoding import greedy
        >>> from attn.masks import padding_mask
        >>> from attn.transformer import TransformerConfig
        >>> model = DecoderOnly(TransformerConfig(vocab_size=10, d_model=8, n_heads=2)).eval()
        >>> prompts, limits = torch.tensor([[5, 6], [0, 7]]), {"end_id": None, "max_new_tokens": 4}
        >>> step = partial(model.step, mask=padding_mask([2, 1], 2).flip(-1))
        >>> together = greedy(step, prompts, cache=model.new_cache(), **limits)
        >>> torch.equal(together[1:, 1:], greedy(model.step, torch.tensor([[7]]), **limits))
        True
        """
        ids, mask, positions = new_tokens(ids, cache, mask, positions)
        logits: Tensor = self(ids, mask, positions=positions, cache=cache)[0]
        return logits[:, -1]

    def new_cache(self, room: int | None = None, n_rows: int = 1) -> DecoderCache:
        """Return an empty cache for `forward` and `step`.

        Parameters
        ----------
        room : int, optional
            Return an `attn.cache.FixedCache` for so many tokens, of the type and on the device
            of the model, which `attn.transformer.Captured` needs; it takes no `mask` and no
            `positions`, since all its rows begin at the same token. Layers that see a window keep the
            window, those with a state the state. If not given, the cache grows as it is filled.
        n_rows : int, default 1
            Number of rows of a fixed cache.
        """
        if room is None:
            return self.stack.new_cache()
        modules = [layer.self_attention for layer in self.stack.layers]
        for mixer, module in zip(self.config.layer_mixers, modules, strict=True):
            if not hasattr(module, "new_fixed_cache"):
                wanted = f"None, since {type(mixer).__name__} has no cache of fixed room"
                raise argument_error("room", wanted, room)
        if self.config.attention != "scaled_dot_product":
            # Other attentions may assume that the last query stands at the last key.
            wanted = "None, since the attention is not scaled_dot_product"
            raise argument_error("room", wanted, room)
        if self.config.positions == "learned" and room > self.config.max_len:
            raise argument_error("room", f"at most max_len = {self.config.max_len}", room)
        weight = self.embedding.tokens.weight
        return FixedCache(modules, room, n_rows, weight.dtype, weight.device)
