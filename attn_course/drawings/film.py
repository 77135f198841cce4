"""Video: a patch attends to its own place in all frames, then to its whole frame."""

from attn_course.drawings import _ink as ink
from attn_course.drawings._idea import Idea

_CELL, _GAP, _TOP = 24, 92, 64
# The middle frame, which holds the patch of the query.
_AT = 2
_TITLE = {
    "es": "Primero por el tiempo, después por el espacio",
    "en": "First through time, then across space",
}
_DESCRIPTION = {
    "es": "Cuatro fotogramas de tres por tres parches, uno al lado de otro. El parche del centro del tercer fotograma, resaltado, es la query. Con líneas de un "
    "color se une al mismo sitio de los otros tres fotogramas: es la atención en el tiempo. Los otros ocho parches de su propio fotograma están enmarcados con "
    "otro color: es la atención en el espacio. Los demás parches de los demás fotogramas no se miran directamente.",
    "en": "Four frames of three by three patches, one beside another. The patch in the middle of the third frame, which is lit, is the query. Lines of one "
    "colour join it to the same place in the other three frames: that is attention in time. The other eight patches of its own frame are outlined in "
    "another colour: that is attention in space. The remaining patches of the other frames are not looked at directly.",
}
_WORDS = {
    "es": ("tiempo", "4 keys", "espacio", "9 keys", "fotograma"),
    "en": ("time", "4 keys", "space", "9 keys", "frame"),
}


def film():
    """Return the drawing of four frames and of what one patch attends to."""
    return Idea("film", 208, _TITLE, _DESCRIPTION, _draw)


def _draw(language):
    time, n_time, space, n_space, frame = _WORDS[language]
    drawn = []
    middle = [_GAP * i + 4 + 1.5 * _CELL for i in range(4)]
    for i in range(4):
        for j in range(9):
            x, y = _GAP * i + 4 + _CELL * (j % 3), _TOP + _CELL * (j // 3)
            kind = "box key" if i == _AT else "frame"
            if j == 4:
                kind = "now" if i == _AT else "box value"
            drawn.append(ink.rect(x, y, _CELL - 3, _CELL - 3, kind, 2))
        drawn.append(
            ink.text(middle[i] - 1.5, _TOP + 88, f"{frame} {i + 1}", "small soft", "middle")
        )
    from_ = middle[_AT] - 1.5, _TOP + 1.5 * _CELL - 1.5
    for i in (0, 1, 3):
        end, lift = middle[i] - 1.5, 34 if i != 0 else 20
        curve = f"M{from_[0]} {from_[1]}C{from_[0]} {lift} {end} {lift} {end} {from_[1]}"
        drawn.append(ink.tag("path", d=curve, class_="line value", style="stroke-width:2"))
    for y, kind, label, number in ((178, "value", time, n_time), (198, "key", space, n_space)):
        drawn.append(ink.path([(4, y - 4), (28, y - 4)], f"line {kind}"))
        drawn.append(ink.text(38, y, f"{label}: {number}", f"small {kind}"))
    return "".join(drawn)
