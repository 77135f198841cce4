"""Cut a text into the sentences that a translator reads one by one, and put their translations together.

``cutting.js`` of the widgets does the same in the page; one table of cases tests both.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import regex

from attn._checks import argument_error
from attn._letters import SPACE

_CLOSERS = r"[\"'”’»)\]]*"
# No border begins within white space, so that a long run of it is read once.
_OUTSIDE = rf"(?<![{SPACE}])"
_LINE = re.compile(rf"{_OUTSIDE}[{SPACE}]*[\n\r\u2028\u2029][{SPACE}]*")
# A stop after a title or an initial, or before a small letter, does not end a sentence.
_SENTENCE = regex.compile(
    rf"{_OUTSIDE}(?=[{SPACE}])(?:(?<=[!?…]{_CLOSERS})"
    rf"|(?<=\.{_CLOSERS})(?<!(?:^|[^\p{{L}}\p{{N}}])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Sra|Srta|Dra|Ud|Uds|\p{{Lu}})\.)"
    rf"(?=[{SPACE}]+[^{SPACE}\p{{Ll}}]))[{SPACE}]+"
)
# A mark goes with the white space around it; a conjunction of either language begins the next piece.
_HALF = re.compile(
    rf"[;:]{_CLOSERS}[{SPACE}]+|{_OUTSIDE}(?:[{SPACE}]*—[{SPACE}]*|[{SPACE}]+[–-][{SPACE}]+)"
)
_CLAUSE = re.compile(
    rf"[.,]{_CLOSERS}[{SPACE}]+|{_OUTSIDE}[{SPACE}]+(?=(?:"
    "and|but|or|so|because|although|though|while|when|if|unless|until|since|before|after|that"
    "|which|who|where|y|pero|o|ni|sino|porque|aunque|mientras|cuando|si|hasta|desde|antes|después|que"
    rf"|quien|donde)[{SPACE}])"
)
_SPACES = re.compile(rf"[{SPACE}]+")
# English writes this word with a capital letter wherever it stands.
_ALWAYS_LARGE = re.compile("I(?:['’]|$)")
_FIRST_WORD = regex.compile(r"^[^\p{L}\p{N}]*([\p{L}\p{N}'’-]+)")


class Piece(NamedTuple):
    """A part of a text that a translator reads at once, and its place in the text.

    `after` is what stands between it and the next piece: white space, or the mark of a clause too.
    `begins` and `ends` say whether the piece has the first and the last word of its sentence.
    """

    text: str
    after: str
    begins: bool
    ends: bool


def cut(text: str, fits: Callable[[str], bool]) -> list[Piece]:
    r"""Cut a text at line breaks and ends of sentences, and a long sentence into pieces that fit.

    A sentence that is too long is cut after as much as fits up to a semicolon, a colon or a dash,
    else a comma or a conjunction, else a word. Sentences are separated even where two would fit,
    since a model that was trained on single sentences translates the second one badly. Joined in
    order, the `text` and the `after` of all pieces give the text without the white space around it.

    Parameters
    ----------
    fits : callable, (str) -> bool
        Whether a part is short enough.

    Raises
    ------
    ValueError
        If a single word does not fit.

    Examples
    --------
    >>> for piece in cut("It rained, so I slept.\nAnd you?", lambda part: len(part) < 16):
    ...     print(piece)
    Piece(text='It rained', after=', ', begins=True, ends=False)
    Piece(text='so I slept.', after='\n', begins=False, ends=True)
    Piece(text='And you?', after='', begins=True, ends=True)
    """
    found = []
    for line, break_after in _split(text.strip(), _LINE):
        for sentence, space in _split(line, _SENTENCE):
            parts = list(_fitting(sentence, fits, (_HALF, _CLAUSE, _SPACES)))
            last = len(parts) - 1
            found += [Piece(*part, i == 0, i == last) for i, part in enumerate(parts)]
            found[-1] = found[-1]._replace(after=space)
        found[-1] = found[-1]._replace(after=break_after)
    return found


def _split(text: str, border: "re.Pattern[str] | regex.Pattern[str]") -> list[tuple[str, str]]:
    """Return the parts of a text, each with the border after it."""
    parts, begin = [], 0
    for match in border.finditer(text):
        # No part is empty: a border before the first word belongs to the first part.
        if match.start() > begin and match.end() < len(text):
            parts.append((text[begin : match.start()], match[0]))
            begin = match.end()
    return [*parts, (text[begin:], "")]


def _fitting(
    text: str,
    fits: Callable[[str], bool],
    borders: Sequence["re.Pattern[str] | regex.Pattern[str]"],
) -> Iterator[tuple[str, str]]:
    """Yield the largest parts that fit, between the first kind of borders where that is enough."""
    if fits(text):
        yield text, ""
        return
    if not borders:
        raise argument_error("text", "words that are short enough to translate", _shown(text))
    (held, after), *rest = _split(text, borders[0])
    for part, after_part in [*rest, ("", "")]:
        if part and fits(held + after + part):
            held, after = held + after + part, after_part
            continue
        *first, (last, _) = _fitting(held, fits, borders[1:])
        yield from first
        yield last, after
        held, after = part, after_part


def _shown(word: str) -> str:
    return f"{word[:20]!r}… of {len(word)} characters"


def put_together(pieces: Sequence[Piece], translations: Sequence[str]) -> str:
    """Return the translation of a text from the translations of its pieces.

    The text between the pieces is copied from the original. Within a sentence, a piece ends without
    a full stop that the original lacks, and begins with a small letter unless it begins with a
    word of the original, such as a name, or with the English *I*.

    Examples
    --------
    >>> pieces = [Piece("It rained", ", ", True, False), Piece("so I slept.", "", False, True)]
    >>> put_together(pieces, ["Llovió.", "Así que dormí."])
    'Llovió, así que dormí.'
    """
    return "".join(map(_joined, pieces, translations))


def _joined(piece: Piece, said: str) -> str:
    if not piece.ends:
        said = said.removesuffix(".")
    first = _FIRST_WORD.match(said)
    is_large = not first or first[1] in _words(piece.text) or _ALWAYS_LARGE.match(first[1])
    if not piece.begins and first and not is_large:
        at = first.start(1)
        said = said[:at] + said[at].lower() + said[at + 1 :]
    return said + piece.after


def _words(text: str) -> set[str]:
    return set(regex.findall(r"[\p{L}\p{N}'’-]+", text))
