"""Search by typing: the emoji whose pictures are nearest to a text."""

import json
from typing import NamedTuple

import torch

from attn._checks import argument_error, check_size
from attn.tokenizer import BytePairTokenizer
from attn_course.emoji import FOLDER, plain
from attn_course.emoji.model import TextTower, batch_of


class Found(NamedTuple):
    """An emoji that a search found.

    Attributes
    ----------
    emoji : str
        The characters of the emoji.
    cosine : float
        The cosine of its picture with the text.
    seen : bool
        Whether the model was trained on it.
    """

    emoji: str
    cosine: float
    seen: bool


class EmojiSearcher:
    """An encoder of texts, with the stored vectors of the pictures.

    Parameters
    ----------
    tower : TextTower
    tokenizer : BytePairTokenizer
    emoji : list of str
        An emoji for each picture of the tower.
    seen : list of bool
        Whether the model was trained on each.
    """

    def __init__(self, tower, tokenizer, emoji, seen):
        self.tower, self.tokenizer = tower.eval(), tokenizer
        self.emoji, self.seen = emoji, seen

    @classmethod
    def pretrained(cls):
        """Return the searcher that comes with the course."""
        about = json.loads((FOLDER / "emoji.json").read_text(encoding="utf-8"))
        tower = TextTower.load(FOLDER / "model.safetensors")
        tokenizer = BytePairTokenizer.load(FOLDER / "vocabulary.json")
        return cls(tower, tokenizer, *read_codes(about))

    @torch.no_grad()
    def search(self, text, n=10):
        """Return the emoji nearest to a text, the nearest first.

        Parameters
        ----------
        text : str
            A text in Spanish or English. Capitals and accents do not matter.
        n : int, default 10

        Returns
        -------
        list of Found

        Raises
        ------
        ValueError
            If the text is empty, or `n` is not an integer of at least 1.

        Examples
        --------
        >>> [found.emoji for found in EmojiSearcher.pretrained().search("blue heart", 1)]
        ['💙']
        """
        check_size("n", n, least=1)
        if not plain(text).strip():
            raise argument_error("text", "a word or more", repr(text))
        (cosines,) = self.tower.cosines(*batch_of(self.tokenizer, [text]))
        best = cosines.argsort(descending=True, stable=True)[:n].tolist()
        return [Found(self.emoji[i], cosines[i].item(), self.seen[i]) for i in best]


def read_codes(about):
    """Return the characters of each emoji and whether it was seen in training."""
    codes = about["codes"].split()
    emoji = ["".join(chr(int(part, 16)) for part in code.lstrip("*").split("-")) for code in codes]
    return emoji, [not code.startswith("*") for code in codes]
