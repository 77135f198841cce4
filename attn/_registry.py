"""Classes by the names that configurations, and so checkpoints, know them by."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from attn._checks import wrong

Base = TypeVar("Base")
Entered = TypeVar("Entered")


class ModelConfig(Protocol):
    """What the registered classes read of an `attn.transformer.TransformerConfig`."""

    @property
    def d_model(self) -> int: ...
    @property
    def n_heads(self) -> int: ...
    @property
    def max_len(self) -> int: ...
    @property
    def positions(self) -> str: ...
    @property
    def rotary_base(self) -> float: ...


class Registry(dict[str, type[Base]]):
    """The classes of one kind, by name.

    Parameters
    ----------
    base : type
        What all of them derive from.
    """

    def __init__(self, base: type[Base]) -> None:
        super().__init__()
        self.base = base

    def register(self, name: str) -> Callable[[type[Entered]], type[Entered]]:
        """Return a decorator that enters a class under a name.

        Raises
        ------
        ValueError
            If the name is taken by another class, or the class does not derive from `base`.
            To define a class again, as notebooks do, is not to define another.
        """

        def enter(cls: type[Entered]) -> type[Entered]:
            known = self.get(name)
            if not isinstance(name, str) or known and known.__qualname__ != cls.__qualname__:
                raise wrong("name", "a string that names no other class", repr(name))
            entry: type = cls
            if not issubclass(entry, self.base):
                raise wrong("class", f"one derived from {self.base.__name__}", cls.__name__)
            self[name] = entry
            return cls

        return enter
