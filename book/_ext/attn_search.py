"""The index of the site's search: the text of every section, collected by the build.

Sphinx's index has the pages of a word, but not its place in them or the text around it. This index
is the text itself, in pieces that a result can link to: a section, a term of the glossary, a name
of the API. ``search.js`` ranks them in the page, so that the search also works from a local folder.
"""

import json
import re

from attn_glossary import SEE
from docutils import nodes
from sphinx import addnodes

# Symbols in the excerpts of formulas; formulas that these do not cover are omitted.
SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "sigma": "σ", "phi": "φ", "omega": "ω",
    "Delta": "Δ", "Sigma": "Σ", "sum": "Σ", "prod": "Π", "infty": "∞", "partial": "∂", "nabla": "∇",
    "top": "ᵀ", "times": "×", "cdot": "·", "odot": "⊙", "pm": "±", "approx": "≈", "sim": "∼",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "neq": "≠", "ne": "≠", "ll": "≪", "gg": "≫",
    "in": "∈", "to": "→", "rightarrow": "→", "leftarrow": "←", "mapsto": "↦", "mid": "|",
    "ldots": "…", "dots": "…", "cdots": "…", "lVert": "‖", "rVert": "‖", "|": "‖", "langle": "⟨",
    "rangle": "⟩", "min": "min", "max": "max", "exp": "exp", "log": "log", "ln": "ln", "sin": "sin",
    "cos": "cos", "Pr": "Pr", ",": " ", ";": " ", " ": " ", "quad": " ", "%": "%", "_": "_",
    "{": "{", "}": "}", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "",
    "!": "", "displaystyle": "",
}  # fmt: skip # The table stays on one screen.
GROUP = r"\{([^{}]*)\}"


def readable(latex):
    r"""Return a formula as text, or "…" if it cannot be written as text.

    >>> readable(r"\operatorname{softmax}(QK^\top/\sqrt{d_k})V")
    'softmax(QKᵀ/√d_k)V'
    >>> readable(r"\frac{1}{\sqrt{n}} \le 0.5"), readable(r"\begin{pmatrix} 1 \end{pmatrix}")
    ('1/√n ≤ 0.5', '…')
    """
    text, before = latex, None
    while text != before:  # from the innermost braces outwards
        before = text
        text = re.sub(
            rf"\\(?:operatorname|text\w*|math\w+|boldsymbol|bar|hat|tilde|vec)\*?\s*{GROUP}",
            r"\1",
            text,
        )
        text = re.sub(rf"\\sqrt\s*{GROUP}", lambda m: f"√{_bracketed(m[1])}", text)
        text = re.sub(
            rf"\\[dt]?frac\s*{GROUP}\s*{GROUP}",
            lambda m: f"{_bracketed(m[1])}/{_bracketed(m[2])}",
            text,
        )
        text = re.sub(rf"([_^])\s*{GROUP}", lambda m: m[1] + _bracketed(m[2]), text)
        text = re.sub(r"\\([A-Za-z]+|[^A-Za-z])(?!\s*\{)", lambda m: SYMBOLS.get(m[1], m[0]), text)
    text = " ".join(text.replace("^ᵀ", "ᵀ").replace("^(ᵀ)", "ᵀ").replace("{,}", ",").split())
    return "…" if re.search(r"[\\{}&]", text) or len(text) > 60 else text


def _bracketed(text):
    return text if re.fullmatch(r"√?[\w.,′]+|[-−]?[\w.]+", text.strip()) else f"({text})"


def plain(node):
    """Return the text of a node as it reads on the page."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, nodes.math):
        return readable(node.astext())
    if isinstance(node, nodes.raw | nodes.image):
        return ""
    return "".join(map(plain, node.children))


class Entry:
    """A piece of a page: its anchor, its title, what kind of thing it is, its text and its code."""

    def __init__(self, anchor, title, kind=""):
        self.anchor, self.title, self.kind = anchor, title, kind
        self.text, self.code = [], []

    def row(self, page):
        code = " ".join(dict.fromkeys(re.findall(r"[^\W\d]\w+", " ".join(self.code))))
        text = " ".join(" ".join(self.text).split())
        return [page, self.anchor, self.title, self.kind, text, code]


def entries(doctree):
    """Return the pieces of a page, in order; the first of them has the title of the page."""
    found = []
    _collect(doctree, None, found)
    return found


def _collect(node, entry, found):
    for child in node.children:
        if isinstance(child, nodes.section):
            title = plain(child.next_node(nodes.title))
            # The first section is the page itself, so its anchor is empty.
            found.append(Entry(child["ids"][0] if found else "", title))
            _collect(child, found[-1], found)
        elif isinstance(child, addnodes.desc):
            signature = child.next_node(addnodes.desc_signature)
            if signature["ids"]:
                found.append(Entry(signature["ids"][0], signature["fullname"], child["objtype"]))
                _collect(child.next_node(addnodes.desc_content), found[-1], found)
        elif isinstance(child, nodes.definition_list_item) and child.next_node(nodes.term)["ids"]:
            term = child.next_node(nodes.term)
            definition = child.next_node(nodes.definition)
            kind = "see" if definition.astext().startswith(SEE) else "term"
            found.append(Entry(term["ids"][0], plain(term), kind))
            _collect(definition, found[-1], found)
        elif isinstance(child, nodes.title | nodes.raw | nodes.math_block | nodes.Invisible):
            pass
        elif isinstance(child, nodes.literal_block | nodes.doctest_block):
            entry.code.append(child.astext())
        elif isinstance(child, nodes.TextElement):
            entry.text.append(plain(child))
        else:
            _collect(child, entry, found)


def index(pages):
    """Return the script that holds the index.

    Parameters
    ----------
    pages : list of tuple (str, str, list of Entry)
        The address and the number, if it has one, of each page, and its pieces.
    """
    rows = [entry.row(i) for i, (_, _, pieces) in enumerate(pages) for entry in pieces]
    known = {
        "pages": [
            {"address": address, "title": pieces[0].title, "number": number}
            for address, number, pieces in pages
        ],
        "entries": rows,
    }
    text = json.dumps(known, ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.attnSearch = {text};\n"
