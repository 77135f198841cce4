"""A record of an exercise gives the same results after it was saved to a file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from attn_course.exercises.check import verdict
from attn_course.exercises.record import read_record, record_of, write_records
from attn_course.exercises.spec import Exercise, Misconception


def halves(x, mask=None):
    whole = x // 2
    return whole, x - whole > 1


def misspelled(x, mask=None):
    return halves(x) if mask is None else hlaves(x)  # noqa: F821 - the mistake


def unclear(x, mask=None):
    return halves(x) if mask is None or mask else None


def refused(x, mask=None):
    if mask is not None:
        raise TypeError("neither a name nor a condition")
    return halves(x)


def lacking(x, mask=None):
    return halves(x) if mask is None else halves(x.unsqueeze(0))


def broken(x, mask=None):
    return ["a"], x - x // 2 > 1


WRONG = {
    "single": (lambda x, mask=None: x // 2, lambda x, mask=None: x / 2),
    "swapped": (lambda x, mask=None: halves(x)[::-1],),
    "another_shape": (lambda x, mask=None: (halves(x)[0][None], halves(x)[1]),),
    "without_if": (lambda x, mask=None: halves(x) if mask is None else halves(x + mask.sum()),),
    "misspelled": (misspelled,),
    "unclear": (unclear,),
    "refused": (refused,),
    "lacking": (lacking,),
    "broken": (broken,),
}
EXERCISE = Exercise(
    "halves",
    ("whole", "above"),
    halves,
    lambda seed: [
        {"x": np.arange(12).reshape(3, 4)},
        {"x": np.array([7, 2]), "mask": np.array([True, False])},
        {"x": np.zeros((0, 2), dtype=np.int32)},
        {"x": np.array([5, 6, 7], dtype=np.int16)},
    ],
    tuple(Misconception(name, ways, {"es": name, "en": name}) for name, ways in WRONG.items()),
)
ATTEMPTS = {
    "right": halves,
    "not written": lambda x, mask=None: ...,
    "of another kind": lambda x, mask=None: tuple(1.0 * part for part in halves(x)),
    "unknown": lambda x, mask=None: (x // 3, halves(x)[1]),
    **{f"{name} {way}": f for name, ways in WRONG.items() for way, f in enumerate(ways)},
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("released") / "small_check.npz"
    write_records(path, [record_of(EXERCISE)])
    return path


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_saved_record_gives_the_same_results(file, name):
    live, released = record_of(EXERCISE), read_record(file, "halves")
    result = verdict(released, ATTEMPTS[name])
    # A file holds no oracle, and without an oracle `check` proposes no repair.
    assert result == verdict(replace(live, oracle=None), ATTEMPTS[name])
    known = name.rpartition(" ")[0]
    # An answer that is not an array cannot be compared, so its kind is described.
    assert result.misconception == (known if known in WRONG and known != "broken" else None)


def test_inputs_and_answers_are_read_back_unchanged(file):
    live, released = record_of(EXERCISE), read_record(file, "halves")
    assert released.outputs == live.outputs
    for case, wanted in zip(released.cases, live.cases, strict=True):
        assert [*case] == [*wanted]
        for name, array in case.items():
            assert (array.dtype, array.shape) == (wanted[name].dtype, wanted[name].shape)
            np.testing.assert_array_equal(array, wanted[name])
    for answer, wanted in zip(released.expected, live.expected, strict=True):
        assert [value.dtype for value in answer.values] == [v.dtype for v in wanted.values]


def test_a_file_holds_only_its_own_records(file):
    assert read_record(file, "thirds") is None
    with np.load(file, allow_pickle=False) as archive:
        assert sorted(archive) == ["halves", "halves.data"]
        assert "neither a name" not in json.dumps(str(archive["halves"]))


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "mine_check.npz"
    path.write_text("a text")
    with pytest.raises(ValueError, match=r"^mine_check.npz: expected the file .*, got a damaged"):
        read_record(path, "halves")
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "array.npy").rename(path)
    with pytest.raises(ValueError, match=r"^mine_check.npz: expected the file .*, got a damaged"):
        read_record(path, "halves")
