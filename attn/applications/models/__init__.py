"""The trained models that come with the course."""

from pathlib import Path

# The first translator was trained on real sentences, in either direction; the second on those of a
# grammar, from English.
TRANSLATORS = ("tatoeba", "grammar")
# The default.
TRANSLATOR = "tatoeba"


def folder(name: str) -> Path:
    """Return the folder of a trained model."""
    return Path(__file__).parent / name


def translator_folder(name: str, source_language: str) -> Path:
    """Return the folder of a translator, of which there may be none in that direction."""
    return folder(f"{name}_translator" + ("" if source_language == "en" else f"_{source_language}"))
