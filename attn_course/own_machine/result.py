"""What the learner's machine wrote, which parts are the learner's, and how both are displayed."""

import html
import re
from dataclasses import dataclass

from attn_course.drawings.own import OwnMachine
from attn_course.exercises.kept import USED
from attn_course.language import text


@dataclass(frozen=True, repr=False)
class Translation:
    """Sentences and their translations. As the last line of a cell it shows the machine, too.

    Attributes
    ----------
    sources, targets : tuple of str
    unknown : tuple of str
        Words that are not in the vocabulary.
    yours, lent : tuple of str
        The exercises whose functions were the learner's, and those whose were the course's.
    idle : tuple of str
        The exercises whose functions are the learner's and were not called, since others do without.
    refused : tuple of str
        Sentences that say why a function of the learner's was not used.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    unknown: tuple[str, ...]
    yours: tuple[str, ...]
    lent: tuple[str, ...]
    idle: tuple[str, ...]
    refused: tuple[str, ...]

    def __repr__(self):
        pairs = zip(self.sources, self.targets, strict=True)
        lines = [*(f"{source} → {target}" for source, target in pairs), *self._told()]
        return "\n".join(lines).replace("`", "")

    def _repr_html_(self):
        pairs = zip(self.sources, self.targets, strict=True)
        lines = [
            f"{html.escape(source)} → <strong>{html.escape(target)}</strong>"
            for source, target in pairs
        ]
        told = (
            re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(each)) for each in self._told()
        )
        drawn = OwnMachine(part for name in self.yours for part in USED[name])._repr_html_()
        paragraphs = "".join(f"<p>{each}</p>" for each in ("<br/>".join(lines), *told))
        return f'<div class="attn-translated" role="status">{paragraphs}</div>{drawn}'

    def _told(self):
        """Return sentences about whose parts they were."""
        if self.unknown:
            words = ", ".join(self.unknown)
            yield text(
                es=f"La máquina no conoce: {words}.", en=f"The machine does not know: {words}."
            )
        yield (
            text(es="Tu código: ", en="Your code: ")
            + (_names(self.yours) or text(es="todavía ninguno", en="none yet"))
            + "."
        )
        yield (
            text(es="Prestado por el curso: ", en="Lent by the course: ")
            + (_names(self.lent) or text(es="ninguna función", en="no function"))
            + "."
        )
        if self.idle:
            yield text(
                es=f"También es correcto, pero aquí nadie lo llama, porque tus otras funciones se bastan solas: {_names(self.idle)}.",
                en=f"Right as well, but nothing calls it here, since your other functions do without: {_names(self.idle)}.",
            )
        yield from self.refused


def _names(exercises):
    return ", ".join(f"`{name}`" for name in exercises)
