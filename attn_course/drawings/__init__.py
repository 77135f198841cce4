"""Drawings of ideas, as SVG that the course makes itself: the machine, and what happens inside it.

Each has texts in both languages and a description for those who do not see it, and takes its
colours from its page.

The parts of the machine, their names and their chapters are in ``parts.py``. ``chapters.py``
says which parts a chapter lights and the shapes of its tensors. ``_wide.py`` and
``_upright.py`` are the two layouts, and ``moving.py`` is the one of the opening page, whose
parts a script lights.
"""

from attn_course.drawings.asking import asking
from attn_course.drawings.beam import beam
from attn_course.drawings.bottleneck import bottleneck
from attn_course.drawings.cache import cache
from attn_course.drawings.clocks import clocks
from attn_course.drawings.contributions import contributions
from attn_course.drawings.control_task import control_task
from attn_course.drawings.copies import copies
from attn_course.drawings.cross import cross
from attn_course.drawings.entrances import entrances
from attn_course.drawings.families import families
from attn_course.drawings.feed_forward import feed_forward
from attn_course.drawings.film import film
from attn_course.drawings.finding import finding
from attn_course.drawings.finer import finer
from attn_course.drawings.forcing import forcing
from attn_course.drawings.handover import handover
from attn_course.drawings.heads import heads
from attn_course.drawings.hidden import hidden
from attn_course.drawings.hops import hops
from attn_course.drawings.ladder import ladder
from attn_course.drawings.last_row import last_row
from attn_course.drawings.leak import leak
from attn_course.drawings.lookup import lookup
from attn_course.drawings.machine import Machine
from attn_course.drawings.mask import mask
from attn_course.drawings.merges import merges
from attn_course.drawings.moving import MovingMachine
from attn_course.drawings.padding import padding
from attn_course.drawings.pairs import pairs
from attn_course.drawings.patching import patching
from attn_course.drawings.pooling import pooling
from attn_course.drawings.prefill import prefill
from attn_course.drawings.product import product
from attn_course.drawings.projection import projection
from attn_course.drawings.received import received
from attn_course.drawings.roles import roles
from attn_course.drawings.rotation import rotation
from attn_course.drawings.sampling import sampling
from attn_course.drawings.search import search
from attn_course.drawings.sharing import sharing
from attn_course.drawings.shuffle import shuffle
from attn_course.drawings.sinks import sinks
from attn_course.drawings.smoothing import smoothing
from attn_course.drawings.softmax import softmax
from attn_course.drawings.span import span
from attn_course.drawings.speculative import speculative
from attn_course.drawings.stream import norms, stream
from attn_course.drawings.telling import telling
from attn_course.drawings.turns import turns

__all__ = [
    "Machine",
    "MovingMachine",
    "asking",
    "beam",
    "bottleneck",
    "cache",
    "clocks",
    "contributions",
    "control_task",
    "copies",
    "cross",
    "entrances",
    "families",
    "feed_forward",
    "film",
    "finding",
    "finer",
    "forcing",
    "handover",
    "heads",
    "hidden",
    "hops",
    "ladder",
    "last_row",
    "leak",
    "lookup",
    "mask",
    "merges",
    "norms",
    "padding",
    "pairs",
    "patching",
    "pooling",
    "prefill",
    "product",
    "projection",
    "received",
    "roles",
    "rotation",
    "sampling",
    "search",
    "sharing",
    "shuffle",
    "sinks",
    "smoothing",
    "softmax",
    "span",
    "speculative",
    "stream",
    "telling",
    "turns",
]
