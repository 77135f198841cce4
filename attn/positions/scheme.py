"""What every position scheme is, and the names by which configurations ask for them."""

from collections.abc import Callable
from typing import Self, TypeVar

from torch import nn

from attn._registry import ModelConfig, Registry


class PositionScheme(nn.Module):
    """A way to tell attention where tokens stand.

    To add one, derive from `AbsolutePositions` or `RelativePositions`, whichever acts where
    yours does, and `register` it. ``TransformerConfig(positions=name)`` then builds it.
    """

    @classmethod
    def check(cls, config: ModelConfig) -> None:
        """Raise ``ValueError`` if the scheme cannot serve a model of this configuration."""

    @classmethod
    def from_config(cls, config: ModelConfig) -> Self:
        """Return the scheme for a model of this `attn.transformer.TransformerConfig`."""
        return cls()


SCHEMES = Registry(PositionScheme)
Scheme = TypeVar("Scheme", bound=PositionScheme)


def register(name: str) -> Callable[[type[Scheme]], type[Scheme]]:
    """Return a decorator that enters a class under a name for ``TransformerConfig(positions=...)``.

    Parameters
    ----------
    name : str
        What checkpoints will store; it has to be registered again before they are loaded.

    Raises
    ------
    ValueError
        If another class has the name, or the class is no `PositionScheme`.
    """
    return SCHEMES.register(name)


@register("none")
class NoPositions(PositionScheme):
    """Attention sees a set."""
