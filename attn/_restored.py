"""Caches that are as they were before a step that failed."""

from types import TracebackType


class restored_on_error:
    """Give the attributes of caches their old values if what follows raises.

    Without that, the layers before the one that refused a step would have kept its tokens,
    and every later step would silently be wrong.

    Parameters
    ----------
    *caches : object or None
        One that has ``parts`` stands for them; None, for no cache.
    """

    def __init__(self, *caches: object) -> None:
        self._before = [
            (vars(part), vars(part).copy())
            for cache in caches
            if cache is not None
            for part in getattr(cache, "parts", (cache,))
        ]

    def __enter__(self) -> None:
        """Do nothing: what the caches held is known already."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore what the caches held, if there was an error."""
        if kind is not None:
            for attributes, old in self._before:
                attributes.update(old)
