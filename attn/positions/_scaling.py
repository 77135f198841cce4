"""Rotary waves slowed down, so that a model can read texts longer than those it was trained on."""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attn._checks import check_number, shown, wrong
from attn.positions._waves import Waves

Scaling: TypeAlias = dict[str, Any]

# The numbers that each kind needs, and those that it may do without.
NEEDED = {
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "yarn": ("factor", "original_max_position_embeddings"),
    "factors": (),
}
OPTIONAL = {"yarn": ("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim")}


def checked_scaling(name: str, scaling: Mapping[str, Any] | None) -> Scaling | None:
    """Return a scaling with all its numbers as floats; None if it changes nothing.

    Parameters
    ----------
    name : str
        What errors call it.
    scaling : dict, optional
        As for `attn.positions.RotaryPositions`.

    Raises
    ------
    ValueError
        If it is of no known kind, or lacks a number, or has one that its kind does not.
    """
    if scaling is None:
        return None
    if not isinstance(scaling, Mapping):
        raise wrong(name, "a dictionary or None", shown(scaling))
    said = {entry: value for entry, value in scaling.items() if value is not None}
    kind = said.pop("rope_type", None)
    if kind != "default" and (not isinstance(kind, str) or kind not in NEEDED):
        kinds = " or ".join(map(repr, ("default", *NEEDED)))
        raise wrong(f"{name}.rope_type", kinds, shown(kind))
    found: Scaling = {"rope_type": kind}
    for entry in NEEDED.get(kind, ()):
        least = 1 if entry in ("factor", "original_max_position_embeddings") else 0
        found[entry] = check_number(f"{name}.{entry}", said.pop(entry, None), least)
    for entry in OPTIONAL.get(kind, ()):
        if entry in said:
            found[entry] = check_number(f"{name}.{entry}", said.pop(entry))
    if kind == "factors":
        factors = said.pop("factors", None)
        if not isinstance(factors, list | tuple) or not factors:
            raise wrong(f"{name}.factors", "a list of numbers", shown(factors))
        found["factors"] = [check_number(f"{name}.factors", factor, 1) for factor in factors]
    if kind == "yarn":
        found = _whole_yarn(name, found, said.pop("truncate", True))
    if said:
        entry, value = next(iter(said.items()))
        wanted = f"no entry of this name beside rope_type = {kind!r}"
        raise wrong(f"{name}.{str(entry)[:80]}", wanted, shown(value))
    if kind == "llama3" and not found["low_freq_factor"] < found["high_freq_factor"]:
        wanted = f"less than high_freq_factor = {found['high_freq_factor']}"
        raise wrong(f"{name}.low_freq_factor", wanted, found["low_freq_factor"])
    return None if kind == "default" else found


def _whole_yarn(name: str, said: Scaling, truncate: object) -> Scaling:
    """Return the scaling with what it does not say, as YaRN's authors chose it."""
    if not isinstance(truncate, bool):
        raise wrong(f"{name}.truncate", "True or False", shown(truncate))
    growths = [said.pop("mscale", None), said.pop("mscale_all_dim", None)]
    if None in growths:
        growths = [1, 0]
    first, second = (1 + 0.1 * growth * math.log(said["factor"]) for growth in growths)
    found = {"attention_factor": first / second, "beta_fast": 32.0, "beta_slow": 1.0} | said
    if found["beta_fast"] < found["beta_slow"]:
        wanted = f"at least beta_slow = {found['beta_slow']}"
        raise wrong(f"{name}.beta_fast", wanted, found["beta_fast"])
    return found | {"truncate": truncate}


class ScaledWaves(Waves):
    """The waves of one base, each slowed down.

    Parameters
    ----------
    base : float
    scaling : dict
        From `checked_scaling`.
    """

    def __init__(self, base: float, scaling: Scaling) -> None:
        super().__init__(base)
        check_waves("scaling", scaling, 2 * len(scaling.get("factors", ())), base)
        # As text, which torch.compile takes for a constant, unlike math.pi; see `Waves.radians`.
        self._kind, self._truncates = scaling["rope_type"], scaling.get("truncate", True)
        turns = scaling.get("original_max_position_embeddings", 0.0) / (2 * math.pi)
        self._factors = [repr(factor) for factor in scaling.get("factors", ())]
        numbers = {"turns": turns} | scaling
        self._numbers = {n: repr(number) for n, number in numbers.items() if type(number) is float}

    def radians(self, size: int) -> list[float]:
        """Return by how much each wave turns from one position to the next."""
        plain, base = super().radians(size), float(self._base)
        if self._kind == "factors":
            check_waves("scaling", {"rope_type": "factors", "factors": self._factors}, size, base)
            return [
                speed / float(factor) for speed, factor in zip(plain, self._factors, strict=True)
            ]
        numbers = {name: float(number) for name, number in self._numbers.items()}
        kept = [0.0] * len(plain)  # the share of each wave that is not slowed
        if self._kind == "llama3":
            low, high = numbers["low_freq_factor"], numbers["high_freq_factor"]
            kept = [_within(numbers["turns"] * speed, low, high) for speed in plain]
        if self._kind == "yarn":
            low, high = _yarn_range(2 * len(plain), base, numbers, self._truncates)
            kept = [1 - _within(i, low, high) for i in range(len(plain))]
        factor = numbers["factor"]
        return [s * (share + (1 - share) / factor) for s, share in zip(plain, kept, strict=True)]

    def at(self, positions: Tensor, size: int, dtype: torch.dtype) -> Tensor:
        """Return sines and cosines, which YaRN makes larger; see `Waves.at`."""
        waves = super().at(positions, size, dtype)
        growth = self._numbers.get("attention_factor", "1.0")
        return waves if growth == "1.0" else waves * float(growth)


def check_waves(name: str, scaling: Scaling | None, size: int, base: float) -> None:
    """Raise ``ValueError`` if waves of this size and base cannot be scaled so."""
    if scaling and scaling["rope_type"] == "yarn" and base == 1:
        raise wrong(name, "another kind than 'yarn' where all waves are as long", "'yarn'")
    if scaling and len(scaling.get("factors", range(size // 2))) != size // 2:
        wanted = f"{size // 2} numbers, one for each wave"
        raise wrong(f"{name}.factors", wanted, len(scaling["factors"]))


def _within(number: float, low: float, high: float) -> float:
    """Return 0 up to `low`, 1 from `high` on, and what is in proportion between them."""
    return min(max((number - low) / (high - low), 0.0), 1.0)


def _yarn_range(
    size: int, base: float, numbers: Mapping[str, float], truncates: bool
) -> tuple[float, float]:
    """Return the last wave that keeps its speed, and the first that turns `factor` times slower."""
    low, high = (
        size * math.log(numbers["turns"] / numbers[name]) / (2 * math.log(base))
        for name in ("beta_fast", "beta_slow")
    )
    if truncates:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    return low, high if high != low else high + 0.001
