"""What all applications share: training, moving, saving, loading and batches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from attn._checks import argument_error
from attn.applications._folder import About, check_sums, read_folder, whole_folder
from attn.applications._sequences import Sequenced, by_length
from attn.tokenizer import WordTokenizer
from attn.tokenizer.base import Tokenizer
from attn.training import History, Progress, TrainingConfig, choose_device, train
from attn.transformer import TransformerConfig

# Some fields of a `TransformerConfig`, which checks them.
Sizes: TypeAlias = Mapping[str, Any] | tuple[()]


class SavedModel(Protocol):
    """A module with `attn.transformer.checkpoint.Checkpoint`."""

    def to(self, device: torch.device) -> Self: ...
    def eval(self) -> Self: ...
    def save(self, path: str | Path, *, quantised: bool = ...) -> None: ...
    @classmethod
    def load(cls, path: str | Path) -> Self: ...


Model = TypeVar("Model", bound=SavedModel)
Module = TypeVar("Module", bound=nn.Module)
Example = TypeVar("Example")
Batch = TypeVar("Batch")
Output = TypeVar("Output")


class Application(Generic[Model]):
    """A trained model and its vocabularies.

    The model is put into evaluation mode. The application computes on the device and in the dtype
    of the model's parameters, also after they are moved. The history is not saved.
    """

    # Each subclass sets the format of its folder and the class of its model.
    _format: str
    _model_class: type[Model]
    _model_file = "model.safetensors"

    def __init__(self, model: Model, history: History | None = None) -> None:
        self.model, self.history = model.eval(), history

    def to(self, device: str | torch.device) -> Self:
        """Move the model to a device of PyTorch, or to the fastest ("auto"), and return self.

        Raises
        ------
        ValueError
            If this machine has no such device.

        Examples
        --------
        >>> from attn.applications.translation import Translator
        >>> translator = Translator.pretrained("grammar").to("cpu")
        >>> translator.to("tpu")
        Traceback (most recent call last):
        ValueError: device: expected one that this machine has, got 'tpu'
        """
        self.model = self.model.to(present(device))
        return self

    def save(self, folder: str | Path, *, quantised: bool = False) -> None:
        """Write model and vocabularies to a folder, which is replaced only when all is written.

        Parameters
        ----------
        quantised : bool, default False
            Whether to round the weights to int8, a quarter of the size, as the widgets of a page
            need.

        Raises
        ------
        ValueError
            If the folder holds something else, or cannot be written.
        """
        with whole_folder(folder, {"format": self._format} | self._about()) as unfinished:
            self.model.save(unfinished / self._model_file, quantised=quantised)
            for name, tokenizer in self._vocabularies().items():
                tokenizer.save(unfinished / f"{name}.json")

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> Self:
        """Read what `save` wrote, onto a device as in `to`; the history is not saved.

        Raises
        ------
        ValueError
            If the folder holds no such application, is damaged, or there is no such device.
        """
        device, folder = present(device), Path(folder)
        about = read_folder(folder, cls._format)
        loaded = cls._from_folder(folder, about, cls._model_class.load(folder / cls._model_file))
        # The checksums are checked last, because a damaged part has a clearer message of its own.
        check_sums(folder, about)
        return loaded.to(device)

    def _about(self) -> About:
        """Return the fields of ``about.json`` other than the format."""
        return {}

    def _vocabularies(self) -> Mapping[str, Tokenizer]:
        """Return the tokenizers by the names of their files."""
        raise NotImplementedError

    @classmethod
    def _from_folder(cls, folder: Path, about: About, model: Model) -> Self:
        """Make the application from the files that `load` reads."""
        raise NotImplementedError

    @staticmethod
    def _train(
        make_model: Callable[[], Module],
        loss: Callable[..., tuple[Tensor, Tensor]],
        examples: Sequence[Example],
        collate: Callable[[list[Example]], Batch],
        training: TrainingConfig,
        *,
        length: Callable[[Example], int] | None = None,
        validation: Sequence[Example] | None = None,
        checkpoint: str | Path | None = None,
        report: Callable[[Progress], None] | None = None,
    ) -> tuple[Module, History]:
        """Build and train a model; return it and its history.

        The weights depend on the seed of `training` alone, and the global generator of PyTorch is
        left as it was. `loss` gets the ``label_smoothing`` of `training`; the other arguments are
        those of `attn.training.train`.
        """
        if not isinstance(training, TrainingConfig):
            raise argument_error("training", "a TrainingConfig", type(training).__name__)
        # Weights are drawn on the CPU, because every device has its own random numbers.
        with torch.random.fork_rng(devices=[]), torch.device("cpu"):
            torch.default_generator.manual_seed(training.seed)
            model = make_model()
        history = train(
            model,
            partial(loss, label_smoothing=training.label_smoothing),
            examples,
            collate,
            training,
            length=length,
            validation=validation,
            checkpoint=checkpoint,
            report=report,
        )
        return model, history

    @staticmethod
    def _in_batches(
        inputs: Sequence[Sequenced],
        compute: Callable[[list[Sequenced]], Iterable[Output]],
        length: Callable[[Sequenced], int] = len,
    ) -> list[Output]:
        """Apply `compute` to batches of inputs of similar length; return the results in order."""
        outputs: dict[int, Output] = {}
        for some in by_length(inputs, length):
            computed = compute([inputs[i] for i in some])
            outputs.update(zip(some, computed, strict=True))
        return [outputs[i] for i in range(len(inputs))]


def configured(
    usual: Mapping[str, Any], sizes: Sizes, vocab_size: int, tgt_vocab_size: int | None = None
) -> TransformerConfig:
    """Return the default configuration of a model with the `sizes` that a user gave."""
    if not isinstance(sizes, Mapping) and sizes != ():
        raise argument_error("sizes", "a dict", type(sizes).__name__)
    known = {field.name for field in fields(TransformerConfig)} - {"vocab_size", "tgt_vocab_size"}
    others = sorted(map(repr, dict(sizes).keys() - known))
    if others:
        raise argument_error(
            "sizes", "fields of TransformerConfig, but no vocab_size", ", ".join(others)
        )
    return TransformerConfig(vocab_size, tgt_vocab_size, **{**usual, **dict(sizes)})


def present(device: str | torch.device) -> torch.device:
    """Return a device; refuse one that this machine lacks, and the meta device."""
    if device == "auto":
        return choose_device()
    try:
        found = torch.device(device)
        torch.zeros((), device=found).item()
    except (AssertionError, ImportError, RuntimeError, TypeError, ValueError):
        raise argument_error("device", "one that this machine has", repr(device)) from None
    return found


def read_words(folder: Path, vocab_size: int) -> WordTokenizer:
    """Return the vocabulary in a folder; refuse one whose size does not fit the model."""
    tokenizer = WordTokenizer.load(folder / "words.json")
    if tokenizer.vocab_size != vocab_size:
        wanted = f"{vocab_size} words, as its model has"
        raise argument_error("folder", wanted, f"{folder}, with {tokenizer.vocab_size}")
    return tokenizer
