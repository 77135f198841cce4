"""Models that others trained, in the layers of this package.

A file in the format GGUF or a folder as Hugging Face publishes it holds the weights of a Llama, a
GPT-2 or a BERT. Each is one of our two models with its own `attn.transformer.TransformerConfig`:

===============  ==========================================================================
`loading`        ``load``: the model and its tokenizer, from a file or a folder
`gguf`           what a GGUF file holds: metadata and tensors, quantised or not
`gguf_model`     what its metadata say of a Llama: which entries are read, and what others must be
`hugging_face`   what such a folder says of its model, and its weights, in one file or several
`tokenizers`     the tokenizer that either describes
`families`       of a Llama, a GPT-2 and a BERT: which entries of ``config.json`` are read, what others
                 must be, which change nothing; and the tensors' names in the file and in `attn`
`published`      ``fetched``: two models to begin with, from the package that holds each
===============  ==========================================================================
"""

from attn.pretrained.loading import load
from attn.pretrained.published import fetched

__all__ = ["fetched", "load"]
