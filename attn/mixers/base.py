"""The base class of mixers, and the names under which checkpoints store them."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import nn

from attn._checks import argument_error, shown
from attn._registry import ModelConfig, Registry
from attn.positions import SCHEMES, RelativePositions

# The options of a model that a mixer may read, and their values where no mixer reads them.
OPTIONS = {"n_kv_heads": None, "attention": "scaled_dot_product", "attention_dropout": 0.0}


@dataclass(frozen=True)
class Mixer:
    """The description of how a layer mixes tokens.

    To add one, derive from this class, as a frozen dataclass whose fields are the mixer's own
    options; the sizes of the model come from its `attn.transformer.TransformerConfig`. Then
    `register` the class.

    """

    @property
    def uses(self) -> tuple[str, ...]:
        """The names of the options that the mixer reads, of ``positions`` (relative ones),
        ``n_kv_heads``, ``attention`` and ``attention_dropout``. An option that no mixer of a model
        reads is refused."""
        return ()

    def check(self, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the mixer cannot serve a model of this configuration."""

    def new_module(self, config: ModelConfig, relative: RelativePositions | None) -> nn.Module:
        """Return the module of one layer, which stands in the place of self-attention.

        Parameters
        ----------
        config : attn.transformer.TransformerConfig
        relative : attn.positions.RelativePositions, optional
            Those of the model, which all layers share; None if it has others.

        Returns
        -------
        Module
            Its call is that of `attn.attention.MultiHeadAttention` for self-attention:
            ``module(x, mask=..., positions=..., is_causal=..., need_weights=..., cache=...)``
            returns ``(output, weights or None)``; ``module.new_cache()`` returns an empty
            `attn.cache.LayerCache`, and ``module.new_fixed_cache(place)``, where there is one, the part of
            an `attn.cache.FixedCache`.
        """
        raise NotImplementedError

    def cache_bytes(
        self, config: ModelConfig, length: int, dtype: torch.dtype = torch.float32
    ) -> int:
        """Return how many bytes one layer keeps of one row of `length` tokens."""
        raise NotImplementedError

    def step_flops(self, config: ModelConfig, length: int) -> int:
        """Return the operations of one layer in a step that reads token number `length`.

        A multiplication and an addition in a product of matrices count as two; the rest does not.
        """
        raise NotImplementedError


MIXERS: Registry[Mixer] = Registry(Mixer)
Entered = TypeVar("Entered", bound=Mixer)


def register(name: str) -> Callable[[type[Entered]], type[Entered]]:
    """Return a decorator that enters a mixer under the name that checkpoints store.

    Parameters
    ----------
    name : str
        It has to be registered again before such a checkpoint is loaded.

    Raises
    ------
    ValueError
        If another class has the name, or the class does not derive from `Mixer`.
    """
    return MIXERS.register(name)


def described(mixer: Mixer) -> dict[str, Any]:
    """Return a mixer for JSON: the name of its class, and its fields."""
    name = next((name for name, cls in MIXERS.items() if cls is type(mixer)), None)
    if name is None:
        raise argument_error("mixers", "registered classes", type(mixer).__name__)
    return {"name": name} | dataclasses.asdict(mixer)


def mixer_from(description: Mapping[str, Any]) -> Mixer:
    """Return the mixer that `described` describes; ``ValueError`` for another name or field."""
    fields = dict(description)
    name = fields.pop("name", None)
    if name not in MIXERS:
        raise argument_error("mixers", " or ".join(map(repr, MIXERS)), shown(name))
    known = [field.name for field in dataclasses.fields(MIXERS[name])]
    if unknown := sorted(fields.keys() - known):
        raise argument_error("mixers", f"fields of {name}: {', '.join(known)}", shown(unknown[0]))
    return MIXERS[name](**fields)


def check_mixers(mixers: Sequence[Mixer], config: ModelConfig) -> tuple[Mixer, ...]:
    """Return mixers as a tuple; ``ValueError`` unless they serve a model of this configuration."""
    if not isinstance(mixers, tuple | list) or not all(isinstance(m, Mixer) for m in mixers):
        raise argument_error("mixers", "a tuple of attn.mixers.Mixer", shown(mixers))
    if len(mixers) > config.n_layers:
        raise argument_error("mixers", f"at most n_layers = {config.n_layers}", len(mixers))
    used = {option for mixer in mixers for option in mixer.uses}
    unused = {name: value for name, value in OPTIONS.items() if mixers and name not in used}
    for name, default in unused.items():
        if getattr(config, name) != default:
            wanted = f"{default}, since no mixer uses it"
            raise argument_error(name, wanted, getattr(config, name))
    is_relative = issubclass(SCHEMES[config.positions], RelativePositions)
    if mixers and is_relative and "positions" not in used:
        wanted = "a kind that is added to the tokens, since no mixer uses another"
        raise argument_error("positions", wanted, repr(config.positions))
    for mixer in mixers:
        mixer.check(config)
    return tuple(mixers)
