"""The base class of the widgets, which are shown with and without a kernel."""

import html
import json
import math
import numbers
import re

import anywidget
import numpy as np
import traitlets

from attn._checks import argument_error, check_choice
from attn.applications.models import TRANSLATOR, TRANSLATORS, translator_folder
from attn_course.language import check_language, get_language
from attn_course.widgets._source import translator

OTHER_LANGUAGE = {"en": "es", "es": "en"}
LANGUAGE_NAMES = {
    "es": {"en": "inglés", "es": "español"},
    "en": {"en": "English", "es": "Spanish"},
}


class Widget(anywidget.AnyWidget):
    """An anywidget that also has a static HTML form.

    JupyterLab shows the live view. Everyone else (the published page, paper, a reader
    without JavaScript) gets ``text/html``: the state as JSON, from which ``host.js`` starts
    the same widget without a kernel, and a fallback that is enough on its own.

    A subclass sets `_stem`, the name of its files, and `_state`, the traits that start it,
    and has a method ``_fallback()``, which returns the figure as HTML without JavaScript.
    """

    _stem = ""
    _state = ()

    language = traitlets.Unicode().tag(sync=True)

    def __init__(self, language=None, **state):
        language = get_language() if language is None else check_language(language)
        super().__init__(language=language, **state)

    def _html(self):
        state = {name: _rounded(getattr(self, name)) for name in (*self._state, "language")}
        data = json.dumps(state, sort_keys=True, ensure_ascii=False, allow_nan=False)
        # A token could otherwise close the script.
        data = data.replace("<", "\\u003c")
        return (
            f'<div class="attn-widget" data-anywidget="{self._stem}">'
            f'<script type="application/json">{data}</script>'
            f'<div class="attn-fallback" lang="{self.language}">{self._fallback()}</div></div>'
        )

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": self._html()}, metadata

    def __repr__(self):
        return f"{type(self).__name__}(language={self.language!r})"


class TranslatorWidget(Widget):
    """A widget with a trained translator of the course in it.

    In JupyterLab the kernel sends the model. A page loads it from scripts, and knows its name,
    tokens and size from `pretrained` before. Where there are `turned` sentences, of the other
    language, the reader may choose the other direction, which has a model of its own.
    """

    pretrained = traitlets.Dict().tag(sync=True)
    trained = traitlets.Dict().tag(sync=True)
    turned = traitlets.List(traitlets.Unicode()).tag(sync=True)
    trained_turned = traitlets.Dict().tag(sync=True)

    def __init__(
        self, language=None, pretrained=TRANSLATOR, *, source_language="en", turned=(), **state
    ):
        check_choice("pretrained", pretrained, TRANSLATORS)
        check_choice("source_language", source_language, tuple(OTHER_LANGUAGE))
        turned = [] if turned in ((), []) else check_labels("turned", turned)
        trained = _translator("source_language", pretrained, source_language)
        about = {
            "name": pretrained,
            "tokenizer": trained["tokenizer"],
            "megabytes": round(len(trained["weights"]) / 1e6, 1),
        }
        # A figure in one direction, from English, keeps the state that it always had.
        if source_language != "en":
            about["from"] = source_language
        if turned:
            self._state = (*self._state, "turned")
            other = _translator("turned", pretrained, OTHER_LANGUAGE[source_language])
            state |= {"turned": turned, "trained_turned": other}
        super().__init__(language, pretrained=about, trained=trained, **state)

    @property
    def _languages(self):
        """The languages that the translator reads and writes."""
        source = self.pretrained.get("from", "en")
        return source, OTHER_LANGUAGE[source]

    def _told(self, text):
        """Fill ``{from}`` and ``{to}`` in a text with the names of both languages."""
        read, written = (LANGUAGE_NAMES[self.language][one] for one in self._languages)
        return text.replace("{from}", read).replace("{to}", written)


def _translator(argument, name, source_language):
    """Return what `_source.translator` does; name the argument if there is no such model."""
    if not translator_folder(name, source_language).exists():
        raise argument_error(argument, f"a direction of {name!r}", repr(source_language))
    return translator(name, source_language)


def _rounded(state):
    """Return a state with six significant digits; further ones depend on the processor."""
    if isinstance(state, dict):
        return {name: _rounded(part) for name, part in state.items()}
    if isinstance(state, (list, tuple)):
        return [_rounded(part) for part in state]
    return float(f"{state:.6g}") if isinstance(state, float) else state


def table(caption, head, rows):
    """Return an HTML table whose first row and first column are headers."""
    corner, *columns = [
        f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in head
    ]
    lines = []
    for name, *cells in rows:
        data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{data}</tr>')
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{corner}{''.join(columns)}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def escape(text):
    """Return `text` safe inside HTML and on one line.

    >>> escape("a < b")
    'a &lt; b'
    """
    return re.sub(r"\s+", " ", html.escape(str(text)))


def decimals(x, digits=2):
    """Return a number as the widgets show it, with a true minus sign.

    >>> decimals(-0.5), decimals(-0.001)
    ('−0.50', '0.00')
    """
    return f"{x:z.{digits}f}".replace("-", "−")


def check_real(name, x, above=-math.inf):
    """Return `x` as a float if it is finite and above a bound; otherwise raise ``ValueError``."""
    real = isinstance(x, numbers.Real) and not isinstance(x, bool) and math.isfinite(x)
    if not real or x <= above:
        bound = "" if above == -math.inf else f" above {above}"
        raise argument_error(name, f"a finite number{bound}", repr(x))
    return float(x)


def check_whole(name, x, low, high):
    """Return `x` as an int if it lies from `low` to `high`; otherwise raise ``ValueError``."""
    if not isinstance(x, numbers.Integral) or isinstance(x, bool) or not low <= x <= high:
        raise argument_error(name, f"a whole number from {low} to {high}", repr(x))
    return int(x)


def check_array(name, x, *shape):
    """Return `x` as an array of finite numbers of a shape, in which None is any size above 0.

    Otherwise raise ``ValueError``.
    """
    found = np.asarray(x, dtype=object)
    fits = len(found.shape) == len(shape) and all(
        size == wanted or (wanted is None and size)
        for size, wanted in zip(found.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        comma = "," * (len(shape) == 1)
        raise argument_error(name, f"shape ({wanted}{comma})", found.shape)
    return np.array([check_real(name, number) for number in found.flat]).reshape(found.shape)


def check_flag(name, x):
    """Return True or False; NumPy's are turned into Python's, and other values are refused."""
    if not isinstance(x, (bool, np.bool_)):
        raise argument_error(name, "True or False", repr(x))
    return bool(x)


def check_list(name, x, expected, length=None):
    """Return the items of a collection, as many as `length` says; refuse a string and anything else."""
    try:
        items = None if isinstance(x, str) else list(x)
    except TypeError:
        items = None
    if items is None or length not in (None, len(items)):
        raise argument_error(name, expected, repr(x))
    return items


def check_labels(name, labels):
    """Return `labels` as a list if it is a sequence of non-empty str; otherwise raise ``ValueError``."""
    labels = [labels] if isinstance(labels, str) else check_list(name, labels, "a list of strings")
    if len(labels) == 0 or not all(isinstance(label, str) and label for label in labels):
        raise argument_error(name, "a list of one or more non-empty strings", repr(labels))
    return labels
