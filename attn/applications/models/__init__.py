"""The trained models that come with the course."""

from pathlib import Path


def folder(name: str) -> Path:
    """Return the folder of a trained model.

    Parameters
    ----------
    name : {"translator", "visual_question"}

    Returns
    -------
    Path
    """
    return Path(__file__).parent / name
