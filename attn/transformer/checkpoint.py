"""Models on disk: written whole or not at all, and read without running anything."""

import dataclasses
import os
import textwrap
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from attn._checks import wrong
from attn.transformer._safetensors import Metadata, pack, unpack
from attn.transformer.config import TransformerConfig
from attn.transformer.quantised import dequantise, quantise

FORMAT = "attn checkpoint 1"


class Checkpoint(nn.Module):
    """``save`` and ``load`` for a model that is made from its ``config``."""

    config: TransformerConfig

    def save(self, path: str | Path, *, quantised: bool = False) -> None:
        """Write configuration and weights to a safetensors file, replacing it only at the end.

        Parameters
        ----------
        path : str or Path
            In a folder that exists.
        quantised : bool, default False
            Whether to round the weights to int8, see `attn.transformer.quantised`: a quarter of
            the size, and what ``transformer.js`` reads.

        Raises
        ------
        ValueError
            If there is no such folder, or a folder has this name; or if weights to be rounded
            are not finite.
        """
        path = Path(path)
        if path.is_dir() or not path.parent.is_dir():
            raise wrong("path", "the name of a file in a folder that exists", path)
        unfinished = path.with_name(path.name + ".part")
        try:
            unfinished.write_bytes(self._to_bytes(quantised))
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Self:
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
        tensors, about = _read(path, wanted)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise wrong("path", wanted, f"{path}, which holds something else")
        if about.get("model") != cls.__name__:
            raise wrong("path", wanted, f"{path}, which holds a {about.get('model')}")
        try:
            with torch.device("cpu"):  # whatever PyTorch's default device
                model = cls(TransformerConfig(**about["config"]))
            trained = dict(model.named_parameters())
            weights = {
                name: nn.Parameter(x) if name in trained else x
                for name, x in dequantise(tensors).items()
            }
            weights |= {name: weights[first] for name, first in about["tied"].items()}
            # Assigned, not copied: what was tied and how precise it was is known to the file alone.
            model.to(weights["output.weight"].dtype).load_state_dict(weights, assign=True)
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            reason = textwrap.shorten(str(error), 160, placeholder=" ...")
            raise wrong("path", wanted, f"{path}, whose parts do not fit: {reason}") from None
        return model.eval()

    def _to_bytes(self, quantised: bool) -> bytes:
        # A tensor that has two names is stored under the first.
        names: dict[tuple[object, ...], list[str]] = {}
        stored: dict[str, Tensor] = {}
        for name, tensor in self.state_dict().items():
            place = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
            names.setdefault(place, []).append(name)
            stored.setdefault(names[place][0], tensor)
        about = {
            "format": FORMAT,
            "model": type(self).__name__,
            "config": dataclasses.asdict(self.config),
            "tied": {other: first for first, *others in names.values() for other in others},
        }
        if quantised:
            trained = dict(self.named_parameters())
            stored |= quantise({name: x for name, x in stored.items() if name in trained})
        return pack(stored, about)


def _read(path: str | Path, wanted: str) -> tuple[dict[str, Tensor], Metadata]:
    try:
        return unpack(Path(path).read_bytes())
    except OSError as error:
        raise wrong("path", wanted, f"{path}: {error.strerror}") from None
    except Exception:  # noqa: BLE001 - damage can break any step of reading
        raise wrong("path", wanted, f"{path}, which is damaged or another kind of file") from None
