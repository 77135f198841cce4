"""Small faults put into a function automatically, one at a time."""

import ast
import copy

BINARY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}


def _changes(node):
    """Yield the nodes that may replace one node."""
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        yield ast.BinOp(node.left, BINARY[type(node.op)](), node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield ast.BinOp(node.right, ast.MatMult(), node.left)
    if isinstance(node, ast.AugAssign) and type(node.op) in BINARY:
        yield ast.AugAssign(node.target, BINARY[type(node.op)](), node.value)
    if isinstance(node, ast.Compare):
        for other in COMPARED.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp({ast.And: ast.Or, ast.Or: ast.And}[type(node.op)](), node.values)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    if isinstance(node, ast.Call):
        for i in range(len(node.keywords)):
            keywords = node.keywords[:i] + node.keywords[i + 1 :]
            yield ast.Call(node.func, node.args, keywords)
    if isinstance(node, (ast.If, ast.IfExp)):
        yield type(node)(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        yield node.value
    if isinstance(node, ast.Assign | ast.AugAssign | ast.If | ast.For | ast.Expr):
        yield ast.Pass()


def _places(tree):
    """Yield the place of each node of a tree: its parent, the field, and its index in a list."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for number, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST):
                    yield parent, field, number if isinstance(value, list) else None, child


def mutants(source):
    """Return every text that differs from a function by one small fault.

    Parameters
    ----------
    source : str

    Returns
    -------
    dict of str to str
        Text of the mutant by what was changed: ``"before -> after"`` of the lines concerned.
    """
    tree = ast.parse(source)
    found = {}
    for place, (_, _, _, child) in enumerate(_places(tree)):
        for which, _ in enumerate(_changes(child)):
            mutant = copy.deepcopy(tree)
            parent, field, number, node = list(_places(mutant))[place]
            new = list(_changes(node))[which]
            if number is None:
                setattr(parent, field, new)
            else:
                getattr(parent, field)[number] = new
            text = ast.unparse(ast.fix_missing_locations(mutant))
            if text != ast.unparse(tree):  # An unchanged text, as of 1e300 + 1, is no mutant.
                found[_difference(ast.unparse(tree), text)] = text
    return found


def _difference(before, after):
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return " | ".join(map(str.strip, old)) + " -> " + " | ".join(map(str.strip, new))
