"""The trained models that come with the course."""

from pathlib import Path

# The first translator was trained on real sentences, the second on those of a grammar.
TRANSLATORS = ("tatoeba", "grammar")
# The default.
TRANSLATOR = "tatoeba"


def folder(name: str) -> Path:
    """Return the folder of a trained model."""
    return Path(__file__).parent / name
