"""A step of decoding that a GPU repeats by itself: recorded once, and replayed for every token."""

import torch
from torch import Tensor

from attn._checks import argument_error, check_ids, checks
from attn.cache import FixedCache
from attn.transformer.decoder_only import DecoderOnly
from attn.transformer.stacks import new_tokens


class Captured:
    """The step of a `DecoderOnly` as a CUDA graph.

    A step for one token is a thousand small kernels, and launching them one by one takes Python
    several times as long as the GPU takes to run them. Recorded, they are launched at once. The
    prompt is read as usual, and so is everything on a CPU.

    Parameters
    ----------
    model : DecoderOnly
        In evaluation mode. Its weights may change, but not move.

    References
    ----------
    Nguyen et al. (2021), Accelerating PyTorch with CUDA Graphs.

    Examples
    --------
    >>> import torch
    >>> from attn.decoding import greedy
    >>> from attn.transformer import TransformerConfig
    >>> model = DecoderOnly(TransformerConfig(vocab_size=10, d_model=8, n_heads=2)).eval()
    >>> prompt, limits = torch.tensor([[5, 6, 7]]), {"end_id": None, "max_new_tokens": 4}
    >>> captured = greedy(Captured(model), prompt, cache=model.new_cache(room=10), **limits)
    >>> torch.equal(captured, greedy(model.step, prompt, **limits))
    True
    """

    def __init__(self, model: DecoderOnly) -> None:
        self.model = model
        self._recorded: _Recorded | None = None

    @torch.no_grad()
    def __call__(self, ids: Tensor, cache: FixedCache) -> Tensor:
        """Score the next token of each row of `ids`, all that is written so far: a step of `attn.decoding`.

        The step is recorded anew for another cache from ``model.new_cache(room, n_rows)``. A cache
        that is not fixed or is full, a model in training mode and autocast are refused.
        """
        if not isinstance(cache, FixedCache):
            raise argument_error(
                "cache", "a FixedCache, from model.new_cache(room)", type(cache).__name__
            )
        if self.model.training:
            raise argument_error("model", "evaluation mode, as after model.eval()", "training mode")
        new_ids, _, _ = new_tokens(ids, cache)
        if new_ids.shape[-1] > 1 or not new_ids.is_cuda:
            logits: Tensor = self.model(new_ids, cache=cache)[0][:, -1]
            return logits
        if torch.is_autocast_enabled("cuda"):
            raise argument_error(
                "autocast", "off: give the model its type, as model.bfloat16()", "on"
            )
        check_ids("ids", new_ids, self.model.config.vocab_size)
        slots = cache.slots(1)
        address = self.model.output.weight.data_ptr()
        if self._recorded is None or not self._recorded.serves(cache, address):
            self._recorded = _Recorded(self.model, new_ids, slots, cache, address)
        logits = self._recorded.replay(new_ids, slots)
        cache.advance(1)
        cache.keep_ids(new_ids)
        return logits


class _Recorded:
    """A graph, and the tensors that it reads and writes."""

    def __init__(
        self, model: DecoderOnly, ids: Tensor, slots: Tensor, cache: FixedCache, address: int
    ) -> None:
        self.cache, self.address = cache, address
        before = cache.copied()
        with torch.inference_mode(False), torch.no_grad(), checks(False):
            self.ids, self.slots = ids.clone(), slots.clone()
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            # Libraries allocate and tune in their first calls. Two steps before the recording keep
            # that out of it.
            with torch.cuda.stream(stream):
                for _ in range(2):
                    model.in_room(self.ids, cache, self.slots)
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.logits = model.in_room(self.ids, cache, self.slots)[0][:, -1]
        # Those two steps have changed windows and states, which are restored.
        cache.restore(before)

    def serves(self, cache: FixedCache, address: int) -> bool:
        """Return whether the graph is of this cache, and of a model with weights at `address`."""
        return self.cache is cache and self.address == address

    def replay(self, ids: Tensor, slots: Tensor) -> Tensor:
        """Return the logits of the next token."""
        self.ids.copy_(ids)
        self.slots.copy_(slots)
        self.graph.replay()
        return self.logits.clone()
