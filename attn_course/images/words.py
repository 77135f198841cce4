"""The words of questions and answers, in Spanish and in English.

Where two forms stand with a slash between them, the first goes with a masculine noun and the
second with a feminine one; see `agree`.
"""

import re

MASCULINE, FEMININE = 1, 2

WORDS = {
    "es": {
        # Each noun has its singular, its plural, its form with *of*, and its gender.
        "nouns": {
            "ball": ("balón", "balones", "del balón", MASCULINE),
            "box": ("caja", "cajas", "de la caja", FEMININE),
            "star": ("estrella", "estrellas", "de la estrella", FEMININE),
            "tree": ("árbol", "árboles", "del árbol", MASCULINE),
        },
        "colours": {
            "red": "rojo/roja",
            "green": "verde",
            "blue": "azul",
            "yellow": "amarillo/amarilla",
            "purple": "morado/morada",
        },
        "questions": {
            "colour": "¿De qué color es el/la {one}?",
            "count": "¿Cuántos/Cuántas {many} hay?",
            "where": "¿Dónde está el/la {one}?",
            "exists": "¿Hay un/una {one} {colour}?",
            "left": "¿Está el/la {one} a la izquierda {of_other}?",
        },
        "numbers": ("ninguno/ninguna", "uno/una", "dos", "tres", "cuatro"),
        "places": {
            ("top", "left"): "arriba a la izquierda",
            ("top", "right"): "arriba a la derecha",
            ("bottom", "left"): "abajo a la izquierda",
            ("bottom", "right"): "abajo a la derecha",
        },
        "truth": {True: "sí", False: "no"},
    },
    "en": {
        "nouns": {
            "ball": ("ball", "balls", "of the ball", MASCULINE),
            "box": ("box", "boxes", "of the box", MASCULINE),
            "star": ("star", "stars", "of the star", MASCULINE),
            "tree": ("tree", "trees", "of the tree", MASCULINE),
        },
        "colours": {name: name for name in ("red", "green", "blue", "yellow", "purple")},
        "questions": {
            "colour": "What colour is the {one}?",
            "count": "How many {many} are there?",
            "where": "Where is the {one}?",
            "exists": "Is there a {colour} {one}?",
            "left": "Is the {one} to the left {of_other}?",
        },
        "numbers": ("none", "one", "two", "three", "four"),
        "places": {
            (vertical, horizontal): f"{vertical} {horizontal}"
            for vertical in ("top", "bottom")
            for horizontal in ("left", "right")
        },
        "truth": {True: "yes", False: "no"},
    },
}


def agree(text, gender):
    """Keep of every two forms the one that goes with the gender.

    Parameters
    ----------
    text : str
    gender : {MASCULINE, FEMININE}

    Returns
    -------
    str

    Examples
    --------
    >>> agree("un/una balón rojo/roja", MASCULINE), agree("un/una caja azul", FEMININE)
    ('un balón rojo', 'una caja azul')
    """
    return re.sub(r"(\w+)/(\w+)", lambda forms: forms[gender], text)
