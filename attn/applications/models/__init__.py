"""The trained models that come with the course."""

from pathlib import Path

# The translators: one learnt real sentences, the other those of the course's grammar.
TRANSLATORS = ("tatoeba", "grammar")
# The one that is read where none is named.
TRANSLATOR = "tatoeba"


def folder(name: str) -> Path:
    """Return the folder of a trained model.

    Parameters
    ----------
    name : {"tatoeba_translator", "grammar_translator", "question_answerer", "summarizer",
            "visual_question"}

    Returns
    -------
    Path
    """
    return Path(__file__).parent / name
