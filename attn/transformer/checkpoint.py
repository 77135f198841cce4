"""Models on disk: written whole or not at all, and read without running anything."""

import dataclasses
import os
import textwrap
import zipfile
from pathlib import Path

import torch

from attn._checks import wrong
from attn.transformer.config import TransformerConfig

FORMAT = "attn checkpoint 1"


class Checkpoint:
    """``save`` and ``load`` for a model that is made from its ``config``."""

    def save(self, path):
        """Write the configuration and the weights to a file, replacing it only at the end.

        Parameters
        ----------
        path : str or Path
            In a folder that exists.

        Raises
        ------
        ValueError
            If there is no such folder, or a folder has this name.
        """
        path = Path(path)
        if path.is_dir() or not path.parent.is_dir():
            raise wrong("path", "the name of a file in a folder that exists", path)
        checkpoint = {
            "format": FORMAT,
            "model": type(self).__name__,
            "config": dataclasses.asdict(self.config),
            "state_dict": self.state_dict(),
        }
        unfinished = path.with_name(path.name + ".part")
        try:
            torch.save(checkpoint, unfinished)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path):
        """Read a model that `save` wrote, onto the CPU and in evaluation mode.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        The model.

        Raises
        ------
        ValueError
            If there is no such file, or it is not a whole checkpoint of this class.
        """
        wanted = f"a checkpoint of {cls.__name__}"
        checkpoint = _read(path, wanted)
        if not isinstance(checkpoint, dict) or checkpoint.get("format") != FORMAT:
            raise wrong("path", wanted, f"{path}, which holds something else")
        if checkpoint.get("model") != cls.__name__:
            raise wrong("path", wanted, f"{path}, which holds a {checkpoint.get('model')}")
        try:
            model = cls(TransformerConfig(**checkpoint["config"]))
            weights = checkpoint["state_dict"]
            model.to(weights["output.weight"].dtype).load_state_dict(weights)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            reason = textwrap.shorten(str(error), 160, placeholder=" ...")
            raise wrong("path", wanted, f"{path}, whose parts do not fit: {reason}") from None
        return model.eval()


def _read(path, wanted):
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.testzip():  # PyTorch writes checksums, but does not compare them.
                raise zipfile.BadZipFile
        return torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise wrong("path", wanted, f"{path}: {error.strerror}") from None
    except Exception:  # noqa: BLE001 - damage can break any step of reading
        raise wrong("path", wanted, f"{path}, which is damaged or another kind of file") from None
