"""The names that the statements of a cell read and set."""

import ast
import symtable

_IMPORTS = (ast.Import, ast.ImportFrom)


class _Generators(ast.NodeTransformer):
    """Write every comprehension as a generator, which reads and sets the same names."""

    def visit_ListComp(self, node):
        return ast.GeneratorExp(self.visit(node.elt), [*map(self.visit, node.generators)])

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node):
        pair = ast.Tuple([self.visit(node.key), self.visit(node.value)], ast.Load())
        return ast.GeneratorExp(pair, [*map(self.visit, node.generators)])


def names(statement):
    """Return which names a statement reads, and which it sets or changes.

    Parameters
    ----------
    statement : ast.stmt

    Returns
    -------
    read, written : set of str

    Examples
    --------
    >>> read, written = names(ast.parse("rows[0] = [f(x) for x in y]").body[0])
    >>> sorted(read), written
    (['f', 'rows', 'y'], {'rows'})
    """
    read, written = set(), set()
    # In the symbol tables of Python 3.12 and later, the variables of a list, set or dict comprehension
    # belong to the scope around it. A generator still has a scope of its own.
    code = ast.unparse(_Generators().visit(ast.parse(ast.unparse(statement))))
    tables = [symtable.symtable(code, "cell", "exec")]
    top = tables[0]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            if table is top and (symbol.is_assigned() or symbol.is_imported()):
                written.add(symbol.get_name())
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
    for node in ast.walk(statement):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            written |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return read, written


def needed(statements, wanted, given=frozenset()):
    """Return the statements that set the wanted names, and those that set what the kept ones read.

    Parameters
    ----------
    statements : sequence of ast.stmt
    wanted : set of str
    given : set of str, default frozenset()
        Names that exist already. A statement that reads one does not need the one that sets it.

    Returns
    -------
    list of ast.stmt
        In their order.

    Examples
    --------
    >>> code = "import math\\ndef half(x): return x / two\\ntwo = 2\\nprint(half(lost))"
    >>> [*map(ast.unparse, needed(ast.parse(code).body, {"half"}))]
    ['def half(x):\\n    return x / two', 'two = 2']
    """
    found = [(statement, *names(statement)) for statement in statements]
    imported = {name for one, _, written in found if isinstance(one, _IMPORTS) for name in written}
    sets_globals = {
        one.name: {n for part in ast.walk(one) if isinstance(part, ast.Global) for n in part.names}
        for one in statements
        if isinstance(one, ast.FunctionDef)
    }
    for statement, _, written in found:
        if isinstance(statement, _IMPORTS) and statement.names[0].name == "*":
            written.add("*")
        calls = [part.func for part in ast.walk(statement) if isinstance(part, ast.Call)]
        for called in calls if isinstance(statement, ast.Expr) else ():
            if isinstance(called, ast.Name):
                written |= sets_globals.get(called.id, set())
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                written |= {called.value.id} - imported  # A method may change its object.
    kept, wanted, n_wanted = [], {*wanted, "*"}, 0
    while len(wanted) > n_wanted:
        n_wanted = len(wanted)
        kept = [(one, read) for one, read, written in found if written & wanted]
        wanted.update(*(read - given for _, read in kept))
    # A statement that occurs several times (in a cell executed again) is kept at its last place.
    return list({ast.dump(one): one for one, _ in reversed(kept)}.values())[::-1]
