"""SmolLM2, the pretrained model of chapter 12, or a sentence that says how to fetch it.

A notebook without the file runs as far as it can. Every cell that needs the model shows how to
fetch it, without a stack trace.
"""

from attn.pretrained import fetched, gguf, load
from attn_course.language import text


class NotFetched(ValueError):
    """Raised if a model is not on this machine; a notebook shows only its sentence."""

    def __init__(self, model="SmolLM2", name="smollm2", megabytes=98):
        super().__init__(
            text(
                es=f"Esta celda necesita {model}, que no está en esta máquina. Ejecuta "
                f"`python -m attn fetch {name}` en una terminal ({megabytes} MB, una sola vez), "
                "reinicia el núcleo y vuelve a empezar.",
                en=f"This cell needs {model}, which is not on this machine. Run "
                f"`python -m attn fetch {name}` in a terminal ({megabytes} MB, once), "
                "restart the kernel and begin again.",
            )
        )

    def _render_traceback_(self):
        return [str(self)]


class Absent:
    """A placeholder for a part of a missing model: any use of it raises `NotFetched`."""

    def __init__(self, error=None):
        self._error = error or NotFetched()

    def __getattr__(self, name):
        raise self._error

    __call__ = __getitem__ = __iter__ = __len__ = lambda self, *_, **__: self.__getattr__("")


def path():
    """Return the path of the file; nothing is downloaded.

    Raises
    ------
    NotFetched
        If it is not on this machine.
    """
    try:
        return fetched("smollm2", download=False)
    except ValueError as error:
        if str(error).startswith("smollm2:"):
            raise NotFetched from None
        # The file exists but is another.
        raise


def read():
    """Return the metadata and the tensors of the file, as arrays of float32.

    Returns
    -------
    metadata : dict
    tensors : dict of str to array
        Where the file is missing, both only say how to get it when they are used.
    """
    try:
        return gguf.read(path())
    except NotFetched:
        return Absent(), Absent()


def model():
    """Return the model in the layers of `attn`, and its tokenizer.

    Returns
    -------
    model : attn.transformer.DecoderOnly
    tokenizer : attn.tokenizer.ByteLevelTokenizer
        Where the file is missing, both only say how to get it when they are used.
    """
    try:
        return load(path())
    except NotFetched:
        return Absent(), Absent()
