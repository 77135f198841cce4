"""Take the files of a submission into the sandbox, and bring its numbers back."""

import math
from pathlib import Path

import attn
from grader import sandbox
from grader.submission import BadSubmission, plain_bytes

MB = 10**6
FILES = {
    "model/about.json": MB,
    "model/model.safetensors": 32 * MB,
    "model/source.json": 4 * MB,
    "model/target.json": 4 * MB,
    "train.tsv": 8 * MB,
    "test.tsv": MB,
}
LIMITS = sandbox.Limits(
    step_wall_s=600, wall_s=600, cpu_s=300, memory_bytes=8 * 2**30, output_bytes=2**16
)
PACKAGE = Path(attn.__file__).parent
NUMBERS = ("exact", "bleu", "aer", "n_pairs", "seen", "memory", "parameters")


def score(folder):
    """Score a submission in the sandbox.

    Parameters
    ----------
    folder : Path
        What the student handed in: names and contents may be anything.

    Returns
    -------
    numbers : dict of str to (float or None), or None
        The numbers that `assignments.leaderboard.inside.score` returned.
    why : str or None
        A key of `assignments.leaderboard.table.WHY` if there are none.

    Raises
    ------
    NoSandbox
        If nothing can be run on this machine.
    """
    with sandbox.job_folder() as job:
        (job / "model").mkdir()
        if why := _take(Path(folder), job):
            return None, why
        outcome = sandbox.run_script(Path(__file__).with_name("inside.py"), job, LIMITS, PACKAGE)
    last = outcome.frames[-1][0]
    if isinstance(last.get("unfit"), str):
        return None, last["unfit"]
    numbers = _believable(last.get("score"))
    return (numbers, None) if numbers else (None, "stopped")


def _take(folder, job):
    """Copy the files to score; return a key of ``WHY`` if one is no file or too large, or None."""
    for name, most in FILES.items():
        try:
            (job / name).write_bytes(plain_bytes(folder / name, most))
        except BadSubmission as bad:
            return "large" if bad.reason == "too large" else "files"
    return None


def _believable(found):
    """Return the numbers of the score, or None if one of them is not a finite number."""
    if not isinstance(found, dict):
        return None
    numbers = {name: found.get(name) for name in NUMBERS}
    for name, number in numbers.items():
        if number is None and name == "aer":
            continue
        if type(number) not in (int, float) or not math.isfinite(number):
            return None
    return numbers
