"""Drawings of ideas, as SVG that the course makes itself: the machine, and what happens inside it.

Each is made from one description, in both languages, takes its colours from the page it stands on,
and says in words what it shows.

The machine is described once, in ``parts.py``: what its parts are called and which chapter tells about
each. What a chapter lights, and the shapes of its tensors, stand in ``chapters.py``; ``_wide.py`` and
``_upright.py`` are its two layouts.
"""

from attn_course.drawings.machine import Machine

__all__ = ["Machine"]
