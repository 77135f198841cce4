"""Links from the chapters to the glossary: the first mention of each term in a chapter.

The sources need no markup. When a chapter is written, its running text is searched for the terms of
the glossary, in the singular and the plural, and the first mention of each becomes a link.
Headings, code, formulas, captions, tables, quotations, words in italics, which are mostly examples,
and existing links are left alone.
"""

import itertools
import re

from docutils import nodes

# Words with another meaning too. They become links only in these chapters, ...
CHAPTERS = {
    **dict.fromkeys(("pesos", "weights"), ("01", "03", "04", "07", "09")),  # and of a network
    **dict.fromkeys(("capa", "layer"), ("01", "05", "06", "07", "08", "09")),  # hidden layers
    **dict.fromkeys(("muestreo", "sampling"), ("09",)),  # the statistician's
    **dict.fromkeys(("memoria", "memory"), ("05",)),  # megabytes, and a network's state
    # In other chapters "patch" is an activation patch, not the glossary's patch of an image.
    "patch": ("01", "10", "A4"),
}
# ... or only between these words: (before, after). "Haz la cuenta" means a sum, not a beam.
BESIDE = {
    "haz": (r"(?:el|un|del|al|cada)\s", ""),
    "value": (r"(?:its|keys? and|key,)\s", ""),
}
SEE = ("Véase ", "See ")  # the beginning of an entry that only refers to another
LEFT_ALONE = (
    nodes.title,
    nodes.caption,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.reference,
    nodes.emphasis,
    nodes.block_quote,
    nodes.raw,
    nodes.table,
    nodes.comment,
    nodes.system_message,
)


def numbers(word):
    """Return the singular and plural forms of a word in either language, and some non-words.

    >>> {"conexión", "conexiones"} <= numbers("conexión")
    True
    >>> {"queries", "query"} <= numbers("query") and "puntaje" in numbers("puntajes")
    True
    """
    pairs = (("", "s"), ("", "es"), ("ón", "ones"), ("z", "ces"), ("y", "ies"))
    forms = {word}
    for one, many in pairs:
        if word.endswith(one):
            forms.add(word.removesuffix(one) + many)
        if word.endswith(many):
            forms.add(word.removesuffix(many) + one)
    return forms


def pattern(term):
    """Return the expression that finds a term; its group ``term`` becomes the link.

    >>> pattern("red prealimentada").search("hay dos redes prealimentadas")["term"]
    'redes prealimentadas'
    >>> pattern("token").search("a tokenizer"), pattern("attention").search("self-attention")
    (None, None)
    >>> pattern("haz").search("Haz la cuenta con el haz").start("term")
    21
    """
    forms = map(" ".join, itertools.product(*map(numbers, term.split())))
    spoken = "|".join(sorted(map(re.escape, forms), key=len, reverse=True)).replace(r"\ ", r"\s+")
    before, after = BESIDE.get(term, ("", ""))
    return re.compile(rf"{before}(?<![\w“«-])(?P<term>{spoken})(?![\w-]){after}", re.IGNORECASE)


def read_glossary(env, language):
    """Return ``{term: (pattern, anchor, definition)}`` from the glossary's own page.

    An entry that only refers to another is for readers who look a word up: chapters do not use it.
    """
    page = f"book/{language}/glossary"
    if page not in env.found_docs:
        return {}
    entries = {}
    for item in env.get_doctree(page).findall(nodes.definition_list_item):
        term = next(item.findall(nodes.term))
        words = next(item.findall(nodes.definition)).astext()
        if words.startswith(SEE):
            continue
        words = re.sub(r"( \([^()]*\))?\.? (Chapter|Capítulo) \d+\.$", "", words).rstrip(".")
        entries[term.astext()] = (pattern(term.astext()), term["ids"][0], f"{words}.")
    return entries


def link_terms(app, doctree, docname):
    """Turn the first mention of each term in a chapter into a link to the glossary."""
    if not docname.startswith("notebooks/") or docname.endswith("/index"):
        return
    language = app.config.language
    if not hasattr(app, "attn_glossary"):
        app.attn_glossary = read_glossary(app.env, language)
    chapter = docname.rpartition("/")[2][:2]
    waiting = {
        term: entry
        for term, entry in app.attn_glossary.items()
        if chapter in CHAPTERS.get(term, (chapter,))
    }
    address = app.builder.get_relative_uri(docname, f"book/{language}/glossary")
    for text in list(doctree.findall(nodes.Text)):
        if any(isinstance(node, LEFT_ALONE) for node in _ancestors(text)):
            continue
        found = [
            (match.start("term"), -match.end("term"), term)
            for term, (expression, _, _) in waiting.items()
            if (match := expression.search(text))
        ]
        pieces, done = [], 0
        for start, minus_end, term in sorted(found):
            if start < done:  # inside a longer term: a later mention becomes the link
                continue
            _, anchor, definition = waiting.pop(term)
            link = nodes.reference(
                "",
                text[start:-minus_end],
                internal=True,
                refuri=f"{address}#{anchor}",
                reftitle=definition,
                classes=["attn-term"],
            )
            pieces += [nodes.Text(text[done:start]), link]
            done = -minus_end
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[done:])])


def _ancestors(node):
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app):
    app.connect("doctree-resolved", link_terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
