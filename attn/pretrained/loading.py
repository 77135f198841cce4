"""A model and its tokenizer, from a file or a folder that someone else published."""

import os
from pathlib import Path
from typing import TypeAlias

from attn._checks import argument_error
from attn.pretrained import gguf_model, hugging_face
from attn.pretrained.families import Model, filled
from attn.tokenizer import ByteLevelTokenizer, WordPieceTokenizer

Loaded: TypeAlias = tuple[Model, ByteLevelTokenizer | WordPieceTokenizer]


def load(path: str | Path) -> Loaded:
    """Return a model that others trained, in evaluation mode, and its tokenizer.

    Parameters
    ----------
    path : str or Path
        A file of the format GGUF with a Llama; or a folder as Hugging Face publishes it, with
        ``config.json``, ``model.safetensors`` and ``tokenizer.json`` of a Llama, GPT-2 or BERT;
        or with several files of weights and ``model.safetensors.index.json``.

    Returns
    -------
    model : DecoderOnly, or EncoderOnly for a BERT
        In float32: quantised tensors are unpacked.

    Raises
    ------
    ValueError
        If it is neither, is damaged, or holds another kind of model; or an entry or a tensor whose
        effect is not known, so that scores or ids might be others than its makers'. The sentence
        begins with the path.

    References
    ----------
    Touvron et al. (2023), LLaMA. Radford et al. (2019), Language Models are Unsupervised
    Multitask Learners. Devlin et al. (2019), BERT.
    """
    path = Path(path)
    try:
        if path.is_dir():
            found = hugging_face.read(path)
        elif path.is_file():
            found = gguf_model.read(path)
        else:
            raise argument_error(
                str(path), "a GGUF file or a folder of Hugging Face", "nothing of this name"
            )
        most = found.options["vocab_size"]
        if found.tokenizer.vocab_size > most:
            wanted = f"a tokenizer of at most vocab_size = {most} tokens"
            raise argument_error(str(path), wanted, found.tokenizer.vocab_size)
        return filled(found), found.tokenizer
    except ValueError as error:
        is_of_path = str(error).startswith((f"{path}: ", f"{path}{os.sep}"))
        raise ValueError(f"{error}" if is_of_path else f"{path}: {error}") from None
