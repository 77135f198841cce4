"""The language of figure labels, widgets, hints and quizzes: Spanish or English.

Until the language is set, it is that of the folder in which Python was started, if the folder has
the name of a language: in ``notebooks/en`` also the first cell after a restart is in English.
Elsewhere it is Spanish.
"""

import os

LANGUAGES = ("es", "en")

try:
    _current = os.path.basename(os.getcwd())
except FileNotFoundError:  # The current folder was deleted.
    _current = ""
if _current not in LANGUAGES:
    _current = "es"


def set_language(language):
    """Choose the language of everything the course shows from now on.

    Parameters
    ----------
    language : {"es", "en"}
        Spanish or English.

    Raises
    ------
    ValueError
        If the course does not speak `language`.

    Examples
    --------
    >>> set_language("en")
    >>> get_language()
    'en'
    >>> set_language("es")
    """
    global _current
    _current = check_language(language)


def get_language():
    """Return the language in use, ``"es"`` or ``"en"``."""
    return _current


def check_language(language):
    """Return `language` if the course speaks it; otherwise raise ``ValueError``."""
    if language not in LANGUAGES:
        raise ValueError(f"language: expected one of {LANGUAGES}, got {language!r}")
    return language


def text(*, es, en):
    """Return the one of two texts that is in the language in use.

    Parameters
    ----------
    es, en : str
        The same text in Spanish and in English.

    Examples
    --------
    >>> text(es="pesos", en="weights")
    'pesos'
    """
    return es if _current == "es" else en
