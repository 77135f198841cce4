"""Classes under the names by which configurations and checkpoints choose them."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from attn._checks import argument_error

Base = TypeVar("Base")
Entered = TypeVar("Entered")


class ModelConfig(Protocol):
    """What a registered class may read of its model's `attn.transformer.TransformerConfig`."""

    @property
    def d_model(self) -> int: ...
    @property
    def n_heads(self) -> int: ...
    @property
    def n_kv_heads(self) -> int | None: ...
    @property
    def n_layers(self) -> int: ...
    @property
    def d_ff(self) -> int: ...
    @property
    def dropout(self) -> float: ...
    @property
    def attention(self) -> str: ...
    @property
    def attention_dropout(self) -> float: ...
    @property
    def norm_eps(self) -> float: ...
    @property
    def bias(self) -> bool: ...
    @property
    def activation(self) -> str: ...
    @property
    def max_len(self) -> int: ...
    @property
    def positions(self) -> str: ...
    @property
    def rotary_base(self) -> float: ...
    @property
    def rotary_scaling(self) -> dict[str, Any] | None: ...


class Registry(dict[str, type[Base]]):
    """The classes of one kind, by name. Each derives from one of the `bases`."""

    def __init__(self, *bases: type[Base]) -> None:
        super().__init__()
        self.bases = bases

    def register(self, name: str) -> Callable[[type[Entered]], type[Entered]]:
        """Return a decorator that enters a class under a name.

        A class that a notebook defines again replaces itself; a name of another class is refused.
        """

        def enter(cls: type[Entered]) -> type[Entered]:
            known = self.get(name)
            is_other = known is not None and _full_name(known) != _full_name(cls)
            if not isinstance(name, str) or is_other:
                raise argument_error("name", "a string that names no other class", repr(name))
            entry: type = cls
            if not issubclass(entry, self.bases):
                bases = " or ".join(base.__name__ for base in self.bases)
                raise argument_error("class", f"one derived from {bases}", cls.__name__)
            self[name] = entry
            return cls

        return enter


def _full_name(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
