"""The pages of the API: the docstrings of `attn`, read without importing it.

The site is built without PyTorch, so no code of the package runs: its files are parsed, its public
names are looked up where they are defined, and Sphinx's numpydoc reader turns each docstring into
entries of the Python domain. A page inserts a module with::

    ```{attn-api} attn.masks
    ```
"""

import ast
import functools
import re
from pathlib import Path

from docutils import nodes
from docutils.utils import new_document
from myst_parser.mocking import MockRSTParser
from sphinx import addnodes
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
PROSE_ONLY = {
    "attn",
    "attn.__main__",
    "attn_course",
}  # a dict and a command line, which have no signature
MANY = 3  # a module with more entries than this begins with a list of them
NAPOLEON = Config(napoleon_use_rtype=False, napoleon_use_ivar=True)
ROLE = ".. default-role:: py:obj\n\n"  # single backticks in docstrings name code


@functools.cache
def module_path(module):
    """Return the file of a module, or None.

    >>> module_path("attn.masks").name
    'masks.py'
    >>> module_path("attn.reference").name
    '__init__.py'
    """
    base = ROOT.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@functools.cache
def module_tree(module):
    """Return the syntax tree of a module."""
    return ast.parse(module_path(module).read_text(encoding="utf-8"))


def definitions(module):
    """Return the functions and classes a module defines, by name."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in module_tree(module).body if isinstance(node, kinds)}


def imported(module):
    """Return a module's imports as a dict: name -> (module of origin, name there)."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in module_tree(module).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def find(module, name):
    """Return ``(module, node)`` where a name is defined, or None outside the package.

    >>> find("attn.attention", "MultiHeadAttention")[0]
    'attn.attention.multi_head'
    """
    while module and module.split(".")[0] in {"attn", "attn_course"}:
        if name in definitions(module):
            return module, definitions(module)[name]
        module, name = imported(module).get(name, (None, name))
    return None


def public_names(module):
    """Return the public functions and classes of a module, in the order of its ``__all__``.

    Constants are left out; a module without ``__all__`` publishes the public names that it defines.

    >>> public_names("attn.masks")
    ['causal_mask', 'window_mask', 'padding_mask', 'combine_masks']
    """
    for node in module_tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [name for name in ast.literal_eval(node.value) if find(module, name)]
    return [name for name in definitions(module) if not name.startswith("_")]


def base_name(base):
    """Return the name of a base class, without the types in its brackets.

    >>> base_name(ast.parse("Application[Transformer]", mode="eval").body)
    'Application'
    """
    return ast.unparse(base.value if isinstance(base, ast.Subscript) else base)


def methods(module, node):
    """Return the public methods of a class and of its private bases: name -> (syntax node, text).

    A published base class has its own entry, so its methods are not repeated. A method without a
    docstring has that of the method it overrides, or is left out.

    >>> "load" in methods(*find("attn.applications.translation", "Translator"))
    True
    """
    found = {}
    for base in map(base_name, node.bases):
        place = find(module, base)
        if place and base not in public_names(place[0].rpartition(".")[0]):
            found |= methods(*place)
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
            text = ast.get_docstring(item) or found.get(item.name, (None, ""))[1]
            found[item.name] = (item, text)
    return {name: (item, text) for name, (item, text) in found.items() if text}


def signature(node, drop_first=False, text=None):
    """Return a function's signature; it keeps only annotations that the docstring does not state.

    >>> signature(definitions("attn.masks")["causal_mask"])
    '(tgt_len, src_len=None, *, device=None)'
    >>> signature(definitions("attn.reference.masks")["padding_mask"])  # which has annotations
    '(lengths, seq_len)'
    """
    arguments = ast.parse(f"def f({ast.unparse(node.args)}): pass").body[0].args
    if drop_first:
        (arguments.posonlyargs or arguments.args).pop(0)
    text = ast.get_docstring(node) or "" if text is None else text
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            told = re.search(rf"^[\w, ]*\b{argument.arg}\b[\w, ]*( : .*)?$", text, re.MULTILINE)
            argument.annotation = None if told else argument.annotation
    is_told = (
        node.returns is None
        or node.name == "__init__"
        or re.search("^(Return|Yield)s$", text, re.MULTILINE)
    )
    return f"({ast.unparse(arguments)})" + ("" if is_told else f" -> {ast.unparse(node.returns)}")


def decorators(node):
    return {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}


def fields(text, what):
    """Return a numpydoc docstring as lines of reStructuredText.

    If one entry describes two attributes, ``key, value``, Sphinx takes the first for a type,
    because a space follows the comma. A zero-width space replaces it.

    >>> [line for line in fields("A pair.\\n\\nAttributes\\n---\\na, b : int\\n    Both.", "class") if line]
    ['A pair.', ':ivar a,\u200bb: Both.', ':vartype a,\u200bb: int']
    """
    lines = str(NumpyDocstring(text or "", NAPOLEON, what=what)).split("\n")
    together = re.compile(r"^(:(?:ivar|vartype) \w+), (\w+)(?=:)")
    return [together.sub("\\1,\u200b\\2", line) for line in lines]


def directive(kind, name, body, *options):
    head = [f".. py:{kind}:: {name}", *(f"   {option}" for option in options), ""]
    return [*head, *(f"   {line}".rstrip() for line in body), ""]


def constructor(module, node):
    """Return the signature of a class, from its ``__init__`` or from its dataclass fields."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return signature(item, drop_first=True, text=ast.get_docstring(node))
    if "dataclass" in decorators(node):
        given = [item for item in node.body if isinstance(item, ast.AnnAssign)]
        return f"({', '.join(map(_field, given))})"
    for base in map(base_name, node.bases):
        place = find(module, base)
        if place:
            return constructor(*place)
    return ""


def _field(item):
    name = ast.unparse(item.target)
    return name if item.value is None else f"{name}={ast.unparse(item.value)}"


def entry(module, name):
    """Return the reStructuredText of one public name."""
    home, node = find(module, name)
    text = ast.get_docstring(node)
    if isinstance(node, ast.FunctionDef):
        return directive("function", name + signature(node), fields(text, "function"))
    body = [*fields(text, "class"), ""]
    for method, (item, words) in methods(home, node).items():
        marks = decorators(item)
        if marks & {"property", "functools.cached_property"}:
            body += directive("property", method, fields(words, "property"))
            continue
        options = [f":{mark}:" for mark in ("classmethod", "staticmethod") if mark in marks]
        written = method + signature(item, "staticmethod" not in marks, words)
        body += directive("method", written, fields(words, "method"), *options)
    return directive("class", name + constructor(home, node), body)


def reference(module):
    """Return the reStructuredText of a module: its docstring, then all its public names."""
    lines = [f".. py:module:: {module}", ""]
    lines += (ast.get_docstring(module_tree(module)) or "").split("\n") + [""]
    if module not in PROSE_ONLY:
        names = public_names(module)
        if len(names) > MANY:
            links = " · ".join(f":py:obj:`~{module}.{name}`" for name in names)
            lines += [".. container:: attn-names", "", f"   {links}", ""]
        for name in names:
            lines += entry(module, name)
    return "\n".join(lines)


class english(nodes.General, nodes.Element):
    """A container for text that is English in both editions."""


class Api(SphinxDirective):
    """The docstrings of a module and of all its public names."""

    required_arguments = 1

    def run(self):
        module = self.arguments[0]
        path = module_path(module)
        self.env.note_dependency(str(path))
        text = ROLE + reference(module)
        document = new_document(str(path), self.state.document.settings)
        document.reporter = self.state.document.reporter
        MockRSTParser().parse(text, document)
        # Sphinx 9 and later would link a plain word in an argument's type to an attribute.
        for name in list(document.findall(addnodes.pending_xref)):
            if name["reftype"] == "class" and name["reftarget"].islower():
                name.replace_self(name.children)
        self.env.ref_context.pop("py:module", None)
        return [english("", *document.children)]


def visit_english(self, node):
    self.body.append('<div class="attn-api" lang="en">')


def depart_english(self, node):
    self.body.append("</div>")


def setup(app):
    app.add_node(english, html=(visit_english, depart_english))
    app.add_directive("attn-api", Api)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
