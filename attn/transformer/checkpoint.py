"""Models on disk: written whole or not at all, and read without running anything."""

import dataclasses
import io
import os
import textwrap
import zipfile
from pathlib import Path

import torch

from attn._checks import wrong
from attn.transformer._safetensors import pack, unpack
from attn.transformer.config import TransformerConfig
from attn.transformer.quantised import dequantise, quantise

FORMAT = "attn checkpoint 1"


class Checkpoint:
    """``save`` and ``load`` for a model that is made from its ``config``."""

    def save(self, path, *, quantised=False):
        """Write the configuration and the weights to a file, replacing it only at the end.

        Parameters
        ----------
        path : str or Path
            In a folder that exists.
        quantised : bool, default False
            Whether to round the weights to int8, see `attn.transformer.quantised`, and write
            a safetensors file: a quarter of the size, and what ``transformer.js`` reads.

        Raises
        ------
        ValueError
            If there is no such folder, or a folder has this name; or if weights to be rounded
            are not finite.
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
            if quantised:
                unfinished.write_bytes(_pack(**checkpoint))
            else:
                torch.save(checkpoint, unfinished)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path):
        """Read a model that `save` wrote, quantised or not, onto the CPU, in evaluation mode.

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


def _pack(state_dict, config, **about):
    # A tensor that has two names is stored under the first.
    names = {}
    for name, tensor in state_dict.items():
        names.setdefault(tensor.data_ptr(), []).append(name)
    tied = {other: first for first, *others in names.values() for other in others}
    stored = {name: tensor for name, tensor in state_dict.items() if name not in tied}
    return pack(quantise(stored), about | {"config": config, "tied": tied})


def _unpack(content):
    tensors, about = unpack(content)
    state_dict = dequantise(tensors)
    state_dict |= {name: state_dict[first] for name, first in about["tied"].items()}
    return about | {"state_dict": state_dict}


def _read(path, wanted):
    try:
        content = Path(path).read_bytes()
        if not content.startswith(b"PK"):
            return _unpack(content)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.testzip():  # PyTorch writes checksums, but does not compare them.
                raise zipfile.BadZipFile
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except OSError as error:
        raise wrong("path", wanted, f"{path}: {error.strerror}") from None
    except Exception:  # noqa: BLE001 - damage can break any step of reading
        raise wrong("path", wanted, f"{path}, which is damaged or another kind of file") from None
