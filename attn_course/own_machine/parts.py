"""The parts of the machine: a function of the learner's where there is one, else the course's.

Every result of a learner's function is compared with that of the course's function. So a function
that passed its check and is wrong on arrays that the check has not tried cannot spoil a
translation: it is named, and the course's function replaces it.
"""

import contextlib
import functools
import inspect
import io
import time

import numpy as np

from attn import reference
from attn_course.exercises.catalogue import load, modules
from attn_course.exercises.check import record_of_chapter, verdict
from attn_course.exercises.compare import run, same
from attn_course.exercises.kept import USED, function_of
from attn_course.language import text

SECONDS = 20.0  # that one function may take for a translation


class RefusedError(Exception):
    """A function of the learner's that the machine cannot use.

    Parameters
    ----------
    name : str
        Of the exercise.
    reason : str
        A sentence, in the language in use.
    """

    def __init__(self, name, reason):
        super().__init__(reason)
        self.name = name


class Parts:
    """Functions by the name of their exercise, the learner's where they are right.

    Parameters
    ----------
    functions : dict of str to (callable or str)
        The learner's, by exercise. Of a text, which is executed, other parts are already there
        under their names, as in a notebook; a function is taken as it is.

    Attributes
    ----------
    refused : dict of str to str
        Why a function is not used, by exercise.
    called : set of str
        The parts that have been called.
    """

    def __init__(self, functions):
        self._own, self.refused, self.called = {}, {}, set()
        self._codes, self._besides = functions, {}
        self._spent, self._blamed = {}, None
        for name in USED:
            if name in functions:
                self._take(name, functions[name])
        self._spent.clear()
        self.called.clear()

    @property
    def yours(self):
        """The called parts that are the learner's, in the order of the course."""
        return [name for name in USED if name in self.called and name in self._own]

    @property
    def lent(self):
        """The called parts that are the course's."""
        return [name for name in USED if name in self.called and name not in self._own]

    @property
    def idle(self):
        """The learner's parts that nothing has called, since the other functions do without them."""
        return [name for name in USED if name in self._own and name not in self.called]

    def refuse(self, error):
        """Replace a learner's function by the course's from now on.

        Parameters
        ----------
        error : RefusedError
        """
        self.refused[error.name] = str(error)
        self._own.pop(error.name, None)
        self._spent.clear()
        self.called.clear()

    def call(self, name, *args, **keywords):
        """Call a part.

        Parameters
        ----------
        name : str
            One of `USED`.
        args, keywords
            As its exercise says; between functions of the learner's also as those were written.

        Returns
        -------
        ndarray or tuple of ndarray
            What the function returns, as it returns it.

        Raises
        ------
        RefusedError
            If the learner's function raises something, takes too long or is not right here.
        """
        self.called.add(name)
        lent, own = self._lent(name), self._own.get(name)
        given = _as_the_course(lent, own, args, keywords)
        if own is None:
            return lent(*args, **keywords) if given is None else lent(**given)
        if given is None:  # Only the learner's function knows these arguments.
            return own(*args, **keywords)
        returned = []

        def called(*_):
            returned.append(own(*map(_copied, args), **keywords))
            return returned[0]

        answer = self._timed(name, called, given)
        if isinstance(answer.error, RefusedError):
            raise answer.error
        expected = run(load(name).oracle, given, load(name))
        if answer.error or not same(answer, expected):
            self._blamed = RefusedError(name, _wrong_here(name, answer.error, given))
            raise self._blamed
        return returned[0]

    def arrays(self, name, *args):
        """Call a part with arrays and return arrays, whatever the learner's function makes them of."""
        returned = self.call(name, *(None if a is None else np.asarray(a)[()] for a in args))
        if len(load(name).outputs) > 1:
            return tuple(map(_as_array, returned))
        return _as_array(returned)

    def self_attention(self, x, w, n_heads, mask, base):
        """Attend with every head, biases and rotary positions included, which the exercise lacks.

        The model adds biases to its queries and keys and turns them by their position; the
        function of the exercise does neither. So it is given, in the place of x, vectors in which
        the finished query, key and value of a token stand side by side, and matrices that pick
        them out again. It attends as on any input, however it was written.

        Parameters
        ----------
        x : ndarray, shape (batch_size, seq_len, d_model)
        w : dict of str to ndarray
            The matrices ``w_q``, ``w_k``, ``w_v``, ``w_o`` and the vectors ``b_q`` and so on.
        n_heads : int
        mask : ndarray of bool, shape (batch_size, seq_len, seq_len)
        base : float

        Returns
        -------
        ndarray, shape (batch_size, seq_len, d_model)
        """
        d_model, positions = x.shape[-1], np.arange(x.shape[-2])
        query, key = (
            self.arrays("split_heads", x @ w[f"w_{letter}"] + w[f"b_{letter}"], n_heads)
            for letter in "qk"
        )
        query, key = (
            self.arrays("rotate", heads, positions, np.float64(base))
            .swapaxes(-3, -2)
            .reshape(x.shape)
            for heads in (query, key)
        )
        side_by_side = np.concatenate([query, key, x @ w["w_v"] + w["b_v"]], axis=-1)
        # Each head is three times as wide as in the model. Its first third is the model's head,
        # and the rest of it is zero.
        places = np.arange(3 * d_model).reshape(n_heads, -1)[:, : d_model // n_heads].ravel()
        picks = np.zeros((3, 3 * d_model, 3 * d_model))
        for part, pick in enumerate(picks):
            pick[part * d_model + np.arange(d_model), places] = 1
        picks[0] *= np.sqrt(3)  # The scale of the scores is that of the wider heads.
        w_o = np.zeros((3 * d_model, 3 * d_model))
        w_o[places, :d_model] = w["w_o"]
        output, _ = self.arrays("multi_head_attention", side_by_side, *picks, w_o, n_heads, mask)
        return output[..., :d_model] + w["b_o"]

    def _take(self, name, function):
        """Use a function of the learner's, if it passes the check of its exercise."""
        try:
            if isinstance(function, str):
                with contextlib.redirect_stdout(io.StringIO()):
                    function = function_of(name, function, self._around(name))
            self._own[name] = function
            # As in a notebook, it may call another function of the learner's, which may be wrong
            # there: then the other one is refused, and this one is checked again without it.
            while not self._passes(name, function):
                if self._blamed and self._blamed.name != name:
                    self.refuse(self._blamed)
                    continue
                raise RefusedError(
                    name,
                    text(
                        es=f"Tu `{name}` ya no pasa la comprobación de su ejercicio.",
                        en=f"Your `{name}` no longer passes the check of its exercise.",
                    ),
                )
        except RefusedError as error:
            self.refuse(error)
        except BaseException as error:  # a learner's code may raise anything
            if isinstance(error, KeyboardInterrupt):
                raise
            self.refuse(
                RefusedError(
                    name,
                    text(
                        es=f"El código de tu `{name}` no se puede ejecutar: {_said(error)}.",
                        en=f"The code of your `{name}` cannot be run: {_said(error)}.",
                    ),
                )
            )

    def _passes(self, name, function):
        self._blamed = None
        return verdict(record_of_chapter(name), function)

    def _around(self, name):
        """Return the namespace in which code runs: NumPy, the course, and the other parts."""
        others = {other: functools.partial(self.call, other) for other in USED if other != name}
        # An exercise that is no part of the machine may be called by one that is.
        for other in modules().keys() - {*USED, name}:
            others[other] = functools.partial(self._beside, other)
        return {**others, "np": np, "reference": _Reference(others)}

    def _beside(self, name, *args, **keywords):
        if name not in self._besides:
            code = self._codes.get(name) or load(name).oracle
            if isinstance(code, str):
                with contextlib.redirect_stdout(io.StringIO()):
                    code = function_of(name, code, self._around(name))
            self._besides[name] = code
        return self._besides[name](*args, **keywords)

    def _timed(self, name, function, given):
        """Run a function of the learner's, and count its time, that of its calls included."""
        start = time.perf_counter()
        answer = run(function, given, load(name))
        self._spent[name] = self._spent.get(name, 0.0) + time.perf_counter() - start
        # A part that another calls is timed more often, for the comparison too: it is named first.
        if self._spent[name] > SECONDS:
            self._blamed = RefusedError(
                name,
                text(
                    es=f"Tu `{name}` es correcta, pero demasiado lenta: en esta traducción habría "
                    f"necesitado más de {SECONDS:.0f} segundos.",
                    en=f"Your `{name}` is right but too slow: in this translation it would have "
                    f"needed more than {SECONDS:.0f} seconds.",
                ),
            )
            raise self._blamed
        return answer

    def _lent(self, name):
        composed = {
            "scaled_dot_product_attention": self._attention,
            "multi_head_attention": self._multi_head,
            "cross_attention": self._cross,
        }
        return composed.get(name) or load(name).oracle

    # Where the course's function calls others, they may be the learner's.

    def _attention(self, query, key, value, mask=None):
        scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
        weights = self.arrays(
            "softmax", scores if mask is None else np.where(mask, scores, -np.inf)
        )
        return weights @ value, weights

    def _multi_head(self, x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        query, key, value = (self.arrays("split_heads", x @ w, n_heads) for w in (w_q, w_k, w_v))
        mask = None if mask is None else mask[..., None, :, :]
        heads, weights = self.arrays("scaled_dot_product_attention", query, key, value, mask)
        return heads.swapaxes(-3, -2).reshape(x.shape) @ w_o, weights

    def _cross(self, x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else memory_mask[..., None, :]
        return self.arrays(
            "scaled_dot_product_attention", x @ w_q, memory @ w_k, memory @ w_v, mask
        )


class _Reference:
    """`attn.reference`, in which some functions are parts of the machine."""

    def __init__(self, parts):
        self._parts = parts

    def __getattr__(self, name):
        if name in ("scaled_dot_product_attention", "split_heads") and name in self._parts:
            return self._parts[name]
        if name == "softmax" and name in self._parts:
            return self._softmax
        return getattr(reference, name)

    def _softmax(self, scores, axis=-1):
        """Give the softmax of the exercise an `axis`, as the course's function has."""
        return self._parts["softmax"](scores) if axis == -1 else reference.softmax(scores, axis)


def _as_the_course(lent, own, args, keywords):
    """Return arguments under the names of the course's function, or None if they do not fit it.

    An exercise is called by position, so the learner's parameters may have other names, and those
    after the course's have defaults.
    """
    names = [*inspect.signature(lent).parameters]
    given = dict(zip(names, args, strict=False))
    if keywords or len(args) > len(names):
        try:
            bound = inspect.signature(lent if own is None else own).bind(*args, **keywords)
        except (TypeError, ValueError):  # The call itself says what is wrong with it.
            return None
        parameters = bound.signature.parameters
        in_order = dict(zip(parameters, names, strict=False))
        given = {}
        for name, value in bound.arguments.items():
            parameter = parameters[name]
            if name in in_order and parameter.kind not in _OF_MANY:
                given[in_order[name]] = value
            elif not (value is parameter.default or repr(value) == repr(parameter.default)):
                return None
    return {name: np.array(value) for name, value in given.items() if value is not None}


_OF_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _as_array(part):
    return np.asarray(part.detach().cpu() if hasattr(part, "detach") else part)


def _wrong_here(name, error, given):
    shapes = ", ".join(str(array.shape) for array in given.values())
    if error:
        return text(
            es=f"Tu `{name}` pasó su comprobación, pero falla con arreglos de formas {shapes}: {_said(error)}.",
            en=f"Your `{name}` passed its check but fails on arrays of shapes {shapes}: {_said(error)}.",
        )
    return text(
        es=f"Tu `{name}` pasó su comprobación, pero con arreglos de formas {shapes} no da lo mismo que la del curso.",
        en=f"Your `{name}` passed its check, but on arrays of shapes {shapes} it does not give what the course's does.",
    )


def _said(error):
    # A syntax error would name a file that does not exist.
    said = getattr(error, "msg", None) or str(error)
    return f"{type(error).__name__}: {said.strip().rstrip('.')}"
