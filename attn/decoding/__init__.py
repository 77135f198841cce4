"""From the logits of the next token to whole sequences: greedy, sampling and beam search.

Nothing here knows a model. All it asks for is a step, ``step(ids, cache) -> logits``: `ids`,
int64 (rows, length), holds everything written so far in each row; `logits`, floating-point
(rows, vocab_size), score the token that comes next. A logit of -inf forbids its token, but
not every token of a row. Steps run without gradients.

`cache` goes through to the step untouched. It is None for a step that reads `ids` anew each
time; otherwise it is whatever the step remembers, with one method that beam search calls:
``cache.reorder(rows)`` makes its row i a copy of its old row ``rows[i]``, for any number of
rows. A row that has ended still goes through the step, with padding; its logits are ignored.

===============  ===================================================================
`sampling`       ``greedy``, ``sample``, and ``next_token_probabilities`` it draws from
`beam`           ``beam_search``
===============  ===================================================================
"""

from attn.decoding.beam import beam_search
from attn.decoding.sampling import greedy, next_token_probabilities, sample

__all__ = ["beam_search", "greedy", "next_token_probabilities", "sample"]
