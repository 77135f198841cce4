"""Summaries in two ways: write a headline, or pick the sentences that receive the most attention.

============  ======================================================================
`sentences`   a text cut into sentences; ``lead``, the summary to beat
`summarizer`  ``Summarizer``: fit, generate, extract, look inside, measure, save, load
============  ======================================================================
"""

from attn.applications.summarization.sentences import lead
from attn.applications.summarization.summarizer import Summarizer

__all__ = ["Summarizer", "lead"]
