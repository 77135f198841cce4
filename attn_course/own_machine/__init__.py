"""The learner's own code translates a sentence with the weights that the course has trained.

The functions of the exercises of chapters 02 to 09 are the parts of a translator in NumPy. Those
that the learner has solved are the learner's; the course lends the others, and the result says
which are whose.

==============  ======================================================================
`parts`         a function of the learner's, or the course's in its place
`translator`    how a sentence passes through the parts
`weights`       the numbers of the checkpoint
`result`        the translation, and the machine with the learner's parts lit
==============  ======================================================================

Examples
--------
>>> import attn_course
>>> from attn_course import own_machine
>>> attn_course.set_language("en")
>>> own_machine.translate("the girl opened the red door")
the girl opened the red door → la niña abrió la puerta roja
Your code: none yet.
Lent by the course: embed, softmax, scaled_dot_product_attention, split_heads, \
multi_head_attention, head_contributions, layer_norm, feed_forward, cross_attention, \
causal_mask, padding_mask, rotate, beam_step.
>>> attn_course.set_language("es")
"""

from attn_course.exercises.kept import solved
from attn_course.own_machine.parts import Parts, RefusedError
from attn_course.own_machine.result import Translation
from attn_course.own_machine.translator import words_of, write
from attn_course.own_machine.weights import trained

__all__ = ["Translation", "translate"]


def translate(*sentences, functions=None):
    """Translate English sentences of the course's grammar with the learner's own code.

    Parameters
    ----------
    sentences : str
        Of 1 to 12 words each.
    functions : dict of str to (callable or str), optional
        The learner's, by exercise; by default the code of those that `check` has found right in
        JupyterLab, or in this browser.

    Returns
    -------
    Translation
        It shows itself as the last line of a cell.

    Raises
    ------
    ValueError
        If there is no sentence, or one is empty or too long.
    """
    sources = [words_of(sentence) for sentence in sentences or ("",)]
    parts = Parts(solved() if functions is None else functions)
    while True:
        try:
            targets = write(parts, sources)
        except RefusedError as error:  # once for each function, at the most
            parts.refuse(error)
        else:
            break
    return Translation(
        sentences,
        tuple(" ".join(words) for words in targets),
        _unknown(sources),
        tuple(parts.yours),
        tuple(parts.lent),
        tuple(parts.idle),
        tuple(parts.refused.values()),
    )


def _unknown(sources):
    known = set(trained().source.tolist())
    return tuple(dict.fromkeys(word for words in sources for word in words if word not in known))
