"""`EmojiSearch`: type a word, and see which emoji a small CLIP places nearest to it."""

import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_real, decimals, table
from attn_course.widgets._source import emoji, module, stylesheet

TEXT = {
    "es": {
        "caption": "Los emojis cuyas imágenes están más cerca de «{query}».",
        "head": ["puesto", "emoji", "código", "coseno", "en el entrenamiento"],
        "seen": ["no visto", "visto"],
    },
    "en": {
        "caption": "The emoji whose pictures are nearest to “{query}”.",
        "head": ["rank", "emoji", "code", "cosine", "in training"],
        "seen": ["unseen", "seen"],
    },
}


class EmojiSearch(Widget):
    """Type a word in Spanish or English and see the emoji whose pictures are nearest to it.

    The page encodes the word by itself. Emoji that the model did not see in training are marked,
    and the search may be limited to them.

    Parameters
    ----------
    query : str
        The text to begin with.
    found : list of attn_course.emoji.searcher.Found
        What a search for it gives: anything with `emoji`, `cosine` and `seen`.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If `query` is empty, or `found`, or a cosine is no finite number.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> heart = SimpleNamespace(emoji="💙", cosine=0.9, seen=True)
    >>> EmojiSearch("blue heart", [heart], language="en")
    EmojiSearch('blue heart', 1, language='en')
    """

    _stem = "emoji_search"
    _state = ("query", "found")
    _esm = module(_stem)
    _css = stylesheet()

    query = traitlets.Unicode().tag(sync=True)
    found = traitlets.List(traitlets.Dict()).tag(sync=True)
    trained = traitlets.Dict().tag(sync=True)

    def __init__(self, query, found, *, language=None):
        (query,) = check_labels("query", query)
        if not found:
            raise argument_error("found", "at least one emoji", "none")
        told = []
        for i, one in enumerate(found):
            cosine = round(check_real(f"found[{i}].cosine", one.cosine), 3)
            told.append({"emoji": one.emoji, "cosine": cosine, "seen": bool(one.seen)})
        super().__init__(language, query=query, found=told, trained=emoji())

    def _fallback(self):
        text = TEXT[self.language]
        rows = []
        for i, one in enumerate(self.found):
            code = " ".join(f"U+{ord(letter):X}" for letter in one["emoji"])
            seen = text["seen"][one["seen"]]
            rows.append([i + 1, one["emoji"], code, decimals(one["cosine"]), seen])
        return table(text["caption"].format(query=self.query), text["head"], rows)

    def __repr__(self):
        return f"EmojiSearch({self.query!r}, {len(self.found)}, language={self.language!r})"
