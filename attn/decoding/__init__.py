"""From the logits of the next token to whole sequences: greedy, sampling and beam search.

Decoding does not depend on the model. It takes a function ``step(ids, cache) -> logits``:
`ids`, int64 of shape (rows, length), holds the prompt and all new tokens of each row;
`logits`, floating-point of shape (rows, vocab_size), score the next token. A logit of -inf
forbids its token; each row has at least one token that is allowed. Steps run without
gradients.

The `cache` is handed to the step unchanged. It is None for a step that reads all of `ids` each
time. Otherwise it may be any object with one method, which beam search calls:
``cache.reorder(rows)`` makes row i a copy of the old row ``rows[i]``, for any number of rows.
A row that has ended is still passed to the step, with padding, and its logits are ignored.

===============  ===================================================================
`sampling`       ``greedy``, ``sample``, and ``next_token_probabilities`` it draws from
`beam`           ``beam_search``
===============  ===================================================================
"""

from attn.decoding.beam import beam_search
from attn.decoding.sampling import greedy, next_token_probabilities, sample

__all__ = ["beam_search", "greedy", "next_token_probabilities", "sample"]
