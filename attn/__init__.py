"""attn: attention and the Transformer, from the dot product up.

Read from the top down: each part builds on the parts above it.

===================  ========================================================================
the mathematics
-------------------  ------------------------------------------------------------------------
`attn.reference`     NumPy, one function per equation: the oracle everything else is tested by
the PyTorch machine
-------------------  ------------------------------------------------------------------------
`attn.recurrent`     what came before: a recurrent encoder-decoder, without and with attention
`attn.masks`         who may attend to whom: ``causal_mask``, ``padding_mask``
`attn.attention`     ``scaled_dot_product_attention``, ``SelfAttention``, ``MultiHeadAttention``
`attn.positions`     where a token stands: sinusoidal, learned, rotary, ALiBi
`attn.mixers`        what else a layer may do with the tokens before each: ``MultiHead`` and others
`attn.layers`        ``EncoderLayer``, ``DecoderLayer``, ``FeedForward``; the norms
`attn.experts`       many feed-forward networks, of which each token takes a few
`attn.cache`         keys and values kept from one step of decoding to the next
`attn.transformer`   ``TransformerConfig``, ``Transformer``, ``EncoderOnly``, ``DecoderOnly``
text in, text out
-------------------  ------------------------------------------------------------------------
`attn.tokenizer`     text to ids and back: by words, by byte pairs, by the pieces of a BERT
`attn.io`            files written whole or not at all, by one process at a time
`attn.corpus`        pairs of sentences: from a file, or by name from an installed package
`attn.decoding`      one token after another: ``greedy``, ``beam_search``, ``sample``
`attn.training`      ``train``: one loop for every task, on one machine or several
`attn.metrics`       how good is it: ``bleu``, ``rouge``, ``alignment_error_rate``
the systems
-------------------  ------------------------------------------------------------------------
`attn.pretrained`    ``load``: a Llama, a GPT-2 or a BERT that others trained
`attn.applications`  ``Translator`` and others, built of all the parts above
`attn.__main__`      the command line: ``python -m attn translate "the red house"``
===================  ========================================================================

Four rules hold everywhere. In a mask, True means *may attend*. A query that may attend to
nothing gets zeros, never NaN. Whatever attends returns ``(output, weights)``, and weights is
None unless you ask with ``need_weights=True``. An argument that does not fit raises ``ValueError``,
which names the argument, what was expected and what came; docstrings name the other reasons.

A Transformer, from ids to logits and to a decoded sentence:

>>> import torch
>>> from functools import partial
>>> from attn.decoding import greedy
>>> from attn.masks import padding_mask
>>> from attn.transformer import Transformer, TransformerConfig
>>> model = Transformer(TransformerConfig(vocab_size=100, d_model=64, n_heads=4)).eval()
>>> source, target = torch.tensor([[5, 6, 7, 0]]), torch.tensor([[2, 8, 9]])
>>> real = padding_mask([3], seq_len=4)
>>> logits, _ = model(source, target, src_mask=real)
>>> logits.shape
torch.Size([1, 3, 100])
>>> memory, _ = model.encode(source, real)
>>> step = partial(model.step, memory=memory, src_mask=real)
>>> ids = greedy(step, target[:, :1], end_id=3, max_new_tokens=5, cache=model.new_cache())

``attn.checks(False)`` switches off the checks that have to read the numbers in a tensor.

`attn.reference` needs NumPy alone, and importing `attn` brings neither it nor PyTorch. The lessons
around the machine, their exercises, figures and data are another package, `attn_course`.
"""

from attn._checks import checks

__all__ = ["checks"]
__version__ = "1.0.0"
