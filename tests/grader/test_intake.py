"""Collecting: who handed in what and when, not trusting what the files themselves say."""

import json
import os
import pwd
import random
import stat
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from grader import inbox as inbox_module
from grader.__main__ import main
from grader.course import CourseError
from grader.intake import collect
from grader.submission import MOST_BYTES, REASONS
from grader.submitted import find

FRIDAY = (2026, 3, 6, 18, 30, 0)
SATURDAY = (2026, 3, 7, 18, 30, 0)


def seconds(when):
    """Return a local time in seconds since the epoch."""
    return time.mktime((*when, 0, 0, -1))


def notebook(course, language="es", mark=""):
    """Return the bytes of a released set, with a word in its title to tell copies apart."""
    place = course.path(language, "release", ".", "ps2")
    cells = json.loads(place.read_text(encoding="utf-8"))
    cells["cells"][0]["source"] = mark
    return json.dumps(cells).encode()


def put(path, data, when=FRIDAY):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (seconds(when),) * 2)
    return path


def pack(path, members):
    """Write a zip of (name, data, time)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, when in members:
            archive.writestr(zipfile.ZipInfo(name, when), data)
    return path


def with_roster(course, *rows, columns="id,last_name,first_name,email,moodle_id,canvas_id,user"):
    text = "\n".join([columns, *rows, ""])
    (course.folder / "roster.csv").write_text(text, encoding="utf-8")


def collected(course, student, language="es"):
    """Return the word in the title of the collected notebook, and its timestamp."""
    place = course.path(language, "submitted", student, "ps2")
    title = json.loads(place.read_bytes())["cells"][0]["source"]
    return title, (place.parent / "timestamp.txt").read_text()


def utc(when):
    return f"{datetime.fromtimestamp(seconds(when), UTC):%Y-%m-%d %H:%M:%S.%f} UTC"


def test_a_plain_folder_is_collected_in_both_layouts_and_editions(course, tmp_path):
    box = tmp_path / "box"
    put(box / "ana" / "ps2.ipynb", notebook(course, "es", "a"))
    put(box / "bob" / "ps2" / "ps2.ipynb", notebook(course, "en", "b"), SATURDAY)
    put(box / "bob" / "ps1" / "ps1.ipynb", b"another set")
    put(box / "ana" / ".ipynb_checkpoints" / "ps2-checkpoint.ipynb", b"litter")
    found = collect(course, "ps2", box)
    assert (found.new, found.left_out, found.remarks) == (2, [], [])
    assert collected(course, "ana") == ("a", utc(FRIDAY))
    assert collected(course, "bob", "en") == ("b", utc(SATURDAY))
    assert [one.student for one in find(course, "ps2")[0]] == ["ana", "bob"]


def test_without_metadata_the_text_or_the_instructor_tells_the_edition(course, tmp_path):
    bare = json.loads(notebook(course, "en"))
    del bare["metadata"]["attn"]
    put(tmp_path / "box" / "ana" / "ps2.ipynb", json.dumps(bare).encode())
    put(tmp_path / "box" / "bob" / "ps2.ipynb", b"damaged")
    found = collect(course, "ps2", tmp_path / "box")
    assert course.path("en", "submitted", "ana", "ps2").is_file()
    (sentence,) = found.left_out
    assert "bob/ps2.ipynb: it is a web page, a PDF, a zip or another file" in sentence
    assert collect(course, "ps2", tmp_path / "box", "en").new == 1
    assert course.path("en", "submitted", "bob", "ps2").read_bytes() == b"damaged"


MOODLE = "{}_{}_assignsubmission_file{}"


@pytest.mark.parametrize("separator", ["/", "/part/", "_/", "_"])
def test_archives_of_moodle_are_collected(course, tmp_path, separator):
    """A folder for each student (its name ended with _ until Moodle 4.0), or files in one."""
    with_roster(
        course,
        "pat,O'Brien,Pat,pat@x.org,,,",
        "ana,Núñez,Ana,,77 501,,",
        "ana2,Núñez,Ana,,502,,",
        "max,d_2_Arc,Max,,,,",
    )
    members = [
        ("O'Brien, Pat", 500, "ps2 (1).ipynb", "p"),
        ("Ana Núñez", 501, "ps2.ipynb", "a"),
        ("Ana Núñez", 502, "tarea.ipynb", "a2"),
        ("Max d_2_Arc", 504, "ps2.ipynb", "m"),
        ("Zoe Doe", 503, "ps2.ipynb", "z"),
    ]
    box = pack(
        tmp_path / "ps2.zip",
        [
            (MOODLE.format(name, number, separator + file), notebook(course, "es", mark), FRIDAY)
            for name, number, file, mark in members
        ],
    )
    found = collect(course, "ps2", box)
    marks = {"pat": "p", "ana": "a", "ana2": "a2", "max": "m"}
    assert {student: collected(course, student)[0] for student in marks} == marks
    assert collected(course, "pat")[1] == utc(FRIDAY)
    (sentence,) = found.left_out
    assert "Zoe Doe_503" in sentence and "nobody in the roster, or several, are Zoe Doe" in sentence


def test_archives_of_canvas_are_collected(course, tmp_path):
    """Its archives have the time of the download; who is on time for Canvas is on time here."""
    with_roster(course, "pat,O'Brien,Pat,,,900,", "ana,Núñez,Ana,,,,", "eva,Ros,Eva,,,903,")
    assert main(["due", str(course.folder), "ps2", utc(FRIDAY)]) == 0
    box = pack(
        tmp_path / "ps2.zip",
        [
            ("obrienpat_LATE_900_7001_ps2 (1).ipynb", notebook(course, "en", "p"), SATURDAY),
            ("núñezana_901_7002_ps2-1.ipynb", notebook(course, "en", "a"), SATURDAY),
            # The submissions are graded anonymously.
            ("903_7003_ps2.ipynb", notebook(course, "en", "e"), SATURDAY),
            ("obrienpat_950_7004_ps2.ipynb", notebook(course, "en", "other"), SATURDAY),
        ],
    )
    found = collect(course, "ps2", box)
    assert (found.new, len(found.left_out)) == (3, 1)
    assert found.left_out[0].endswith("nobody in the roster, or several, are obrienpat.")
    assert collected(course, "pat", "en") == ("p", utc(SATURDAY))
    assert collected(course, "ana", "en") == ("a", utc(FRIDAY))
    assert collected(course, "eva", "en") == ("e", utc(FRIDAY))
    (remark,) = found.remarks
    assert "obrienpat_LATE_900_7001_ps2 (1).ipynb came late, says Canvas" in remark


@pytest.mark.parametrize(
    "name",
    [
        "Eve Ros_503_assignsubmission_file_Pat OBrien_500_assignsubmission_file_ps2.ipynb",
        "Eve Ros_503_assignsubmission_file_/obrienpat_900_7001_ps2.ipynb",
        "Eve Ros_503_assignsubmission_file/Pat OBrien_500_assignsubmission_file/ps2.ipynb",
        "roseve_903_7003_obrienpat_900_7001_ps2.ipynb",
        "eve/obrienpat_900_7001_ps2.ipynb",
        "eve/Pat OBrien_500_assignsubmission_file_ps2.ipynb",
        "eve/Pat OBrien_500_assignsubmission_file_/ps2.ipynb",
        "eve/Pat OBrien_500_assignsubmission_file/ps2.ipynb",
    ],
)
def test_no_file_name_is_taken_for_another_student(course, tmp_path, name):
    with_roster(course, "pat,O'Brien,Pat,,500,900,", "eve,Ros,Eve,,503,903,")
    (tmp_path / "box").mkdir()
    put(tmp_path / "box" / name, notebook(course))
    pack(tmp_path / "ps2.zip", [(name, notebook(course), FRIDAY)])
    for box in ("box", "ps2.zip"):
        try:
            collect(course, "ps2", tmp_path / box)
        except CourseError as error:
            assert "There is nothing of ps2" in str(error)
        assert not course.path("es", "submitted", "pat", "ps2").exists()


def test_without_a_roster_students_have_the_names_of_the_lms(course, tmp_path):
    members = [
        ("O'Brien, Pat_500_assignsubmission_file_/ps2 (1).ipynb", notebook(course), FRIDAY),
        ("nunezana_901_7002_ps2.ipynb", notebook(course), FRIDAY),
        ("In\u0303igo_502_assignsubmission_file_/ps2.ipynb", notebook(course), FRIDAY),
    ]
    assert collect(course, "ps2", pack(tmp_path / "ps2.zip", members)).left_out == []
    students = [handed.student for handed in find(course, "ps2")[0]]
    assert students == ["Iñigo", "O Brien Pat", "nunezana-901"]


def test_two_students_of_the_same_name_are_kept_apart(course, tmp_path):
    """This holds without a roster and with a roster that has only one of them."""
    names = ["Ana Núñez_501_assignsubmission_file_", "Ana Núñez_502_assignsubmission_file_"]
    box = pack(
        tmp_path / "ps2.zip",
        [(f"{name}/ps2.ipynb", notebook(course, mark=name), FRIDAY) for name in names],
    )
    for _ in range(2):
        found = collect(course, "ps2", box)
        assert [sentence.partition(": ")[0] for sentence in found.left_out] == [
            f"Left out {box}/{ascii(name)[1:-1]}" for name in names
        ]
        assert "several people have this name" in found.left_out[0]
        with_roster(course, "ana,Núñez,Ana,,,,")
    with_roster(course, "ana,Núñez,Ana,,501,,", "ana2,Núñez,Ana,,502,,")
    assert collect(course, "ps2", box).new == 2


def test_the_later_notebook_counts_and_an_unchanged_one_keeps_its_time(course, tmp_path):
    box = tmp_path / "box"
    put(box / "ana" / "ps2.ipynb", notebook(course, mark="first"))
    # Both files have times within the same second.
    put(box / "ana" / "ps2_2.ipynb", notebook(course, mark="second"))
    found = collect(course, "ps2", box)
    assert collected(course, "ana")[0] == "second"
    assert len(found.remarks) == 1 and "handed in 2 notebooks" in found.remarks[0]
    put(box / "ana" / "ps2.ipynb", notebook(course, mark="third"), SATURDAY)
    assert collect(course, "ps2", box).replaced == 1
    assert collected(course, "ana") == ("third", utc(SATURDAY))
    # After a second download, every file has the time of the download.
    os.utime(box / "ana" / "ps2.ipynb")
    assert collect(course, "ps2", box).same == 1
    assert collected(course, "ana") == ("third", utc(SATURDAY))
    other = put(tmp_path / "late" / "ana" / "ps2.ipynb", notebook(course, mark="old"))
    found = collect(course, "ps2", other.parents[1])
    assert collected(course, "ana")[0] == "third"
    assert "is older than what is in the course" in found.remarks[0]


def exchange(root, student, mark, course, name="ps2", when="2026-03-05 18:30:00.000000 UTC"):
    folder = root / f"{student}+{name}+{when}+r4nd0m"
    put(folder / "ps2.ipynb", notebook(course, mark=mark))
    (folder / "timestamp.txt").write_text("1999-01-01 00:00:00 UTC")
    (folder / "submission_secret.txt").write_text("s3cret")
    return folder


def test_the_time_in_nbgraders_exchange_is_that_of_the_file_system(course):
    """Data that a student can write, such as a file's modification time, decides nothing."""
    root = course.folder / "exchange" / "attn-es" / "inbound"
    exchange(root, "ana", "a", course)
    exchange(root, "ana", "other", course, name="ps1")
    (root.parents[1] / "attn-en" / "inbound").mkdir(parents=True)
    found = collect(course, "ps2")
    title, when = collected(course, "ana")
    assert title == "a"
    received = datetime.fromisoformat(when.replace(" UTC", "+00:00"))
    assert abs((datetime.now(UTC) - received).total_seconds()) < 600
    assert found.remarks[0].endswith("that counts, and not the time in its name.")
    folder = course.path("es", "submitted", "ana", "ps2").parent
    assert (folder / "submission_secret.txt").read_text() == "s3cret"


def test_a_folder_in_the_exchange_of_another_account_is_left_out(course, tmp_path):
    me = pwd.getpwuid(os.geteuid()).pw_name
    with_roster(course, "ana,,,,,,ana-account", f"bob,,,,,,{me}")
    exchange(tmp_path / "in", "ana", "a", course)
    exchange(tmp_path / "in", "bob", "b", course)
    found = collect(course, "ps2", tmp_path / "in")
    (sentence,) = found.left_out
    assert sentence.endswith(f"ps2.ipynb: it belongs to {me}, and ana is ana-account.")
    assert collected(course, "bob")[0] == "b"


def link(place, other):
    place.symlink_to(other)


def hard_link(place, other):
    os.link(other, place)


def folder_link(place, other):
    place.parent.rmdir()
    place.parent.symlink_to(other.parent)


def pipe(place, other):
    os.mkfifo(place)


def huge(place, other):
    with open(place, "wb") as file:
        file.truncate(MOST_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (link, "it is a link"),
        (hard_link, "it has a second name (a hard link), and may be somebody else's"),
        (folder_link, "it is a link"),
        (pipe, "it is not a file"),
        (huge, "it is over 20 MB"),
    ],
)
def test_links_and_special_files_are_left_out(course, tmp_path, make, said):
    other = put(tmp_path / "elsewhere" / "ps2.ipynb", notebook(course, mark="somebody else's"))
    box = tmp_path / "box"
    (box / "eve").mkdir(parents=True)
    make(box / "eve" / "ps2.ipynb", other)
    put(box / "zoe" / "ps2.ipynb", notebook(course, mark="z"))
    found = collect(course, "ps2", box)
    (sentence,) = found.left_out
    assert sentence.startswith(f"Left out {box}/eve") and sentence.endswith(f": {said}.")
    assert [handed.student for handed in find(course, "ps2")[0]] == ["zoe"]


def test_a_link_that_replaces_a_listed_file_is_not_followed(course, tmp_path):
    secret = put(tmp_path / "elsewhere" / "ps2.ipynb", b"somebody else's")
    place = put(tmp_path / "box" / "eve" / "ps2.ipynb", b"mine")
    box = inbox_module.open_inbox(tmp_path / "box")
    assert list(box.names()) == [(("eve", "ps2.ipynb"), None)]
    place.unlink()
    place.symlink_to(secret)
    with pytest.raises(inbox_module.Refused, match="cannot be read"):
        box.read(("eve", "ps2.ipynb"))
    place.unlink()
    place.parent.rmdir()
    place.parent.symlink_to(secret.parent)
    with pytest.raises(inbox_module.Refused, match="cannot be read"):
        box.read(("eve", "ps2.ipynb"))


def test_unsafe_and_damaged_entries_of_an_archive_are_left_out(course, tmp_path):
    good = notebook(course, mark="z")
    path = tmp_path / "ps2.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        linked = zipfile.ZipInfo("link/ps2.ipynb")
        linked.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(linked, "/etc/passwd")
        archive.writestr("bomb/ps2.ipynb", b"0" * (MOST_BYTES + 1))
        archive.writestr("up/../../ps2.ipynb", good)
        archive.writestr("zoe/ps2.ipynb", good)
        archive.writestr("damaged/ps2.ipynb", b"1" * 9999)
        archive.writestr("__MACOSX/zoe/._ps2.ipynb", b"litter")
    data = path.read_bytes()
    place = data.index(b"damaged/ps2.ipynb") + len(b"damaged/ps2.ipynb")
    path.write_bytes(data[:place] + b"\xff" * 8 + data[place + 8 :])
    found = collect(course, "ps2", path)
    reasons = sorted(sentence.removeprefix(f"Left out {path}/") for sentence in found.left_out)
    assert reasons[0] == "bomb/ps2.ipynb: it is over 20 MB."
    assert reasons[1].startswith("damaged/ps2.ipynb: it is damaged (")
    assert reasons[2] == "link/ps2.ipynb: it is a link."
    assert reasons[3] == "up/../../ps2.ipynb: its path leads out of the archive."
    assert [handed.student for handed in find(course, "ps2")[0]] == ["zoe"]


def test_names_in_unusual_encodings_are_read(course, tmp_path):
    """Some programs write UTF-8 without declaring it; some write accents as separate characters."""
    with_roster(course, "nu,Núñez,Ana,,,,", "pe,Peña,Iñigo,,,,")
    path = tmp_path / "ps2.zip"
    names = ["Ana Núñez_1_assignsubmission_file_/ps2.ipynb"]
    names.append("Iñigo Peña_2_assignsubmission_file_/ps2.ipynb".replace("ñ", "n\u0303"))
    pack(path, [(name, notebook(course, mark=name[0]), FRIDAY) for name in names])
    data = bytearray(path.read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(start)
        data[place + flags + 1] &= ~0x08
    path.write_bytes(bytes(data))
    assert collect(course, "ps2", path).left_out == []
    assert (collected(course, "nu")[0], collected(course, "pe")[0]) == ("A", "I")


def test_files_that_are_no_submission_of_the_set_are_left_out(course, tmp_path):
    box = tmp_path / "box"
    put(box / "ana" / "ps1.ipynb", b'{"cells": []}')
    put(box / "bob" / "notes.txt", b"sorry")
    put(box / "a;b" / "ps2.ipynb", notebook(course))
    put(box / "ps2.ipynb", notebook(course))
    put(box / "eva" / "final.ipynb", notebook(course, mark="e"))
    found = collect(course, "ps2", box)
    assert [sentence.removeprefix(f"Left out {box}/") for sentence in found.left_out] == [
        "ps2.ipynb: nothing says whose it is.",
        "a;b: no student is called that.",
        "ana/ps1.ipynb: it is not called ps2.ipynb and has none of its tasks.",
        "bob: there is no notebook among what bob handed in (notes.txt).",
    ]
    assert collected(course, "eva")[0] == "e"


def test_collecting_and_grading_take_only_students_of_the_roster(course, hand_in, tmp_path):
    with_roster(course, "ana,Núñez,Ana,ana@x.org,,,")
    put(tmp_path / "box" / "ANA@x.org" / "ps2.ipynb", notebook(course))
    put(tmp_path / "box" / "eve" / "ps2.ipynb", notebook(course))
    found = collect(course, "ps2", tmp_path / "box")
    (sentence,) = found.left_out
    assert sentence.endswith("box/eve: nobody in the roster is called that.")
    hand_in("eve")
    handed, skipped, _ = find(course, "ps2")
    assert [one.student for one in handed] == ["ana"]
    assert skipped == [
        f"Skipped {course.folder}/es/submitted/eve: nobody in the roster is called that."
    ]


def test_nothing_is_written_through_a_link_in_the_course(course, tmp_path):
    (tmp_path / "elsewhere" / "ps2").mkdir(parents=True)
    place = course.path("es", "submitted", "ana", "ps2").parent
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "elsewhere" / "ps2")
    put(tmp_path / "box" / "ana" / "ps2.ipynb", notebook(course))
    found = collect(course, "ps2", tmp_path / "box")
    assert found.left_out[0].endswith(f"{place} is a link.")
    assert list((tmp_path / "elsewhere" / "ps2").iterdir()) == []


def test_a_submission_that_cannot_be_written_stops_no_other(course, tmp_path):
    place = course.path("es", "submitted", "ana", "ps2")
    (place.parent / "timestamp.txt").mkdir(parents=True)
    for student in ("ana", "zoe"):
        put(tmp_path / "box" / student / "ps2.ipynb", notebook(course, mark=student))
    found = collect(course, "ps2", tmp_path / "box")
    (sentence,) = found.left_out
    assert f"{place.parent}/timestamp.txt cannot be written: " in sentence
    assert collected(course, "zoe")[0] == "zoe"


def test_a_damaged_archive_gives_a_message_and_never_a_traceback(course, tmp_path):
    """Bytes are changed at random: readable files are collected, the rest is reported."""
    path = tmp_path / "ps2.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"s{number}/ps2.ipynb", b'{"cells": []}')
    right, chance = path.read_bytes(), random.Random(0)
    for _ in range(300):
        data = bytearray(right)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            collect(course, "ps2", path, "en")
        except CourseError as error:
            assert "\n" not in str(error)


def test_the_command_prints_a_summary_and_errors_of_one_line(course, tmp_path, capsys):
    put(tmp_path / "box" / "ana" / "ps2.ipynb", notebook(course))
    command = ["collect", str(course.folder), "ps2"]
    assert main([*command, "--from", str(tmp_path / "box")]) == 0
    said = capsys.readouterr().out
    assert said == "1 in the course: 1 new, 0 replaced, 0 as before. 0 left out.\n"
    put(tmp_path / "box" / "stray.ipynb", b"")
    assert main([*command, "--from", str(tmp_path / "box")]) == 1
    (tmp_path / "empty").mkdir()
    for source, wanted in (
        ([], "There is no "),
        (["--from", str(tmp_path / "nothing")], "There is no "),
        (["--from", str(tmp_path / "empty")], "There is nothing of ps2 in "),
        (["--from", str(tmp_path / "box" / "stray.ipynb")], "is neither a folder nor a zip"),
    ):
        capsys.readouterr()
        assert main([*command, *source]) == 1
        out, error = capsys.readouterr()
        assert wanted in error and (out, error.count("\n")) == ("", 1)
    with pytest.raises(CourseError, match="There is no set 'ps9'"):
        collect(course, "ps9", tmp_path / "box")


def owned_by(monkeypatch, accounts):
    """Let folders of an inbox seem to belong to different accounts, since the test runs as one."""
    numbers = {account: 70_000 + n for n, account in enumerate(accounts.values())}
    names = {number: account for account, number in numbers.items()}
    read = inbox_module.Folder.read

    def of_an_account(self, parts):
        number = numbers[accounts[parts[0].partition("+")[0]]]
        return replace(read(self, parts), owner=number)

    monkeypatch.setattr(inbox_module.Folder, "read", of_an_account)
    monkeypatch.setattr(pwd, "getpwuid", lambda number: SimpleNamespace(pw_name=names[number]))


@pytest.mark.parametrize("rows", [None, ["ana,,,,,,", "eve,,,,,,", "tlj,,,,,,"]])
def test_a_folder_with_the_name_of_another_student_replaces_nothing(
    course, tmp_path, monkeypatch, rows
):
    if rows:
        with_roster(course, *rows)
    exchange(tmp_path / "in", "ana", "a", course)
    exchange(tmp_path / "in", "tlj", "t", course)
    owned_by(monkeypatch, {"ana": "ana", "tlj": "jupyter-tlj"})
    assert collect(course, "ps2", tmp_path / "in").new == 2
    monkeypatch.undo()
    exchange(tmp_path / "evil", "ana", "e", course, when="2026-03-05 23:30:00.000000 UTC")
    owned_by(monkeypatch, {"ana": "eve"})
    (sentence,) = collect(course, "ps2", tmp_path / "evil").left_out
    assert "it belongs to the account eve, and nothing says that this is ana" in sentence
    assert collected(course, "ana")[0] == "a"


def test_a_moodle_name_that_contains_the_id_of_another_student_is_left_out(course, tmp_path):
    with_roster(course, "pat,O'Brien,Pat,,500,,", "eve,Ros,Eve,,503,,")
    folder = MOODLE.format(MOODLE.format("Pat OBrien", 500, "_x"), 503, "_/ps2.ipynb")
    file = MOODLE.format(MOODLE.format("Pat OBrien", 500, "_x"), 503, "_ps2.ipynb")
    box = pack(tmp_path / "ps2.zip", [(name, notebook(course), FRIDAY) for name in (folder, file)])
    (sentence,) = collect(course, "ps2", box).left_out
    assert "its name can be read as that of two people" in sentence
    assert [one.student for one in find(course, "ps2")[0]] == ["eve"]


@pytest.mark.parametrize("rows", [None, ["ana,Núñez,Ana,,5,,", "bob,Gil,Bob,,6,,"]])
@pytest.mark.parametrize("around", ["", "ps2/", "entregas/grupo 1/"])
@pytest.mark.parametrize("names", [("ana", "bob"), (MOODLE.format("Ana Núñez", 5, "_"), "bob")])
def test_a_folder_around_the_folders_of_the_class_is_not_a_student(
    course, tmp_path, rows, around, names
):
    if rows:
        with_roster(course, *rows)
    elif names[0] != "ana":
        names = (names[0], MOODLE.format("bob", 6, "_"))
    members = [(f"{around}{name}/ps2.ipynb", notebook(course, mark="x"), FRIDAY) for name in names]
    found = collect(course, "ps2", pack(tmp_path / "ps2.zip", [*members, ("a.txt", b"", FRIDAY)]))
    assert (found.new, found.left_out) == (2, [])
    assert len(found.remarks) == bool(around)
    students = {one.student for one in find(course, "ps2")[0]}
    assert students == ({"ana", "bob"} if rows or names[0] == "ana" else {"Ana Núñez", "bob"})


def test_nested_zips_empty_attempts_and_future_times(course, tmp_path):
    inner = tmp_path / "inner.zip"
    for _ in range(2):
        data = inner.read_bytes() if inner.exists() else notebook(course, mark="x")
        pack(inner, [("in.zip" if inner.exists() else "ps2.ipynb", data, SATURDAY)])
    box = tmp_path / "box"
    put(box / "ana" / "todo.zip", inner.read_bytes())
    pack(inner, [])
    put(box / "bob" / "todo.zip", inner.read_bytes())
    exchange(box, "eva", "first", course)
    (
        exchange(box, "eva", "", course, when="2026-03-06 18:30:00.000000 UTC") / "ps2.ipynb"
    ).write_bytes(b"")
    put(box / "zoe" / "ps2.ipynb", notebook(course, mark="z"), (2099, 1, 1, 0, 0, 0))
    found = collect(course, "ps2", box)
    # The time at which the zip arrived counts, not the times inside the zip.
    assert collected(course, "ana") == ("x", utc(FRIDAY))
    assert collected(course, "eva")[0] == "first"
    assert [sentence.rpartition("/")[2] for sentence in found.left_out] == [
        "bob: there is no notebook among what bob handed in (todo.zip).",
        f"ps2.ipynb: {REASONS['empty']['en']} (--language en collects it, for a page that says so).",
    ]
    assert any("has a time that was not yet, 2099-01-01" in remark for remark in found.remarks)
    assert not collected(course, "zoe")[1].startswith("2099")
