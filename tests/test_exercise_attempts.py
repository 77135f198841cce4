"""Over a thousand answers to the exercises, written from their statements alone: what `check` says of them.

What it does not name is listed here with the reason, so that the share that it names is known and does
not shrink unseen.
"""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import attn_course
from attn_course.exercises import check

CHAPTERS = sorted(path.stem for path in (Path(__file__).parent / "attempts").glob("ch*.py"))

# What `check` says where it knows nothing: the fact alone, and then the input on which it shows.
BARE = re.compile(
    r"Not yet\. (?:"
    r"The values of [^.]* are not the expected ones\."
    r"|`[^`]*` has shape `[^`]*`; it should be `[^`]*`\."
    r"|There is NaN in `[^`]*`\."
    r"|Your function returns `[^`]*`; it should return (?:an array|the tuple),? `[^`]*`\."
    r"|Your function raises `[^`]*`(?: at `[^`]*`)?\."
    r") It fails on "
)

# The mistakes that these attempts do not make, although they give the same numbers or break down on the same
# inputs as someone who makes them: `check` once told these students something false.
FALSE = {
    "scaled_dot_product_attention.infinity_times_zero": "mean_subtracted",
    "scaled_dot_product_attention.minus_the_mask": "infinity_times_zero",
    "question_match.overwritten_in_the_loop": "all",
}

TWO = "makes two mistakes at once, each of which is named alone"
ODD = (
    "no idea of the subject is behind it, and nothing could be taught that the numbers do not show"
)
UNNAMED = {
    "embed.skips_unknown": TWO,
    "embed.skips_padding": TWO,
    "embed.unknown_mean": ODD,
    "split_heads.head_means": ODD,
    "reachable.widened_band": ODD,
    "sinusoidal_positions.only_half_the_columns": "the shape says it: half the columns",
    "teacher_forcing.inserted_in_rows": "the shape says it: a row more in place of a column",
    "warmup_schedule.product_of_both": ODD,
    "warmup_schedule.cosine": "another schedule altogether",
    "beam_step.tokens_in_each_row_of_the_best": ODD,
    "bleu.nan_for_zero": ODD,
    "alignment_error.rows_only": "another measure altogether",
    "question_match.sets_of_rows": "the shape says it, and depends on the words",
    "normed_scores.gains_exchanged_with_a_mean": ODD,
    "accept.if_of_an_array": "the kind of what it returns says it: None in place of the rest",
    "patch_effect.first_pair": ODD,
    "patch_effect.regression": "another measure altogether",
    "induction_score.np_trace": TWO,
}


def attempts_by_exercise():
    """Yield the id of each exercise and the attempts at it, by name."""
    for chapter in CHAPTERS:
        module = importlib.import_module(f"tests.attempts.{chapter}")
        for name, found in list(vars(module).items()):
            if isinstance(found, type) and found.__module__ == module.__name__:
                functions = {n: f for n, f in vars(found).items() if not n.startswith("_")}
                yield pytest.param(name, functions, id=name)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("exercise_id, attempts", list(attempts_by_exercise()))
def test_what_is_wrong_is_refused_and_named(exercise_id, attempts):
    attn_course.set_language("en")
    with np.errstate(all="ignore"):
        results = {name: check(exercise_id, attempt) for name, attempt in attempts.items()}
    right = {name for name in results if name.startswith("right")}
    assert {name for name, result in results.items() if result.status == "passed"} == right
    assert len(right) >= 2 and len(results) - len(right) >= 15
    wrong = {f"{exercise_id}.{name}": results[name] for name in results.keys() - right}
    unnamed = {name for name, result in wrong.items() if BARE.match(result.message)}
    assert unnamed == {name for name in UNNAMED if name.startswith(f"{exercise_id}.")}
    told = {name: result.misconception for name, result in wrong.items()}
    assert [name for name, false in FALSE.items() if told.get(name) == false] == []
