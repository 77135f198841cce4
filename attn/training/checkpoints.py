"""A training run on disk: written whole or not at all, and gone on from only by its like."""

import dataclasses
import hashlib
import itertools
import os
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attn._checks import wrong
from attn.training.batches import Batch
from attn.training.config import TrainingConfig

FORMAT = "attn training 2"


class CheckpointFile:
    """The file of one run, which no other run can go on from.

    Parameters
    ----------
    path : str or Path
        In a folder that exists.
    config : TrainingConfig
    model : Module
        Told apart by its layers and, if it has one, its ``config``.
    *batches : iterable of batches
        Of the examples, and of those to validate with.

    Raises
    ------
    ValueError
        If there is no such folder, or a folder has this name.
    """

    def __init__(
        self,
        path: str | Path,
        config: TrainingConfig,
        model: nn.Module,
        *batches: Iterable[Batch],
    ) -> None:
        self.path = Path(path)
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise wrong("checkpoint", "the name of a file in a folder that exists", path)
        digest = hashlib.sha256()
        for batch in itertools.chain(*batches):
            for tensor in batch.values() if isinstance(batch, dict) else batch:
                # As bytes, since NumPy has no bfloat16.
                flat = tensor.detach().cpu().contiguous().reshape(-1)
                digest.update(flat.view(torch.uint8).numpy().tobytes())
        self.run: dict[str, Any] = {
            "format": FORMAT,
            "config": dataclasses.asdict(config),
            "model": f"{model} {getattr(model, 'config', None)}",
            "examples": digest.hexdigest(),
        }

    def save(self, state: dict[str, Any]) -> None:
        """Write the state of the run, replacing the file only when all of it is on the disk.

        Parameters
        ----------
        state : dict

        Raises
        ------
        ValueError
            If the file cannot be written.
        """
        unfinished = self.path.with_name(self.path.name + ".part")
        try:
            with unfinished.open("wb") as file:
                torch.save(self.run | {"state": state}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, self.path)
        except OSError as error:
            got = f"{self.path}: {error.strerror}"
            raise wrong("checkpoint", "a file that can be written", got) from None
        finally:
            with suppress(OSError):
                unfinished.unlink()

    def load(self) -> dict[str, Any] | None:
        """Read the state, onto the CPU.

        Returns
        -------
        dict, or None
            What `save` got; None if there is no file.

        Raises
        ------
        ValueError
            If the file is no checkpoint of training, or that of a run with another
            configuration, model or data.
        """
        if not self.path.exists():
            return None
        saved = self._read()
        for name, wanted in self.run["config"].items():
            found = saved["config"].get(name)
            if found != wanted:
                expected = f"one of a run with {name} = {wanted!r}"
                raise wrong("checkpoint", expected, f"{self.path}, of one with {found!r}")
        for part in ("model", "examples"):
            if saved[part] != self.run[part]:
                expected = f"one of a run with the same {part}"
                raise wrong("checkpoint", expected, f"{self.path}, of one with another")
        state: dict[str, Any] = saved["state"]
        return state

    def _read(self) -> dict[str, Any]:
        with suppress(Exception):  # Damage can break any step of reading.
            with zipfile.ZipFile(self.path) as archive:
                whole = archive.testzip() is None  # PyTorch writes checksums, but compares none.
            saved: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            if whole and saved["format"] == FORMAT and saved.keys() == {*self.run, "state"}:
                return saved
        got = f"{self.path}, which is damaged or another kind of file"
        raise wrong("checkpoint", "a checkpoint of training", got)
