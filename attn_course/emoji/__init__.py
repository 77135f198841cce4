"""A small CLIP that searches emoji by typing: pictures and names in two languages, in one space.

==========  =====================================================================
`model`     ``TextTower``, ``ImageTower``: the two encoders; they need PyTorch
`searcher`  ``EmojiSearcher``: the emoji whose pictures are nearest to a text
==========  =====================================================================

``python -m experiments emoji`` fetches the pictures and names and trains it. Beside this file lie
the encoder of texts, one vector per emoji, and the code points of the emoji.
"""

import unicodedata
from pathlib import Path

FOLDER = Path(__file__).parent / "trained"
MAX_TOKENS = 12


def plain(text):
    """Return a text as the model reads it: small letters without marks, after one space.

    With the space, a word is tokenised in the same way at every position.

    >>> plain("Corazón  azul")
    ' corazon azul'
    """
    letters = unicodedata.normalize("NFD", text.lower())
    bare = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return " " + " ".join(bare.split())
