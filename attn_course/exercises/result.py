"""The result of `check`, and how it is displayed."""

import html
import re
import textwrap
from dataclasses import dataclass

EMPHASIS = re.compile(r"(?<![\w*])\*([^\s*][^*\n]*)\*(?![\w*])")  # and no product
MARKS = re.compile(rf"`([^`]+)`|{EMPHASIS.pattern}")


@dataclass(frozen=True, repr=False)
class Result:
    """The result of `check`: true if the attempt is right, and displayed by itself.

    As the last line of a cell it is a box in a notebook and its message in a terminal;
    anywhere else, ``print`` it.

    Attributes
    ----------
    exercise : str
        Id of the exercise.
    status : {"passed", "failed", "unanswered"}
        The verdict.
    message : str
        The explanation, in the language that was in use.
    misconception : str or None
        Id of the known mistake that the attempt makes.
    """

    exercise: str
    status: str
    message: str
    misconception: str | None = None

    def __bool__(self):
        return self.status == "passed"

    def __repr__(self):
        return self.message

    def _repr_html_(self):
        kind = {"passed": "pass", "failed": "fail", "unanswered": "todo"}[self.status]
        verdict, explanation = html.escape(self.message, quote=False).split(". ", 1)
        first, *rest = explanation.split("\n\n")
        parts = [f"<p><strong>{verdict}.</strong> {first}</p>"]
        for part in rest:
            block = textwrap.dedent(part)
            parts.append(f"<p>{part}</p>" if block == part else f'<pre tabindex="0">{block}</pre>')
        body = MARKS.sub(_marked, "".join(parts))
        return f'<div class="attn-check attn-check-{kind}" role="status">{body}</div>'


def _marked(found):
    code, emphasis = found.groups()
    return f"<code>{code}</code>" if code else f"<em>{emphasis}</em>"
