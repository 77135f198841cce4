"""Pictures of emoji and their names in Spanish and English, from three packages of npm.

Two sets of drawings, Twemoji (CC BY 4.0) and Noto Emoji (Apache 2.0), as `emoji-datasource` packs them,
and the names and keywords of Unicode's CLDR (Unicode License), as `emojibase-data` packs them. They
are fetched once, pinned and checked like the packages of the site, and stay in ``build/vendor``.
"""

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from attn_course.emoji import plain
from attn_course.emoji.model import SIDE

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
from vendor import fetch

STYLES = ("twitter", "google")
LANGUAGES = ("es", "en")
# A picture has a border of one empty pixel on every side.
CELL = SIDE + 2
# The numbers of two groups of emojibase.
FLAGS, COMPONENTS = 9, 2
# The members of these groups have similar pictures and names, so each group lies wholly in one part
# of the split.
ALIKE = {"family", "alphanum", "keycap"}
CLOCKS, MOONS = range(0x1F550, 0x1F568), range(0x1F311, 0x1F31F)
GROWN_UP, OLD = "1F9D1", "1F9D3"
PERSON = {"1F468": GROWN_UP, "1F469": GROWN_UP, "1F474": OLD, "1F475": OLD}
PARTS = ("train", "validation", "test")


@dataclass(frozen=True)
class Emoji:
    """An emoji.

    Attributes
    ----------
    code : str
        The code points in hexadecimal, joined by ``-``.
    family : str
        The name of the group of its near variants.
    texts : dict of str to list of str
        For each language its name and then its keywords.
    """

    code: str
    family: str
    texts: dict

    @property
    def part(self):
        """``"train"``, ``"validation"`` or ``"test"``: by a hash of the family; flags only train."""
        if self.family == "flags":
            return PARTS[0]
        digest = int(hashlib.sha256(f"emoji {self.family}".encode()).hexdigest(), 16) % 10
        return PARTS[2] if digest < 2 else PARTS[1] if digest < 3 else PARTS[0]


def family(code, group, subgroup):
    """Return the group of near variants: all sexes of a person, all flags, all clocks."""
    if group == FLAGS:
        return "flags"
    if subgroup in ALIKE:
        return subgroup
    parts = [PERSON.get(part, part) for part in code.split("-") if part != "FE0F"]
    if len(parts) == 1 and int(parts[0], 16) in CLOCKS:
        return "clocks"
    if len(parts) == 1 and int(parts[0], 16) in MOONS:
        return "moons"
    return re.sub("-200D-(2640|2642|27A1)", "", "-".join(parts))


def load():
    """Return every emoji that both artists drew, without skin tones, and the pictures of each.

    Returns
    -------
    emoji : list of Emoji
    pictures : array of float32, shape (n_emoji, n_styles, 3, SIDE, SIDE)
        Numbers from 0 to 1, on a white background.

    Raises
    ------
    VendorError
        If a package cannot be fetched.
    """
    names = fetch("emojibase-data")
    folders = [fetch(f"emoji-datasource-{style}") for style in STYLES]
    known = {
        language: {one["hexcode"]: one for one in _read(names / language / "data.json")}
        for language in LANGUAGES
    }
    subgroups = _read(names / "meta" / "groups.json")["subgroups"]
    places = {
        one["unified"].replace("-FE0F", ""): (one["sheet_x"], one["sheet_y"])
        for one in _read(folders[0] / "emoji.json")
        if all(one[f"has_img_{style}"] for style in STYLES)
    }
    sheets = [
        _on_white(folder / "img" / style / "sheets" / f"{SIDE}.png")
        for folder, style in zip(folders, STYLES, strict=True)
    ]
    emoji, pictures = [], []
    for code, one in sorted(known["en"].items(), key=lambda item: item[1].get("order", 0)):
        place = places.get(code.replace("-FE0F", ""))
        if one.get("group") in (None, COMPONENTS) or place is None or code not in known["es"]:
            continue
        told = {language: known[language][code] for language in LANGUAGES}
        texts = {name: [of["label"], *of.get("tags", ())] for name, of in told.items()}
        written = "-".join(f"{ord(letter):X}" for letter in one["emoji"])
        alike = family(code, one["group"], subgroups[str(one["subgroup"])])
        emoji.append(Emoji(written, alike, texts))
        x, y = (CELL * i + 1 for i in place)
        pictures.append([sheet[:, y : y + SIDE, x : x + SIDE] for sheet in sheets])
    return emoji, np.array(pictures)


def words_of(text):
    """Return the words of a text in the form that the model reads."""
    return re.findall(r"\w+", plain(text))


def _read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def _on_white(path):
    """Return a sheet of pictures with the channels first, on a white background."""
    pixels = np.asarray(Image.open(path).convert("RGBA"), dtype=np.float32) / 255
    opacity = pixels[..., 3:]
    return (pixels[..., :3] * opacity + 1 - opacity).transpose(2, 0, 1)
