"""The parts of the machine: a function of the learner's where there is one, else the course's.

Every call of a learner's function is compared with what the course's gives there. So one that
passed its check and goes wrong on arrays that the check has not tried cannot spoil a translation:
it is named, and the course's stands in.
"""

import contextlib
import functools
import inspect
import io
import time

import numpy as np

from attn import reference
from attn_course.exercises.catalogue import load
from attn_course.exercises.check import record_of_chapter, verdict
from attn_course.exercises.compare import run, same
from attn_course.exercises.kept import USED, function_of
from attn_course.language import text

SECONDS = 5.0  # that one function may take for a translation


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
        self._spent = {}
        self._turn, self._turned = None, set()
        self._signatures = {}
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

    def refuse(self, error):
        """Do without a function from now on.

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
            As its exercise says.

        Returns
        -------
        ndarray or tuple of ndarray

        Raises
        ------
        RefusedError
            If the learner's function raises something, takes too long or is not right here.
        """
        self.called.add(name)
        lent = self._lent(name)
        if name not in self._signatures:
            self._signatures[name] = inspect.signature(lent)
        given = self._signatures[name].bind(*args, **keywords).arguments
        given = {key: np.asarray(value) for key, value in given.items() if value is not None}
        if name not in self._own:
            return self._afresh(name, lambda: lent(**given))
        answer = self._afresh(name, lambda: self._timed(name, given))
        expected = self._afresh(name, lambda: run(lent, given, load(name)))
        for error in (answer.error, expected.error):
            if isinstance(error, RefusedError):
                raise error
        if answer.error or not same(answer, expected):
            raise RefusedError(name, _wrong_here(name, answer.error, given))
        return answer.values if len(answer.values) > 1 else answer.values[0]

    def self_attention(self, x, w, n_heads, mask, base):
        """Attend with every head, with what the trained model has and the exercise has not.

        That are biases, and queries and keys turned by where they stand. Both come after the
        projections, so they are put in where the vectors are cut into heads, or at the latest
        where heads attend.

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
        bias = {
            name: self.call("split_heads", w[f"b_{name[0]}"][None], n_heads)
            for name in ("query", "key")
        }
        self._turn = {
            "projected": {"query": x @ w["w_q"], "key": x @ w["w_k"]},
            "bias": bias,
            "positions": np.arange(x.shape[-2]),
            "base": np.float64(base),
        }
        matrices = (w[name] for name in ("w_q", "w_k", "w_v", "w_o"))
        output, _ = self.call("multi_head_attention", x, *matrices, n_heads, mask)
        # The weights of a query sum to 1, so the bias of the values comes through as it is.
        self._turn = None
        return output + w["b_v"] @ w["w_o"] + w["b_o"]

    def _take(self, name, function):
        """Put in a function of the learner's, if it passes the check of its exercise."""
        try:
            if isinstance(function, str):
                with contextlib.redirect_stdout(io.StringIO()):
                    function = function_of(name, function, self._around(name))
            self._own[name] = function
            # As in a notebook, what it calls may be another function of the learner's.
            if not verdict(record_of_chapter(name), function):
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

    def _around(self, name):
        """Return what a text finds when it is executed: NumPy, the course, and the other parts."""
        others = {other: functools.partial(self.call, other) for other in USED if other != name}
        if name == "multi_head_attention":
            others |= {"split_heads": self._split, "scaled_dot_product_attention": self._attend}
        return {**others, "np": np, "reference": _Reference(others)}

    def _timed(self, name, given):
        """Run a function of the learner's, whose time is that of all that it calls."""
        start = time.perf_counter()
        answer = run(self._own[name], given, load(name))
        self._spent[name] = self._spent.get(name, 0.0) + time.perf_counter() - start
        # A part that another calls is timed more often, for the comparison too: it is named first.
        if self._spent[name] > SECONDS:
            raise RefusedError(
                name,
                text(
                    es=f"Tu `{name}` es correcta, pero demasiado lenta: en esta traducción habría "
                    f"necesitado más de {SECONDS:.0f} segundos.",
                    en=f"Your `{name}` is right but too slow: in this translation it would have "
                    f"needed more than {SECONDS:.0f} seconds.",
                ),
            )
        return answer

    def _afresh(self, name, act):
        """Do something; when all heads begin, no queries and keys have been turned yet."""
        if name == "multi_head_attention":
            self._turned = set()
        return act()

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
        weights = self.call("softmax", scores if mask is None else np.where(mask, scores, -np.inf))
        return weights @ value, weights

    def _multi_head(self, x, w_q, w_k, w_v, w_o, n_heads, mask=None):
        query, key, value = (self._split(x @ w, n_heads) for w in (w_q, w_k, w_v))
        mask = None if mask is None else mask[..., None, :, :]
        heads, weights = self._attend(query, key, value, mask)
        return heads.swapaxes(-3, -2).reshape(x.shape) @ w_o, weights

    def _cross(self, x, memory, w_q, w_k, w_v, memory_mask=None):
        mask = None if memory_mask is None else memory_mask[..., None, :]
        return self.call("scaled_dot_product_attention", x @ w_q, memory @ w_k, memory @ w_v, mask)

    # What all heads call, in a model that turns queries and keys.

    def _split(self, x, n_heads):
        heads = self.call("split_heads", x, n_heads)
        for name, projected in self._turn["projected"].items() if self._turn else ():
            if np.shape(x) == projected.shape and np.allclose(x, projected):
                return self._turned_by_place(name, heads)
        return heads

    def _attend(self, query, key, value, mask=None):
        if self._turn:
            query, key = (
                heads if name in self._turned else self._turned_by_place(name, heads)
                for name, heads in (("query", query), ("key", key))
            )
        return self.call("scaled_dot_product_attention", query, key, value, mask)

    def _turned_by_place(self, name, heads):
        self._turned.add(name)
        biased = heads + self._turn["bias"][name]
        return self.call("rotate", biased, self._turn["positions"], self._turn["base"])


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
        """Take an axis, as the course's does and the exercise's does not."""
        return self._parts["softmax"](scores) if axis == -1 else reference.softmax(scores, axis)


def _wrong_here(name, error, given):
    if name == "multi_head_attention":
        return text(
            es=f"Tu `{name}` es correcta, pero aquí no se puede usar: no llama a `split_heads`, y es ahí donde este "
            "modelo gira las queries y las keys según su posición.",
            en=f"Your `{name}` is right but cannot be used here: it does not call `split_heads`, which is where "
            "this model turns queries and keys by their position.",
        )
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
    # A syntax error would say the name of a file that there is not.
    said = getattr(error, "msg", None) or str(error)
    return f"{type(error).__name__}: {said.strip().rstrip('.')}"
