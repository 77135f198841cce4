"""Submissions: any file in place of a notebook is read, or refused at once with a reason."""

import hashlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import submission
from grader.submission import REASONS, BadSubmission, Cell, read
from tests.grader.probes import SET, grade, graded, notebook

EMPTY = b'{"cells": []}'


def refused(path, reason):
    with pytest.raises(BadSubmission) as caught:
        read(path)
    assert caught.value.reason == reason
    assert str(caught.value) == REASONS[reason]["en"]


@pytest.fixture
def file(tmp_path):
    """A path laid out as by nbgrader's collect."""
    folder = tmp_path / "submitted" / "ana" / "small"
    folder.mkdir(parents=True)
    return folder / "small.ipynb"


def test_a_notebook_is_read_cell_by_cell(file):
    text = notebook(
        "x = 1",
        {"source": ["a\n", "b"], "metadata": {"nbgrader": {"grade_id": "one"}}},
        {"cell_type": "markdown", "source": "# ñ", "outputs": None},
        {"cell_type": "raw", "source": ""},
        {"source": "", "metadata": {"nbgrader": {"grade_id": "one"}}},
        {"outputs": [{"text": "t"}, 5, None, {}], "source": "y"},
    )
    file.write_text(text, encoding="utf-8")
    found = read(file)
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()
    assert found.cells == (
        Cell("code", "x = 1", None, ()),
        Cell("code", "a\nb", "one", ()),
        Cell("markdown", "# ñ", None, ()),
        Cell("raw", "", None, ()),
        Cell("code", "", "one", ()),
        Cell("code", "y", None, ({"text": "t"}, {})),
    )
    assert found.answer("one") is found.cells[1]
    assert found.answer("two") is None
    assert found.answer(None) is found.cells[0]


def test_half_of_a_surrogate_pair_becomes_the_replacement_character(file):
    file.write_text(notebook({"source": ["a = '\ud83d", "\ude00'"]}, "\udc80"), encoding="utf-8")
    assert [cell.source for cell in read(file).cells] == ["a = '😀'", "\ufffd"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_of_windows_are_read(file, encoding):
    file.write_bytes(notebook({"source": "x = 'ñ'\r\ny = 1\r"}).encode(encoding))
    assert read(file).cells[0].source == "x = 'ñ'\ny = 1\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    {
        "empty": (b"", "empty"),
        "spaces": (b" \n", "empty"),
        "half": (EMPTY[:-1], "damaged"),
        "twice": (EMPTY + EMPTY, "damaged"),
        "Latin-1": (b'{"cells": [], "a": "\xf1"}', "not text"),
        "zeros": (b"\0" * 100, "empty"),
        "PNG": (b"\x89PNG\r\n\x1a\n", "another kind"),
        "a page": (b"<!doctype html>", "another kind"),
        "a surrogate in UTF-8": (b'{"cells": [], "a": "\xed\xa0\x80"}', "not text"),
        "deep lists": (b"[" * 10**6, "another kind"),
        "deep dicts": (b'{"cells": ' * 10**5, "damaged"),
        "deep and closed": (
            b'{"cells": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
            "damaged",
        ),
        "digits": (b'{"cells": [], "a": ' + b"9" * 10**5 + b"}", "damaged"),
        "a list": (b"[]", "not a notebook"),
        "null": (b"null", "not a notebook"),
        "NaN": (b"NaN", "not a notebook"),
        "no cells": (b"{}", "not a notebook"),
        "cells that are a dict": (b'{"cells": {}}', "not a notebook"),
        "cells that are text": (b'{"cells": "abc"}', "not a notebook"),
        "worksheets": (b'{"worksheets": [{"cells": []}]}', "too old"),
        "a cell that is text": (b'{"cells": ["x"]}', "not a notebook"),
        "a cell that is null": (b'{"cells": [null]}', "not a notebook"),
        "a cell of no type": (b'{"cells": [{"source": ""}]}', "not a notebook"),
        "a cell of another type": (
            b'{"cells": [{"cell_type": "heading", "source": ""}]}',
            "not a notebook",
        ),
        "a type that is a list": (b'{"cells": [{"cell_type": ["code"]}]}', "not a notebook"),
        "a source that is a number": (
            b'{"cells": [{"cell_type": "code", "source": 1}]}',
            "not a notebook",
        ),
        "a source that is null": (
            b'{"cells": [{"cell_type": "code", "source": null}]}',
            "not a notebook",
        ),
        "a source of numbers": (
            b'{"cells": [{"cell_type": "code", "source": ["x", 1]}]}',
            "not a notebook",
        ),
        "a source that is a dict": (
            b'{"cells": [{"cell_type": "code", "source": {"a": "b"}}]}',
            "not a notebook",
        ),
    }.values(),
)
def test_files_that_are_no_notebook_are_refused(file, data, reason):
    file.write_bytes(data)
    refused(file, reason)


@pytest.mark.parametrize(
    "cell",
    [
        {"metadata": None},
        {"metadata": []},
        {"metadata": {"nbgrader": "one"}},
        {"metadata": {"nbgrader": {"grade_id": 5}}},
        {"metadata": {"nbgrader": {"grade_id": ["one"]}}},
        {"outputs": {}},
        {"outputs": "x"},
        {"outputs": [[], "x"]},
        {"source": []},
        {"points": 100, "metadata": {"nbgrader": {"points": 100}}},
    ],
    ids=repr,
)
def test_malformed_fields_other_than_the_source_are_left_out(file, cell):
    file.write_text(notebook({"source": "", **cell}), encoding="utf-8")
    assert read(file).cells == (Cell("code", "", None, ()),)


def test_a_cell_may_have_no_source(file):
    file.write_bytes(b'{"cells": [{"cell_type": "code"}]}')
    assert read(file).cells == (Cell("code", "", None, ()),)


def test_sizes_are_bounded(file, monkeypatch):
    assert submission.MOST_BYTES == 20 * 2**20
    assert submission.MOST_CELLS == 1000
    file.write_text(notebook(*[""] * 1000), encoding="utf-8")
    assert len(read(file).cells) == 1000
    file.write_text(notebook(*[""] * 1001), encoding="utf-8")
    refused(file, "not a notebook")
    monkeypatch.setattr(submission, "MOST_BYTES", len(EMPTY))
    file.write_bytes(EMPTY)
    assert read(file).cells == ()
    file.write_bytes(EMPTY + b" ")
    refused(file, "too large")


def test_a_huge_file_is_not_read(file):
    with open(file, "wb") as sparse:
        sparse.truncate(2**40)
    refused(file, "too large")


def test_special_files_are_refused_at_once(file):
    refused(file, "missing")
    os.mkfifo(file)
    refused(file, "not a file")
    file.unlink()
    file.mkdir()
    refused(file, "not a file")
    refused(file / "further", "missing")


def test_links_that_a_student_could_make_are_not_followed(tmp_path):
    secret = tmp_path / "other" / "small" / "small.ipynb"
    secret.parent.mkdir(parents=True)
    secret.write_bytes(EMPTY)
    assert read(secret).cells == ()
    for link, target in (
        ("file/small/small.ipynb", secret),
        ("folder/small", secret.parent),
        ("student", tmp_path / "other"),
    ):
        path = tmp_path / "submitted" / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        student = path.relative_to(tmp_path / "submitted").parts[0]
        refused(tmp_path / "submitted" / student / "small" / "small.ipynb", "not a file")
    for target in ("/dev/zero", "/dev/stdin", "/proc/self/environ", "nowhere"):
        path = tmp_path / "device.ipynb"
        path.symlink_to(target)
        refused(path, "not a file")
        path.unlink()
    # A link further up was made by the instructor, and is followed.
    (tmp_path / "course").symlink_to(tmp_path)
    assert read(tmp_path / "course" / "other" / "small" / "small.ipynb").cells == ()


def test_a_file_that_grows_is_read_up_to_the_limit(file, monkeypatch):
    monkeypatch.setattr(submission, "MOST_BYTES", 100)
    file.write_bytes(EMPTY)
    real = os.fstat

    def grows(descriptor):
        status = real(descriptor)
        file.write_bytes(EMPTY + b" " * 1000)
        return status

    monkeypatch.setattr(os, "fstat", grows)
    refused(file, "too large")


def test_every_reason_is_given_in_both_languages():
    for sentences in REASONS.values():
        assert list(sentences) == ["es", "en"]
        assert all(sentences.values())


@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["cells", "cell_type", "source", "metadata", "outputs", "nbgrader"]
                ),
                inner,
            )
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    file = tmp_path_factory.getbasetemp() / "any.ipynb"
    file.write_bytes(data)
    try:
        assert isinstance(read(file).cells, tuple)
    except BadSubmission as bad:
        assert bad.reason in {*REASONS} - {"missing", "not a file", "too large"}


def test_a_refused_submission_gets_no_points_and_a_reason(tmp_path):
    result = grade(tmp_path / "missing.ipynb", SET, b"secret")
    assert (result.digest, result.reason, result.broken_cells) == (None, "missing", None)
    assert [(m.grade_id, m.points, m.max_points, m.status) for m in result.marks] == [
        ("t-softmax", 0.0, 5.0, "unanswered"),
        ("t-attention", 0.0, 5.0, "unanswered"),
    ]


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("source", ["\ud800", "\0", "x" * 10**6, "(" * 10**4])
def test_odd_sources_only_break_their_cells(tmp_path, source):
    result = graded(tmp_path, source, "import numpy as np\ndef softmax(scores): return scores")
    assert list(result.broken_cells) == [0]
    assert result.marks[0].status == "wrong"
