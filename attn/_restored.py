"""Caches that are as they were before a step that failed."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def restored_on_error(*caches: object) -> Iterator[None]:
    """Give the attributes of caches their old values if what follows raises.

    Without that, the layers before the one that refused a step would have kept its tokens,
    and every later step would silently be wrong.

    Parameters
    ----------
    *caches : object or None
        One that has ``parts`` stands for them; None, for no cache.
    """
    given = (cache for cache in caches if cache is not None)
    parts = (part for cache in given for part in getattr(cache, "parts", (cache,)))
    before = [(vars(part), vars(part).copy()) for part in parts]
    try:
        yield
    except BaseException:
        for attributes, old in before:
            attributes.update(old)
        raise
