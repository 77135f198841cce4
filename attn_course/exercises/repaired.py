"""A small change with which the learner's own code passes: found by trying, so it is certain.

If no change passes, one may leave a single known mistake, whose hint says the rest. Each candidate
changes one thing, as a slip of the pen would: an operator, an axis, a name, an argument, a
statement; or the same thing at each place where it occurs. It runs on the inputs of the exercise,
the smallest of the failing ones first, until one input shows that it is wrong in a way that is not
known. Bounds are on counts, so that every machine says the same; only the page, which ends what
takes ten seconds, has one on time as well.
"""

import ast
import contextlib
import copy
import functools
import inspect
import io
import itertools
import math
import os.path
import re
import sys
import textwrap
import time
import types
import warnings

import numpy as np

from attn_course.exercises.compare import close, run, same
from attn_course.exercises.diagnose import wrong_on
from attn_course.exercises.slips import slips_of
from attn_course.language import text

MOST_CANDIDATES = 1000
WITH_A_HINT = 500  # candidates are enough if there is a hint already
ONCE_RIGHT = 100  # more candidates, to find a plainer change than the one that passes
seconds = math.inf  # the time that the trials may take
MOST_STEPS = 30_000  # rounds of loops and calls, over all candidates
STEPS_ON_ONE_INPUT = 5000
LONGEST = 90  # characters of code that a sentence quotes
# If two lines are longer than this, their common end is left out.
LONGEST_WHOLE = 60
KEPT = 15  # characters of it that stay
MOST_NUMBERS = 50  # pairs of numbers that are exchanged
# Code that is longer than this is repeated only if no other change helps.
LONG_TWICE = 20
# Code with these names asks, draws or writes, so it must not be repeated hundreds of times.
NOT_REPEATED = "input open exec eval breakpoint exit quit sys os plt torch"

RIGHT = {
    "es": "Con un cambio es correcta: {change}.",
    "en": "One change makes it right: {change}.",
}
NEARLY = {
    "es": "Un cambio la acerca: {change}. Lo que le falta después: {hint}",
    "en": "One change brings it nearer: {change}. What is left then: {hint}",
}
REPAIRED = {"es": "en {where}, escribe {what}", "en": "in {where}, write {what}"}
REMOVED = {"es": "en {where}, sobra `{before}`", "en": "in {where}, take out `{before}`"}
MOVED = {
    "es": "`{before}`, en {where}, va después del bucle y no dentro",
    "en": "`{before}`, in {where}, belongs after the loop and not inside it",
}
EXCHANGED = {
    "es": "en {where}, `{after}` va antes de `{before}`",
    "en": "in {where}, `{after}` comes before `{before}`",
}


def _rows(table):
    """Return the words of each row; a tilde within one stands for a blank."""
    return [[word.replace("~", " ") for word in row.split()] for row in table.split(";")]


# For each operator in the code, those that might have been meant.
OPERATORS = {
    first: others
    for first, *others in _rows("+ - *; - + /; * / @ +; / * -; @ *; // % /; % //; ** *; & |; | &")
}
COMPARISONS = {
    first: others
    for first, *others in _rows(
        "< <= >= >; <= < > >=; > >= <= <; >= > < <=; == != < >; != == < >;"
        "is is~not; is~not is; in not~in; not~in in"
    )
}
# The functions of a row are often confused.
FAMILIES = _rows(
    "mean sum any all max min prod argmax argmin argsort cumsum std var; median mean; max maximum; min minimum;"
    "maximum minimum add; sin cos; exp log sqrt square abs; tril triu; zeros ones zeros_like ones_like;"
    "T mT; concatenate stack; logical_or logical_and; append extend; floor ceil"
)
INDICES = "...; ..., None; ..., None, :; :, None; None; ..., None, None, :; ..., None, None"
WRAPS = """
    -E; ~E; E + 1; E - 1; 1 - E; np.sqrt(E); E.mT; E[..., None]; E[..., None, :]; E[:, None];
    E / E.sum(axis=-1, keepdims=True); E - E.max(axis=-1, keepdims=True); np.where(E == 0, 1, E);
    np.where(np.isfinite(E), E, 0); np.maximum(E, 0); np.abs(E); np.square(E); 2 * E; E / 2; 1 / E; np.exp(E);
    np.log(E); np.nan_to_num(E); E.copy(); E[::-1]; E[1:]; E[:-1]; E.ravel(); E.astype(bool); E.astype(float);
    np.argsort(E); -np.sort(-E); min(E, 1); E.swapaxes(-3, -2)
"""
WITH_A_NAME = "E / np.sqrt(N.shape[-1]); E / N.shape[-1]; E + N; E * N; N[..., None] * E; E @ N; E / N; E - N; E & N; E | N"
# For arrays with fewer axes, another axis would raise.
AXES = {
    "mT": 2,
    "swapaxes": 3,
    "[": 1,
    "axis": 1,
    "ravel": 1,
    "copy": 1,
    "sort": 1,
    "astype": 1,
    "@": 1,
    "~": 1,
}

LARGEST = 2000  # numbers of an array, or rounds of a range, that a candidate may ask for
BUILDERS = (
    "arange empty eye full identity indices linspace ones tri zeros repeat tile pad broadcast_to"
)


class _Joined:
    """`np.c_` or `np.r_` without its length, for which NumPy would read it without end as a list."""

    def __init__(self, join):
        self.join = join

    def __getitem__(self, key):
        return self.join[key]


class _Small:
    """NumPy without large arrays, since a candidate may have changed a size to any number."""

    def __getattr__(self, name):
        found = getattr(np, name)
        if name in ("c_", "r_"):
            return _Joined(found)
        return functools.partial(_small, found) if name in BUILDERS.split() else found


def _small(build, *arguments, **others):
    """Call a function that takes sizes if all its numbers are small."""
    for given in (*arguments, *others.values()):
        sizes = isinstance(given, int | float | tuple | list | np.generic)
        if sizes and not np.prod(np.ravel(given).astype(float)) < LARGEST:
            raise MemoryError
    return build(*arguments, **others)


def _size(value):
    if isinstance(value, int):
        return value.bit_length()
    return len(value) if isinstance(value, list | tuple | str) else getattr(value, "size", 0)


class _Enough(BaseException):
    """A candidate ran too long; no `except Exception` of a learner stops it."""


SMALL = _Small()


def deadline():
    """Return when to stop trying, by the clock of `time.perf_counter`."""
    return time.perf_counter() + seconds


def repaired(record, attempt, answers, failing, may_be_lists, has_hint=False, until=math.inf):
    """Return a sentence on the one change with which an attempt passes, or has one known mistake left.

    Parameters
    ----------
    record : Record
        Without an oracle, as a problem set comes, nothing is tried: its answers count.
    attempt : callable
    answers : list of Answer
        What it gives.
    failing : list of int
        The inputs on which it is wrong, the smallest first.
    may_be_lists : bool
        Whether a list or a tuple passes for an array.
    has_hint : bool, default False
        Whether a known mistake explains most of it: then half as much is tried.
    until : float, optional
        The `deadline`.

    Returns
    -------
    passes, is_nearer : str
        Of the first there is one if there is such a change, and else perhaps of the second; in the
        language in use.
    """
    source = _source(attempt) if record.oracle else None
    if source is None:
        return "", ""
    nearest, least, right = None, (len(failing) + 1, 0), None
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        trial = _Trial(record, answers, failing, attempt, source, may_be_lists)
        written = {answers[i].modified for i in failing} - {None}
        trial.until = until
        if has_hint:
            trial.most = WITH_A_HINT
        with contextlib.suppress(_Enough):
            for sentence, edits in _candidates(source, trial.kinds(failing), written):
                n_wrong, known = trial.outcome(edits)
                if (n_wrong == 0 or known) and not trial.teaches(edits, failing):
                    continue
                if n_wrong == 0:
                    cost = _costs(edits, source)
                    if right is None or cost < right[0]:
                        right = cost, sentence, edits
                        trial.most = min(trial.most, trial.candidates + ONCE_RIGHT * (cost > 1))
                if right or not known:
                    continue
                # Of two changes that leave as many errors, the plainer one is more likely the
                # correction.
                rank = n_wrong, _costs(edits, source)
                if rank < least and not _makes_a_mistake(edits, known, source, record.slips):
                    nearest, least = (sentence, edits, known), rank
                    trial.most = WITH_A_HINT
    if right:
        change = _told(*right[1:], source, attempt)
        return text(**RIGHT).format(change=change), ""
    if nearest is None:
        return "", ""
    sentence, edits, known = nearest
    change = _told(sentence, edits, source, attempt)
    return "", text(**NEARLY).format(change=change, hint=text(**known.hint))


def _idle(source):
    """Return how often code adds, subtracts or negates 0, or multiplies or divides by 1."""
    count = 0
    for node in ast.walk(source):
        if isinstance(node, ast.UnaryOp):
            count += getattr(node.operand, "value", None) == 0
        if isinstance(node, ast.BinOp | ast.AugAssign):
            idle = 0 if isinstance(node.op, ast.Add | ast.Sub) else 1
            sides = [
                getattr(node, "left", None),
                getattr(node, "right", getattr(node, "value", None)),
            ]
            if isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Pow):
                sides = sides[1:]
            count += any(isinstance(n, ast.Constant) and n.value == idle for n in sides)
    return count


def _used(source):
    """Return the names whose value counts: they are read, and not only written into."""
    into = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            into.add(getattr(node.value.func, "value", None))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            into.add(node.value)
    read = (n for n in ast.walk(source) if isinstance(n, ast.Name) and n not in into)
    return {node.id for node in read if isinstance(node.ctx, ast.Load)}


def _makes_a_mistake(edits, known, source, slips):
    """Return whether a change itself makes the mistake that is left, and only seems nearer.

    It does if it removes from the code what the hint then asks for, adds a call that the right
    answer does not make, combines an expression with itself, or inverts the test whether there is
    a mask.
    """
    asked = [_bare(code) for code in re.findall("`([^`]*)`", known.hint["en"])]
    words, doubles = _words(source), _doubles(source)
    with _made(edits):
        now, more = _words(source), _doubles(source) - doubles
    lost = words - now
    added = now - words if any(_is_part(old, new) for _, _, old, new in edits) else set()
    right = slips_of(slips)[0]
    nodes = [node for edit in edits for node in edit[2:] if isinstance(node, ast.AST)]
    identity = ast.Is | ast.IsNot | ast.In | ast.NotIn
    turned = any(isinstance(n, ast.Compare) and isinstance(n.ops[0], identity) for n in nodes)
    taken = [_bare(ast.unparse(old)) for _, _, old, _ in edits if isinstance(old, ast.Call)]
    return (
        turned
        or more > 0
        or bool(right)
        and any(word not in right for word in added)
        or bool(lost & {*asked})
        or any(t in code for t in taken for code in asked)
    )


def _costs(edits, source):
    """Return the cost of a change; another name costs less where it stands beside one like it, as `w_k` beside `k`."""
    cost = max(_cost(new, old) for _, _, old, new in edits)
    if cost == 1 and all(isinstance(n, ast.Name) for edit in edits for n in edit[2:]):
        return cost + max(_strangeness(new, old, source) for _, _, old, new in edits)
    return cost


def _strangeness(new, old, source):
    """Return 0 for a name like one of those nearest to it, more for one like another of its line, and else most."""
    parts = {*new.id.split("_")}
    around = [
        n for n in ast.walk(source) if isinstance(n, ast.expr | ast.stmt) and old in ast.walk(n)
    ]
    others = [
        {n.id for n in ast.walk(one) if isinstance(n, ast.Name)} - {old.id, new.id}
        for one in reversed(around)
    ]
    near = next(filter(None, others), set())
    line = next(
        (o for n, o in zip(reversed(around), others, strict=True) if isinstance(n, ast.stmt)), set()
    )
    for strange, names in ((0, near), (0.25, line)):
        if parts & {part for name in names for part in name.split("_")}:
            return strange
    return 0.5


def _cost(new, old):
    """Return how far a change is from a slip: 0 if it removes a part, 3 if it adds code."""
    if not isinstance(old, ast.AST) or _is_part(new, old):
        return 0
    if _is_part(old, new):
        return 3
    parts = [[ast.unparse(n) for n in ast.iter_child_nodes(node)] for node in (new, old)]
    regrouped = isinstance(old, ast.BinOp) and sorted(parts[0][::2]) != sorted(parts[1][::2])
    swapped = isinstance(old, ast.Call) and sorted(parts[0]) == sorted(parts[1])
    return 2 if regrouped or swapped else 1


def _is_part(new, old):
    return isinstance(old, ast.AST) and any(node is new for node in ast.walk(old))


def _bare(code):
    return code.replace(" ", "")


def _words(source):
    """Return the names that the bodies of functions use."""
    bodies = [node for function in source.body for line in function.body for node in ast.walk(line)]
    return {getattr(node, "attr", getattr(node, "id", "")) for node in bodies}


def _doubles(source):
    """Return how often code compares, subtracts or returns an expression together with itself."""
    count = 0
    for node in ast.walk(source):
        pair = ()
        if isinstance(node, ast.Compare):
            pair = node.left, *node.comparators
        elif isinstance(node, ast.BinOp) and not isinstance(
            node.op, ast.Add | ast.Mult | ast.MatMult
        ):
            pair = node.left, node.right
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            pair = node.value.elts
        written = [ast.unparse(part) for part in pair]
        count += len(written) - len({*written})
    return count


def _source(attempt):
    """Return the tree of a function and of the functions beside it that it calls, or None."""
    found, waiting = {}, [attempt]
    while waiting:
        function = waiting.pop(0)
        plain = isinstance(function, types.FunctionType) and not hasattr(function, "__wrapped__")
        if not plain or function.__name__ in found:
            continue
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        except (OSError, TypeError, SyntaxError, ValueError):
            continue
        if isinstance(tree, ast.FunctionDef) and tree.name == function.__name__:
            ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
            found[tree.name] = tree
            used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            if used & {*NOT_REPEATED.split()}:
                return None
            others = (function.__globals__.get(name) for name in sorted(used))
            same = attempt.__globals__
            waiting += [f for f in others if getattr(f, "__globals__", None) is same]
    if getattr(attempt, "__name__", None) not in found:
        return None
    for node in [n for tree in found.values() for n in ast.walk(tree)]:
        if isinstance(node, ast.For | ast.While | ast.FunctionDef):
            node.body.insert(0, ast.fix_missing_locations(ast.parse("_step_()").body[0]))
    return ast.Module([*found.values()], [])


class _Trial:
    """Runs candidates, and counts their steps."""

    def __init__(self, record, answers, failing, attempt, source, may_be_lists):
        self.record, self.attempt, self.source = record, attempt, source
        self.may_be_lists = may_be_lists
        self.order = sorted(range(len(record.cases)), key=lambda i: i not in failing)
        self.known = list(self._known(answers, failing))
        self.candidates = self.steps = self.here = 0
        self.most, self.until = MOST_CANDIDATES, math.inf
        self.names = {}

    def _known(self, answers, failing):
        """Yield each known mistake that is nearer than an attempt to what is right, and fails only where it does."""
        expected = self.record.expected
        distance = _distance(answers, expected, failing)
        n_wrong, n_numbers = _wrong_numbers(answers, expected, failing)
        for known in self.record.mistakes:
            for others in known.answers:
                wrong = wrong_on(others, expected)
                # Many changes give a constant or an exception, which shows nothing of what was
                # meant.
                numbers = [v.ravel() for i in wrong for v in others[i].values or ()]
                if all(n.size <= 1 for n in numbers):
                    numbers = [np.concatenate([[], *numbers])]
                tells = any(map(_vary, numbers))
                nearer = (
                    len(wrong) < len(failing) or _distance(others, expected, failing) < distance
                )
                # Whoever had some numbers right and then has no more of them is no further.
                others_wrong, _ = _wrong_numbers(others, expected, failing)
                nearer &= not n_wrong < n_numbers or others_wrong < n_wrong
                if tells and nearer and {*wrong} <= {*failing}:
                    yield known, others, {i: _total(others[i]) for i in wrong}

    def step(self):
        if any(_size(value) > 10 * LARGEST for value in sys._getframe(1).f_locals.values()):
            # A value that doubles in each round of a loop would fill the memory within the steps.
            raise MemoryError
        self.steps += 1
        self.here += 1
        if self.here > STEPS_ON_ONE_INPUT or self.steps > MOST_STEPS:
            raise _Enough

    def outcome(self, edits):
        """Return on how many inputs the changed function is wrong, with the known mistake that it then makes.

        The mistake and the number are None for any other wrong function.
        """
        self.candidates += 1
        if (
            self.candidates > self.most
            or self.steps > MOST_STEPS
            or time.perf_counter() > self.until
        ):
            raise _Enough
        with _made(edits):
            function = self._function()
        try:
            return self._judged(function) if function else (None, None)
        except (_Enough, Exception):  # noqa: BLE001 - A candidate that raises anything is not right.
            return None, None

    def _function(self):
        """Return the function of the current tree, or None if the tree does not compile."""
        try:
            code = compile(self.source, "<repaired>", "exec")
            code_of = self.attempt.__code__
            closed = zip(code_of.co_freevars, self.attempt.__closure__ or (), strict=True)
            names = self.attempt.__globals__ | {name: cell.cell_contents for name, cell in closed}
            names |= {"_step_": self.step, "range": functools.partial(_small, range)} | self.names
            names |= {name: SMALL for name, value in names.items() if value is np}
            exec(code, names)  # noqa: S102 - This is the learner's own code with one change.
        except Exception:  # noqa: BLE001 - The defaults of arguments are computed here.
            return None
        return names[self.attempt.__name__]

    def teaches(self, edits, failing):
        """Return whether a change that helps is one to advise.

        It is not if it changes no value, as a test that is always true, unless it is a plain copy;
        if it replaces all values by a single one; or if it adds 0 or multiplies by 1. A condition
        is looked at on every input, since the failing ones may all lie on one side of it.
        """
        idle, used = _idle(self.source), _used(self.source)
        with _made(edits):
            lost = used - _used(self.source)
            if _idle(self.source) > idle:
                return False
        if lost and not all(_is_part(new, old) for _, _, old, new in edits if old is not new):
            return isinstance(edits[0][2], ast.stmt)
        copied = any(getattr(getattr(e[3], "func", None), "attr", "") == "copy" for e in edits)
        plain = all(isinstance(new, ast.Constant | ast.Name | ast.UnaryOp) for *_, new in edits)
        wholes = _wholes(self.source, edits)
        if wholes is None:
            return True
        for number, seen in enumerate((edits, wholes)):
            asks = all(isinstance(old, ast.Compare) for _, _, old, _ in seen)
            inputs = range(len(self.record.cases)) if asks else failing
            before, after = self._watched(edits, seen, inputs)
            if before and all(map(_alike, before, after)):
                return copied
            lost = before and _is_constant(after) and not _is_constant(before)
            if lost and (number or not plain):
                return False
        return True

    def _watched(self, edits, seen, inputs):
        """Return the values of expressions before and after a change, at each evaluation."""
        before, after = [], []

        def see(new, old):
            after.append(_snapshot(new))
            try:
                before.append(_snapshot(old()))
            except Exception as error:  # noqa: BLE001 - The learner's expression may have raised.
                before.append(error)
            return new

        olds = [copy.deepcopy(old) for _, _, old, _ in seen]
        with _made(edits):
            calls = []
            for (owner, key, old, new), was in zip(seen, olds, strict=True):
                lazy = _copied(ast.parse("lambda: 0", mode="eval").body, body=was)
                call = ast.Call(ast.Name("_see_", ast.Load()), [new, lazy], [])
                calls.append(
                    (owner, key, new, ast.fix_missing_locations(ast.copy_location(call, old)))
                )
            self.names = {"_see_": see}
            with _made(calls):
                function = self._function()
            self.names = {}
            for i in inputs if function else ():
                self.here = 0
                with contextlib.suppress(_Enough):
                    run(function, self.record.cases[i], self.record)
        return before, after

    def kinds(self, failing):
        """Return the kind of value in each place, or None where no failing input arrives."""
        places = [place for function in self.source.body for place in _places(function)]
        found = {}

        def see(number, value):
            found.setdefault(places[number][2], _kind(value))
            return value

        edits = []
        for number, (owner, key, node) in enumerate(places):
            sliced = isinstance(node, ast.Slice | ast.Starred) or any(
                isinstance(part, ast.Slice) for part in getattr(node, "elts", ())
            )
            if not sliced:
                seen = ast.Call(ast.Name("_see_", ast.Load()), [ast.Constant(number), node], [])
                edits.append(
                    (owner, key, node, ast.fix_missing_locations(ast.copy_location(seen, node)))
                )
        self.names = {"_see_": see}
        with _made(edits):
            function = self._function()
        answers = []
        for i in failing if function else ():
            self.here = 0
            answers.append(run(function, self.record.cases[i], self.record))
        self.names = {}
        if any(answer.error for answer in answers):
            return found
        return dict.fromkeys(edit[2] for edit in edits) | found if answers else {}

    @functools.cache  # noqa: B019 - A trial lasts for one attempt.
    def _wrong_first(self, n):
        """Return the known mistakes that are wrong on an input of the order, and on none before it."""
        before = {*self.order[:n]}
        return [k for k in self.known if self.order[n] in k[2] and not before & {*k[2]}]

    def _judged(self, function):
        known, expected = self.known, self.record.expected
        for n, i in enumerate(self.order):
            self.here = 0
            answer = run(function, self.record.cases[i], self.record)
            listed = answer.lists and not self.may_be_lists
            if answer.modified or listed:
                return None, None
            is_wrong = bool(wrong_on([answer], [expected[i]]))
            if is_wrong and known is self.known:  # the first wrong one distinguishes most
                known = self._wrong_first(n)
            if known is not self.known:
                known = [one for one in known if (i in one[2]) == is_wrong]
                if is_wrong:
                    total = _total(answer)
                    alike = [
                        one
                        for one in known
                        if math.isclose(one[2][i], total, rel_tol=0.01, abs_tol=0.01)
                    ]
                    known = [one for one in alike if same(answer, one[1][i])]
                if not known:
                    return None, None
        return (0, None) if known is self.known else (len(known[0][2]), known[0][0])


def _wholes(source, edits):
    """Return where the smallest operations stand that edits change, or None for edits of no expressions."""
    above = {}
    for parent in ast.walk(source):
        for field, value in ast.iter_fields(parent):
            for key, child in enumerate(value) if isinstance(value, list) else [(field, value)]:
                above[child if isinstance(child, ast.AST) else id(child)] = (
                    value if isinstance(value, list) else parent,
                    key,
                    parent,
                )
    wholes = []
    for _, _, old, new in edits:
        if not isinstance(old, ast.expr) or isinstance(old, ast.Slice | ast.Starred):
            return None
        if isinstance(getattr(new, "ctx", None), ast.Store) or old not in above:
            return None
        node = old
        while not isinstance(node, ast.BinOp | ast.Compare | ast.BoolOp):
            parent = above[node][2]
            returned = isinstance(parent, ast.Tuple) and not isinstance(above[parent][2], ast.expr)
            if returned or not isinstance(parent, ast.expr | ast.keyword):
                break
            node = parent
        if isinstance(node, ast.keyword | ast.Slice | ast.Starred | ast.Tuple):
            return None
        owner, key, _ = above[node]
        wholes.append((owner, key, node, new if node is old else node))
    return wholes


def _snapshot(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _alike(a, b):
    """Return whether two values are the same numbers."""
    try:
        return _kind(a) == _kind(b) and np.array_equal(a, b, equal_nan=_kind(a)[2] == "f")
    except Exception:  # noqa: BLE001 - They may be objects of the learner's own classes.
        return False


def _is_constant(values):
    """Return whether several values all hold one and the same number."""
    kinds = map(_kind, values)
    if not all(what == "numbers" and numbers in "biuf" for what, _, numbers in kinds):
        return False
    numbers = np.concatenate([np.ravel(value).astype(float) for value in values])
    return numbers.size > 1 and bool((numbers == numbers[0]).all())


def _vary(numbers):
    numbers = numbers[np.isfinite(numbers)].astype(float)
    return numbers.size > 1 and not np.allclose(numbers, numbers[0])


def _distance(answers, expected, failing):
    """Return on how many inputs answers cannot be compared, and how far off the others are."""
    n_broken, distance = 0, 0.0
    for i in failing:
        got, wanted = answers[i].values or (), expected[i].values
        if answers[i].broken or [v.shape for v in got] != [v.shape for v in wanted]:
            n_broken += 1
            continue
        for a, b in zip(got, wanted, strict=True):
            size = np.abs(b.astype(float)).mean() if b.size else 0
            distance += np.abs(a.astype(float) - b).mean() / (size + 1e-9) if b.size else 0
    return n_broken, distance


def _wrong_numbers(answers, expected, failing):
    """Return how many numbers of answers are wrong, and of how many: all of those that cannot be compared.

    A real number that is rightly 0 is not counted: most wrong functions have it right as well.
    """
    n_wrong = n_numbers = 0
    for i in failing:
        got, wanted = answers[i].values or (), expected[i].values
        alike = [v.shape for v in got] == [v.shape for v in wanted]
        for a, b in zip(got if alike else wanted, wanted, strict=True):
            wrong = ~close(a, b) if alike else np.ones(b.shape, dtype=bool)
            n_wrong += int(wrong.sum())
            n_numbers += int((wrong | (b != 0) | (b.dtype.kind != "f")).sum())
    return n_wrong, n_numbers


def _total(answer):
    """Return one number for all the finite ones of an answer: two that differ in it are not the same."""
    totals = [np.where(np.isfinite(v), v, 0).ravel() for v in answer.values or ()]
    return sum(float(v @ np.cos(np.arange(v.size))) for v in totals)


@contextlib.contextmanager
def _made(edits):
    """Change the tree, and undo it."""
    for owner, key, _, new in edits:
        _put(owner, key, new)
    try:
        yield
    finally:
        for owner, key, old, _ in reversed(edits):
            _put(owner, key, old)


def _put(owner, key, node):
    if isinstance(key, str):
        setattr(owner, key, node)
    else:
        owner[key] = node


def _kind(value):
    """Return whether a value has numbers, its number of axes and the kind of its numbers."""
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        return "numbers", np.ndim(value), np.asarray(value).dtype.kind
    return type(value).__name__, 1, ""


def _suits(template, kind):
    """Return whether a template can do anything but raise for a value of this kind."""
    what, ndim, numbers = kind
    if what in ("list", "tuple"):
        return template.startswith("E[") and "None" not in template
    logical = any(sign in template for sign in "~&|")
    if what != "numbers" or (logical and numbers not in "biu"):
        return False
    if numbers == "b" and not logical and template[:2] not in ("E[", "E."):
        return False  # Truth values are chosen and negated, but seldom multiplied.
    if numbers == "f" and "astype" in template:
        return False
    return ndim >= max((n for part, n in AXES.items() if part in template), default=0)


def _candidates(source, kinds, written):
    """Yield sentences and edits: each is where, the key there, the old node and the new one."""
    for function in source.body:
        yield from _copies(function, written)
        yield from _unpacked(function)
    of_names = {
        node.id: kind for node, kind in kinds.items() if isinstance(node, ast.Name) and kind
    }
    for changes in (_slips, _names, _wraps, _doubling):
        alike = {}
        for function in source.body:
            names, put_into = _named(function), _put_into(function)
            places = [*_places(function)]
            if changes is _names:
                places.reverse()  # A forgotten change of a name is in the copy of a line.
            for owner, key, node in places:
                kind = kinds.get(node, ())
                for label, new in () if kind is None else changes(node, names, kind, of_names):
                    if node in put_into and put_into[node] in _read(new) - _read(node):
                        continue
                    edit = (owner, key, node, ast.fix_missing_locations(new))
                    yield REPAIRED, [edit]
                    alike.setdefault(label, []).append(edit)
        for edits in alike.values():
            # Each line by itself first: elsewhere the same operator may be right.
            by_line = itertools.groupby(edits, key=lambda edit: edit[2].lineno)
            lines = [list(line) for _, line in by_line]
            for some in [*lines, edits] if len(lines) > 1 else lines:
                if 1 < len(some) <= 4:
                    yield REPAIRED, some
        if changes is _slips:
            for function in source.body:
                yield from _functions_exchanged(function)
                yield from _numbers_exchanged(function)
                yield from _statements(function)


def _named(function):
    """Return the names of arguments and of what is assigned, in their order."""
    nodes = [*ast.walk(function)]
    stored = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store)]
    found = [n.arg for n in nodes if isinstance(n, ast.arg)]
    found += [n.id for n in stored if isinstance(n, ast.Name)]
    return list(dict.fromkeys(found))


def _read(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _put_into(function):
    """Return the expression in a list; NumPy would unfold the object itself for ever."""
    found = {}
    for node in ast.walk(function):
        into, inner = None, []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("append", "extend", "insert"):
                into, inner = node.func.value, node.args
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            into, inner = node.targets[0].value, [node.value]
        elif isinstance(node, ast.AugAssign):
            into, inner = getattr(node.target, "value", node.target), [node.value]
        if isinstance(into, ast.Name):
            found |= {part: into.id for whole in inner for part in ast.walk(whole)}
    return found


def _places(function):
    """Yield where expressions stand that are read."""
    for node in ast.walk(function):
        for field, value in ast.iter_fields(node):
            several = isinstance(value, list)
            called = isinstance(node, ast.Call) and field == "func"
            for key, child in enumerate(value) if several else [(field, value)]:
                read = isinstance(child, ast.expr) and not isinstance(
                    getattr(child, "ctx", None), ast.Store
                )
                if read and not (called and isinstance(child, ast.Name)) and not _is_step(child):
                    yield value if several else node, key, child


def _is_step(node):
    call = getattr(node, "value", node)
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "_step_"


def _parsed(code):
    return ast.parse(code, mode="eval").body


def _written(template, **parts):
    """Return the tree of a template in which names stand for expressions."""
    return _filled(_template(template), parts)


_template = functools.cache(_parsed)


def _filled(node, parts):
    if isinstance(node, ast.Name):
        return parts.get(node.id, node)
    new = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.expr | ast.keyword):
            setattr(new, field, _filled(value, parts))
        elif isinstance(value, list):
            setattr(new, field, [_filled(n, parts) if isinstance(n, ast.AST) else n for n in value])
    return new


def _copied(node, **fields):
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _symbol(op):
    return ast.unparse(ast.BinOp(ast.Name("a"), op, ast.Name("b")))[2:-2]


def _slips(node, names, kind, of_names):
    """Yield a label and another expression for each slip that an expression may be."""
    if isinstance(node, ast.Constant):
        yield from _numbers(node.value)
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
        yield "sign", node.operand
    elif isinstance(node, ast.BinOp):
        yield from _products(node)
    elif isinstance(node, ast.BoolOp):
        yield "and", _copied(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        now = ast.unparse(ast.Compare(ast.Name("a"), node.ops, [ast.Name("b")]))[2:-2]
        for symbol in COMPARISONS[now]:
            yield f"{now} {symbol}", _written(f"A {symbol} B", A=node.left, B=node.comparators[0])
    elif isinstance(node, ast.Attribute):
        for family in FAMILIES:
            if node.attr in family:
                yield from (
                    (name, _copied(node, attr=name)) for name in family if name != node.attr
                )
        if node.attr in ("T", "mT"):
            yield "transposed", node.value
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.Tuple | ast.List) and 1 < len(node.elts) <= 4:
        yield from (("elements", new) for new in _neighbours(node))
    elif isinstance(node, ast.Slice):
        for field, other in (("lower", "1"), ("upper", "-1"), ("step", "-1")):
            now = getattr(node, field)
            yield field, _copied(node, **{field: _parsed(other) if now is None else None})
    elif isinstance(node, ast.Subscript):
        if getattr(node.value, "attr", "") == "shape" and ast.unparse(node.slice) == "-1":
            total = _written("A.sum(axis=-1, keepdims=True)", A=node.value.value)
            yield "the sum", total
        yield "subscript", node.value
        if isinstance(node.slice, ast.Name):
            for index in ("..., I, :, :", "..., I, :", "..., I", ":, I"):
                yield index, _written(f"A[{index}]", A=node.value, I=node.slice)
        if "None" in ast.unparse(node.slice):
            for index in INDICES.split("; "):
                yield index, _written(f"A[{index}]", A=node.value)
    elif isinstance(node, ast.IfExp):
        yield "if", _copied(node, body=node.orelse, orelse=node.body)


def _numbers(value):
    if isinstance(value, bool):
        yield "truth", ast.Constant(not value)
    elif isinstance(value, int | float):
        others = [value + 1, value - 1, -value, 0, 1, 2, -1, -2, 0.5, value / 2, 2 * value]
        others += [1 - value] * isinstance(value, float)
        for other in dict.fromkeys(o for o in others if o != value):
            yield f"{value} {other}", _written(repr(other))
        yield f"{value} inf", _written("-np.inf")


def _products(node):
    a, b, symbol = node.left, node.right, _symbol(node.op)
    single = isinstance(a, ast.Constant) or isinstance(b, ast.Constant)
    # Removing a part comes first: a softmax does not depend on a number that is subtracted instead
    # of a division.
    yield from (("left", a), ("right", b))
    yield from (("bare", n.operand) for n in (a, b) if isinstance(n, ast.UnaryOp))
    for other in OPERATORS.get(symbol, ()):
        if not (single and other in "*/@" and symbol in "+-"):
            yield f"{symbol} {other}", _written(f"A {other} B", A=a, B=b)
    if symbol == "*" and isinstance(getattr(a, "value", None), float):
        yield f"power of {ast.unparse(b)}", _written("A ** B", A=a, B=b)
    if symbol not in "+*&|":
        yield "operands", _copied(node, left=b, right=a)
    for part, inner in (("left", a), ("right", b)):
        if isinstance(inner, ast.BinOp):  # a parenthesis too many or missing
            x, y = inner.left, inner.right
            if part == "left":
                yield "parenthesis", _copied(inner, left=x, right=_copied(node, left=y, right=b))
                yield "later", _copied(inner, left=_copied(node, left=x, right=b), right=y)
            else:
                yield "parenthesis", _copied(inner, left=_copied(node, left=a, right=x), right=y)
    if symbol == "@":
        for template, part in (("A.mT @ B", a), ("A @ B.mT", b)):
            if getattr(part, "attr", "") not in ("T", "mT"):
                yield template, _written(template, A=a, B=b)


def _calls(node):
    # Removing a call comes first: no other number of digits corrects `np.round(x, 6)`.
    if inner := next((arg for arg in node.args if not isinstance(arg, ast.Constant)), None):
        yield "call", inner
    if isinstance(node.func, ast.Attribute):
        yield "method", node.func.value
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    keys = {k.arg: k.value for k in node.keywords}
    keywords = node.keywords if "axis" in keys else [*node.keywords, ast.keyword("axis")]

    def with_axis(n):
        axis = ast.keyword("axis", _parsed(str(n)))
        return _copied(node, keywords=[axis if k.arg == "axis" else k for k in keywords])

    reduces = name in (*FAMILIES[0], "norm")
    if reduces or "axis" in keys:
        positive = "axis" in keys and not ast.unparse(keys["axis"]).startswith("-")
        for n in (0, 1, 2, -1, -2, -3, (0, 1)) if positive else (-1, 0, -2, 1, -3, (-2, -1)):
            yield f"axis {n}", with_axis(n)
    if reduces and "keepdims" not in keys:
        kept = ast.keyword("keepdims", ast.Constant(True))
        yield "keepdims", _copied(node, keywords=[*node.keywords, kept])
        if "axis" not in keys:
            yield "axis and keepdims", _copied(node, keywords=[*with_axis(-1).keywords, kept])
    for key in keys:
        yield f"no {key}", _copied(node, keywords=[k for k in node.keywords if k.arg != key])
    if name in ("range", "arange") and len(node.args) == 2:
        first, end = node.args
        if ast.unparse(first) == "1" and ast.unparse(end).endswith(" + 1"):
            yield "from 0", _copied(node, args=[end.left])
    for i in range(len(node.args) - 1 if name != "clip" else 0):
        args = list(node.args)
        args[i : i + 2] = args[i : i + 2][::-1]
        yield "arguments", _copied(node, args=args)
    if len(node.args) > 1:
        yield "last argument", _copied(node, args=node.args[:-1])


def _names(node, names, kind, of_names):
    number = isinstance(node, ast.Constant) and type(node.value) is int
    if number or (isinstance(node, ast.Name) and node.id in names):
        for other in names:
            if ast.unparse(node) != other:
                yield f"{ast.unparse(node)} {other}", ast.Name(other, ast.Load())
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        for name in (n for n in names if of_names.get(n, ("", 0))[1] > 0):
            for index in (n for n in names if of_names.get(n, ("", 1))[1] == 0):
                if name != ast.unparse(node.value) and index != node.slice.id:
                    yield f"{name}[{index}]", _written(f"{name}[{index}]")
    ranges = isinstance(node, ast.Call) and ast.unparse(node.func) in ("range", "np.arange")
    if ranges and len(node.args) == 1:
        for first in ("1", *names):
            yield first, _copied(node, args=[_parsed(first), *node.args])


def _is_doubled(template):
    return len(re.findall(r"\bE\b", template)) > 1


def _doubling(node, names, kind, of_names):
    yield from _wraps(node, names, kind, of_names, doubled=True)


def _wraps(node, names, kind, of_names, doubled=False):
    wrapped = ast.Call | ast.BinOp | ast.Subscript | ast.Compare | ast.Attribute
    if isinstance(node, wrapped) or getattr(node, "id", "") in names:
        long = not isinstance(node, ast.Name) and len(ast.unparse(node)) > LONG_TWICE
        for template in WRAPS.split(";"):
            last = long and _is_doubled(template)
            if last == doubled and (not kind or _suits(template.strip(), kind)):
                yield template, _written(template.strip(), E=node)
        if doubled:
            return
        for template in () if isinstance(node, ast.Attribute) else WITH_A_NAME.split("; "):
            for name in names if not kind or _suits(template, kind) else ():
                other = of_names.get(name)
                if not other or _suits(template.replace("N.shape", "N["), other):
                    new = _written(template, E=node, N=ast.Name(name, ast.Load()))
                    yield f"{template} {name}", new


def _copies(function, written):
    """Yield a copy in place of each other name for an argument that is written into."""
    for owner, key, node in _places(function):
        assigned = isinstance(owner, ast.Assign) and key == "value"
        if assigned and isinstance(node, ast.Name) and node.id in written:
            copied = _written("E.copy()", E=node)
            yield REPAIRED, [(owner, key, node, ast.fix_missing_locations(copied))]


def _unpacked(function):
    """Yield neighbours exchanged where several results are given names."""
    for node in ast.walk(function):
        names = node.targets[0] if isinstance(node, ast.Assign) else None
        called = isinstance(getattr(node, "value", None), ast.Call)
        if isinstance(names, ast.Tuple) and called and len(names.elts) <= 4:
            for new in _neighbours(names):
                yield REPAIRED, [(node.targets, 0, names, ast.copy_location(new, names))]


def _neighbours(node):
    """Yield a tuple or a list with two neighbours exchanged."""
    for i in range(len(node.elts) - 1):
        elts = list(node.elts)
        elts[i : i + 2] = elts[i : i + 2][::-1]
        yield _copied(node, elts=elts)


def _statements(function):
    """Yield changes of whole statements: one removed, two exchanged, one moved out of a loop."""
    for node in ast.walk(function):
        body = getattr(node, "body", None)
        for i, old in enumerate(body) if isinstance(body, list) else ():
            if isinstance(old, ast.Assign | ast.AugAssign | ast.Expr) and not _is_step(old):
                yield REMOVED, [(body, i, old, ast.copy_location(ast.Pass(), old))]
                if i + 1 < len(body):
                    after = body[i + 1]
                    yield EXCHANGED, [(body, i, old, after), (body, i + 1, after, old)]
            yield from _exchanged(old)
            if isinstance(old, ast.Assign) and not isinstance(old.targets[0], ast.Tuple):
                new = ast.AugAssign(old.targets[0], ast.Add(), old.value)
                yield REPAIRED, [(body, i, old, ast.copy_location(new, old))]
            if isinstance(old, ast.AugAssign):
                for other in OPERATORS.get(_symbol(old.op), ()):
                    op = _parsed(f"a {other} b").op
                    yield REPAIRED, [(body, i, old, _copied(old, op=op))]
            if isinstance(old, ast.For | ast.While) and len(old.body) > 2:
                outside = [*body[: i + 1], old.body[-1], *body[i + 1 :]]
                inside = (old, "body", old.body, old.body[:-1])
                yield MOVED, [inside, (node, "body", body, outside)]


def _functions_exchanged(function):
    """Yield two functions that are often confused, exchanged wherever they occur."""
    places = [p for p in _places(function) if isinstance(p[2], ast.Attribute)]
    for family in FAMILIES:
        there = [name for name in family if any(p[2].attr == name for p in places)]
        for a, b in itertools.combinations(there, 2):
            other = {a: b, b: a}
            edits = [p for p in places if p[2].attr in other]
            yield REPAIRED, [(*p, _copied(p[2], attr=other[p[2].attr])) for p in edits]


def _numbers_exchanged(function):
    """Yield two numbers with decimals exchanged, each in one place."""
    numbers = [p for p in _places(function) if isinstance(getattr(p[2], "value", None), float)]
    for first, second in itertools.islice(itertools.combinations(numbers, 2), MOST_NUMBERS):
        if first[2].value != second[2].value:
            yield (
                REPAIRED,
                [
                    (*first, copy.copy(second[2])),
                    (*second, copy.copy(first[2])),
                ],
            )


def _exchanged(statement):
    """Yield two names exchanged in a simple statement."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return):
        places = [p for p in _places(statement) if isinstance(p[2], ast.Name | ast.Constant)]
        kinds = {(type(node), ast.unparse(node)): node for _, _, node in places}
        for a, b in itertools.combinations(kinds, 2):
            other = {a: kinds[b], b: kinds[a]}
            if a[0] is b[0]:
                edits = [p for p in places if (type(p[2]), ast.unparse(p[2])) in other]
                yield (
                    REPAIRED,
                    [(*p, copy.copy(other[type(p[2]), ast.unparse(p[2])])) for p in edits],
                )


def _told(sentence, edits, source, attempt):
    """Return the sentence about a change, with enough code around it to be found."""
    olds = [old[-1] if sentence is MOVED else old for _, _, old, _ in edits]
    functions = [f for f in source.body if {*ast.walk(f)} & {*olds}]
    lines = sorted({old.lineno for old in (olds[:1] if sentence is MOVED else olds)})
    where = _listed(lines)
    where = (
        text(es=f"la línea {where}", en=f"line {where}")
        if len(lines) == 1
        else text(es=f"las líneas {where}", en=f"lines {where}")
    )
    if len(functions) == 1 and functions[0].name != attempt.__name__:
        where += text(es=f" de `{functions[0].name}`", en=f" of `{functions[0].name}`")
    if sentence is not REPAIRED:
        before, after = ast.unparse(olds[0]), ast.unparse(olds[-1])
        return text(**sentence).format(where=where, before=before, after=after)
    olds.sort(key=lambda n: (n.lineno, n.col_offset))
    around = dict.fromkeys(_around(source, old) for old in olds)
    within = {part for node in around for part in ast.walk(node) if part is not node}
    around = [node for node in around if node not in within]
    befores = [_code(node) for node in around]
    with _made(edits):
        new = {old: made for _, _, old, made in edits}
        afters = [_code(new.get(node, node)) for node in around]
    in_place = text(es="`{1}` en lugar de `{0}`", en="`{1}` in place of `{0}`")
    pairs = dict.fromkeys(zip(befores, afters, strict=True))
    what = [in_place.format(*_shortened(*pair)) for pair in pairs]
    return text(**sentence).format(where=where, what=_listed(what))


def _shortened(before, after):
    """Return two pieces of code without the end that they share, where it is long."""
    shared = len(os.path.commonprefix([before[::-1], after[::-1]]))
    if shared < KEPT + len(" ...") or len(before) <= LONGEST_WHOLE:
        return before, after
    kept = []
    for code in (before, after):
        end = len(code) - shared + KEPT
        kept.append(code[: code.index(" ", end)] + " ..." if " " in code[end:] else code)
    return kept


def _listed(items):
    *others, last = map(str, items)
    return ", ".join(others) + text(es=" y ", en=" and ") + last if others else last


def _code(node):
    """Return the code of a node; a pair that is returned needs no parentheses."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        return f"return {', '.join(map(ast.unparse, node.value.elts))}"
    return ast.unparse(node)


def _around(source, node):
    """Return the smallest expression or short statement around a node that shows what it is."""
    above = {c: parent for parent in ast.walk(source) for c in ast.iter_child_nodes(parent)}
    bare = (
        ast.Constant | ast.Name | ast.Slice | ast.UnaryOp | ast.Tuple | ast.keyword | ast.Attribute
    )
    simple = ast.expr | ast.keyword | ast.Return | ast.Assign | ast.AugAssign
    while isinstance(node, bare):
        parent = above[node]
        if not isinstance(parent, simple) or len(ast.unparse(parent)) > LONGEST:
            break
        node = parent
    return node
