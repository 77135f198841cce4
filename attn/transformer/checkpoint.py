"""Models on disk: written whole or not at all, and read without running anything."""

import dataclasses
import json
import textwrap
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias

import torch
from safetensors.torch import load, save
from torch import Tensor, nn

from attn._checks import argument_error
from attn.experts import MixtureOfExperts
from attn.io import place_of, write_whole
from attn.mixers import described, mixer_from
from attn.transformer.config import TransformerConfig
from attn.transformer.quantised import dequantise, quantise

FORMAT = "attn checkpoint 1"
# The metadata is JSON, whose types are known only after it was read.
Metadata: TypeAlias = dict[str, Any]


class Checkpoint(nn.Module):
    """``save`` and ``load`` for a model that is made from its ``config``.

    A configuration that sets an option that is `unused` in the class is refused.
    """

    # The options of a configuration that have no effect in this model.
    unused: tuple[str, ...] = ()

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if not isinstance(config, TransformerConfig):
            raise argument_error("config", "a TransformerConfig", type(config).__name__)
        for option in dataclasses.fields(config):
            given = getattr(config, option.name)
            if option.name in self.unused and given != option.default:
                wanted = f"{option.default}, since {type(self).__name__} does nothing with it"
                raise argument_error(option.name, wanted, given)
        self.config = config

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
            If the place cannot be written; if weights to be rounded are not finite; or if `load`
            could not give this model back, which has more, less or other parts than its
            ``config`` says.
        """
        # The path is checked before the model is packed, which takes seconds.
        place_of(path)
        write_whole(path, self._to_bytes(quantised))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote, quantised or not, onto the CPU, in evaluation mode.

        A file that is no whole checkpoint of this class is refused.
        """
        wanted = f"a checkpoint of {cls.__name__}"
        tensors, about = _read(path, wanted)
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise argument_error("path", wanted, f"{path}, which holds something else")
        if about.get("model") != cls.__name__:
            raise argument_error("path", wanted, f"{path}, which holds a {about.get('model')}")
        try:
            # PyTorch's default device may be another one.
            with torch.device("cpu"):
                return cls._from_parts(tensors, about).eval()
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise argument_error(
                "path", wanted, f"{path}, whose parts do not fit: {_short(error)}"
            ) from None

    @classmethod
    def _from_parts(cls, tensors: dict[str, Tensor], about: Metadata) -> Self:
        options = dict(**about["config"])
        # An older file may hold options without effect, which are refused now.
        for name in (
            cls.unused if options.get("positions") == "rotary" else (*cls.unused, "rotary_base")
        ):
            options.pop(name, None)
        if "mixers" in options:
            options["mixers"] = tuple(map(mixer_from, options["mixers"]))
        if "experts" in options:
            options["experts"] = MixtureOfExperts(**options["experts"])
        model = cls(TransformerConfig(**options))
        trained = dict(model.named_parameters())
        weights = {
            name: nn.Parameter(x) if name in trained else x
            for name, x in dequantise(tensors).items()
        }
        weights |= {name: weights[first] for name, first in about["tied"].items()}
        # The tensors are assigned, not copied: only the file says which are tied, and their dtype.
        model.to(weights["output.weight"].dtype).load_state_dict(weights, assign=True)
        return model

    def _to_bytes(self, quantised: bool) -> bytes:
        if not isinstance(self.config, TransformerConfig):
            raise argument_error(
                "model", "a TransformerConfig as its config", type(self.config).__name__
            )
        # A tensor that has two names is stored under the first one.
        names: dict[tuple[object, ...], list[str]] = {}
        stored: dict[str, Tensor] = {}
        for name, tensor in self.state_dict().items():
            if not isinstance(tensor, Tensor) or tensor.layout != torch.strided:
                kind = getattr(tensor, "layout", type(tensor).__name__)
                raise argument_error("model", "dense tensors", f"{kind} in {name}")
            if tensor.is_meta:
                raise argument_error(
                    "model", "tensors with numbers in them", f"{name} on the meta device"
                )
            place = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
            names.setdefault(place, []).append(name)
            stored.setdefault(names[place][0], tensor)
        about = {
            "format": FORMAT,
            "model": type(self).__name__,
            "config": _options(self.config),
            "tied": {other: first for first, *others in names.values() for other in others},
        }
        if quantised:
            trained = dict(self.named_parameters())
            stored |= quantise({name: x for name, x in stored.items() if name in trained})
        self._check_comes_back(stored, about)
        try:
            return pack(stored, about)
        except Exception as error:  # noqa: BLE001 - the library has its own, and changes them
            raise argument_error(
                "model", "tensors that safetensors can hold", _short(error)
            ) from None

    def _check_comes_back(self, tensors: dict[str, Tensor], about: Metadata) -> None:
        """Raise ``ValueError`` unless `load` would make a model like this one from these parts."""
        wanted = f"a {type(self).__name__} as its config says, or load could not read it"
        try:
            # On the meta device a model is made without computing a number.
            with torch.device("meta"):
                other = self._from_parts(tensors, json.loads(json.dumps(about)))
        except Exception as error:  # noqa: BLE001 - any step of making a model can fail
            raise argument_error("model", wanted, _short(error)) from None
        parts, others = _parts_of(self), _parts_of(other)
        for name, part in others.items():
            if parts.get(name) != part:
                got = f"{name} {parts.get(name)!r}, which by config is {part!r}"
                raise argument_error("model", wanted, got)


def _options(config: TransformerConfig) -> dict[str, Any]:
    """Return a configuration for JSON; like older files, without mixers and experts if unset."""
    options = dataclasses.asdict(config)
    options["mixers"] = [described(mixer) for mixer in config.mixers]
    for name in ("mixers", "experts"):
        if not options[name]:
            del options[name]
    return options


def _parts_of(model: nn.Module) -> dict[str, Any]:
    """Return the class of every module, and its attributes other than tensors."""
    parts: dict[str, Any] = {}
    for name, module in model.named_modules():
        parts[name] = type(module)
        for attribute, value in vars(module).items():
            if attribute.startswith("_") or attribute in ("training", "config"):
                continue
            if callable(value) or isinstance(value, bool | int | float | str | None):
                parts[f"{name}.{attribute}".lstrip(".")] = value
    return parts


def _short(error: Exception) -> str:
    return textwrap.shorten(str(error), 160, placeholder=" ...")


def _read(path: str | Path, wanted: str) -> tuple[dict[str, Tensor], Metadata]:
    try:
        return unpack(Path(path).read_bytes())
    except OSError as error:
        raise argument_error("path", wanted, f"{path}: {error.strerror}") from None
    except Exception:  # noqa: BLE001 - damage can break any step of reading
        raise argument_error(
            "path", wanted, f"{path}, which is damaged or another kind of file"
        ) from None


def pack(tensors: Mapping[str, Tensor], metadata: Metadata) -> bytes:
    """Return named tensors and what is said about them as the bytes of a safetensors file.

    Nothing in such a file can be run, and a page can read it in ten lines. The format has no
    checksum, so the metadata holds one.
    All of it is one entry of the file's metadata: the library writes several in any order.
    """
    # The library refuses tensors that share memory, so each is copied.
    tensors = {
        name: tensor.cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    about = metadata | {"crc32": _checksum(tensors, metadata)}
    return save(tensors, {"attn": json.dumps(about, sort_keys=True)})


def unpack(content: bytes) -> tuple[dict[str, Tensor], Metadata]:
    """Return the tensors and the metadata of `pack`; any error means that they are damaged."""
    tensors = load(content)
    header_len = int.from_bytes(content[:8], "little")
    metadata = json.loads(json.loads(content[8 : 8 + header_len])["__metadata__"]["attn"])
    if metadata.pop("crc32") != _checksum(tensors, metadata):
        raise ValueError
    return tensors, metadata


def _checksum(tensors: Mapping[str, Tensor], metadata: Metadata) -> str:
    crc = zlib.crc32(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        crc = zlib.crc32(f"{name} {tuple(tensor.shape)}".encode(), crc)
        crc = zlib.crc32(tensor.reshape(-1).view(torch.uint8).numpy().data, crc)
    return f"{crc:08x}"
