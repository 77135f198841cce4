"""Checkpoints of a training run, which only the same run can continue."""

import dataclasses
import hashlib
import itertools
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attn._checks import argument_error
from attn.io import place_of, whole_file
from attn.training.batches import Batch
from attn.training.config import TrainingConfig

FORMAT = "attn training 2"


@contextmanager
def uncompiled(model: nn.Module) -> Iterator[nn.Module]:
    """Give the model without the wrappers of ``torch.compile`` within a ``with`` block.

    A wrapper adds ``_orig_mod.`` to the names of the parameters.
    """
    plain = _unwrapped(model)
    wrapped = [
        (parent, name, child)
        for parent in plain.modules()
        for name, child in parent.named_children()
        if _unwrapped(child) is not child
    ]
    try:
        for parent, name, child in wrapped:
            parent._modules[name] = _unwrapped(child)
        yield plain
    finally:
        for parent, name, child in wrapped:
            parent._modules[name] = child


def _unwrapped(module: nn.Module) -> nn.Module:
    while (inner := module._modules.get("_orig_mod")) is not None:
        module = inner
    return module


class CheckpointFile:
    """The checkpoint file of a run, which another run cannot continue from.

    A run is known by its configuration, by the layers of its model and their ``config``, if there is
    one, and by the `batches` of the examples and of the validation.
    """

    def __init__(
        self,
        path: str | Path,
        config: TrainingConfig,
        model: nn.Module,
        *batches: Iterable[Batch],
    ) -> None:
        self.path = Path(path)
        place_of(path, "checkpoint")
        digest = hashlib.sha256()
        for batch in itertools.chain(*batches):
            for tensor in batch.values() if isinstance(batch, dict) else batch:
                # NumPy has no bfloat16, so the tensor is viewed as bytes.
                flat = tensor.detach().cpu().contiguous().reshape(-1)
                digest.update(flat.view(torch.uint8).numpy().tobytes())
        with uncompiled(model) as plain:
            told = f"{plain} {getattr(plain, 'config', None)}"
        self.run: dict[str, Any] = {
            "format": FORMAT,
            "config": dataclasses.asdict(config),
            "model": told,
            "examples": digest.hexdigest(),
        }

    def save(self, state: dict[str, Any]) -> None:
        """Write the state of the run; the file is replaced whole or not at all."""
        with whole_file(self.path, "checkpoint") as file:
            torch.save(self.run | {"state": state}, file)

    def load(self) -> dict[str, Any] | None:
        """Return the state that was given to `save`, on the CPU; None if there is no file.

        The checkpoint of a run with another configuration, model or data is refused.
        """
        if not self.path.exists():
            return None
        saved = self._read()
        for name, wanted in self.run["config"].items():
            found = saved["config"].get(name)
            if found != wanted:
                expected = f"one of a run with {name} = {wanted!r}"
                raise argument_error("checkpoint", expected, f"{self.path}, of one with {found!r}")
        for part in ("model", "examples"):
            if saved[part] != self.run[part]:
                expected = f"one of a run with the same {part}"
                raise argument_error("checkpoint", expected, f"{self.path}, of one with another")
        state: dict[str, Any] = saved["state"]
        return state

    def _read(self) -> dict[str, Any]:
        # A damaged file can raise any exception.
        with suppress(Exception):
            with zipfile.ZipFile(self.path) as archive:
                # torch.load does not compare the checksums that torch.save writes.
                whole = archive.testzip() is None
            saved: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            if whole and saved["format"] == FORMAT and saved.keys() == {*self.run, "state"}:
                return saved
        got = f"{self.path}, which is damaged or another kind of file"
        raise argument_error("checkpoint", "a checkpoint of training", got)
