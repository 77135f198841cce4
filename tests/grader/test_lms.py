"""Tables: the roster, and the files that Moodle and Canvas export and import."""

import csv

import pytest

from grader.__main__ import main
from grader.course import CourseError
from grader.gradebook import enter_names, open_gradebook, record
from grader.lms import import_roster
from grader.roster import Roster
from grader.tables import escaped, read_table, write_table

MOODLE = """\
"First name",Surname,"ID number",Institution,"Email address","Assignment: ps1 (Real)"
Pat,O'Brien,20260001,,pat@x.org,-
"Ana, la mayor",Núñez,20260002,,ana@x.org,85.00
"""
WORKSHEET = """\
Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum Grade"
"Participant 501","Ana Núñez",20260002,ana@x.org,"Submitted for grading",,100.00
"Participant 502","Zoe Doe",20260003,zoe@x.org,"No submission",,100.00
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,ps1 (4711)
,,,,,Manual Posting
    Points Possible,,,,,100
"O'Brien, Pat",900,S1,pat,Monday,85
"Student, Test",999,,843b2ebf97,Monday,
"""


def table(course, text, name="table.csv"):
    path = course.folder.parent / name
    path.write_text(text, encoding="utf-8")
    return path


def rows(course):
    return {person.id: person for person in Roster.of(course)}


def test_a_worksheet_of_moodle_adds_students_and_ids_to_a_roster(course, capsys):
    command = ["roster", str(course.folder), "--from"]
    assert main([*command, str(table(course, MOODLE))]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{course.folder}/roster.csv: 2 new, 0 known.\n")
    assert "Columns that were not read: Institution, Assignment: ps1 (Real).\n2 students" in said
    pat, ana = rows(course).values()
    assert (pat.id, pat.last_name, pat.first_name) == ("20260001", "O'Brien", "Pat")
    assert (ana.first_name, ana.email) == ("Ana, la mayor", "ana@x.org")
    with open_gradebook(course.config("en")) as book:
        assert book.find_student("20260001").last_name == "O'Brien"
    assert main([*command, str(table(course, WORKSHEET))]) == 0
    assert rows(course)["20260002"].moodle_id == "501"
    zoe = rows(course)["20260003"]
    assert (zoe.first_name, zoe.last_name, zoe.moodle_id) == ("Zoe", "Doe", "502")
    later = WORKSHEET.replace("501", "601")
    assert main([*command, str(table(course, later))]) == 0
    assert rows(course)["20260002"].moodle_id == "501 601"
    assert len(rows(course)) == 3


def test_an_import_from_canvas_keeps_existing_entries_of_the_roster(course):
    (course.folder / "roster.csv").write_text("id,canvas_id,user\npob,900,pob-account\n")
    assert import_roster(course, table(course, CANVAS))[1:3] == (0, 1)
    (pat,) = rows(course).values()
    assert (pat.id, pat.user) == ("pob", "pob-account")
    assert (pat.last_name, pat.first_name, pat.group) == ("O'Brien", "Pat", "Monday")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("name\nana\n", "or a column id; its columns are name."),
        ("id,first_name\n,Ana\n", "line 2: expected an id of letters"),
        ("id\nana\nbob\nana\n", "lines 2 and 4 are both ana."),
        ("Lista\n\nid,email\nana,\nANA,\n", "lines 4 and 5 are both ANA."),
        ("id\n../ana\n", "line 2: expected an id of letters, digits and .@+-_, got '../ana'."),
    ],
)
def test_a_table_that_is_no_roster_gives_an_error_of_one_line(course, text, wanted):
    with pytest.raises(CourseError) as caught:
        import_roster(course, table(course, text))
    assert wanted in str(caught.value) and "\n" not in str(caught.value)
    assert not (course.folder / "roster.csv").exists()


def test_a_missing_or_wrongly_encoded_table_gives_an_error_of_one_line(course, capsys):
    path = table(course, "")
    for data, said in ((b"id\nana\x81\n", "not in UTF-8"), (b"PK\x03\x04", "a file of Excel")):
        path.write_bytes(data)
        assert main(["roster", str(course.folder), "--from", str(path)]) == 1
        assert f"is {said}: save it as “CSV UTF-8”.\n" in capsys.readouterr().err
    assert main(["roster", str(course.folder)]) == 1
    assert capsys.readouterr().err.startswith("There is no ")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("id;last_name;first_name;email\nana;Núñez;Ana;a@x.org\n", "utf-8-sig"),
        ("Last Name,First Name,E-mail,ID\nNúñez,Ana,a@x.org,ana\n", "utf-8"),
        ("Apellidos;Nombre;Correo;Usuario\r\nNúñez;Ana;a@x.org;ana\r\n", "cp1252"),
        (
            "sep=;\r\nMatrícula;Alumno/a;Correo electrónico\r\nana;Núñez, Ana;a@x.org\r\n",
            "utf-8-sig",
        ),
        (
            '"Last Name"\t"First Name"\t"Username"\t"Email"\n"Núñez"\t"Ana"\t"ana"\ta@x.org\n',
            "utf-16",
        ),
        ("Apellido(s),Nombre,Número de ID,Dirección de correo\rNúñez,Ana,ana,a@x.org\r", "utf-8"),
        ("Lista de 2026\n\nApellidos;Nombre;Usuario;Mail\nNúñez;Ana;ana;a@x.org\n", "utf-8"),
        ("DNI;Apellidos y nombre;Mail\nana;Nún\u0303ez, Ana;a@x.org\n", "utf-8"),
    ],
)
def test_tables_from_common_spreadsheet_programs_are_read(course, text, encoding):
    path = table(course, "")
    path.write_bytes(text.encode(encoding))
    assert import_roster(course, path)[3] == []
    ana = rows(course)["ana"]
    assert (ana.last_name, ana.first_name, ana.email) == ("Núñez", "Ana", "a@x.org")
    # Such a program may have saved the roster itself.
    (course.folder / "roster.csv").write_bytes(text.encode(encoding))
    assert rows(course)["ana"] == ana


def test_two_surnames_in_two_columns_are_both_kept(course):
    import_roster(course, table(course, "Código,Apellido 1,Apellido 2,Nombre\na,Núñez,Peña,Ana\n"))
    assert rows(course)["a"].last_name == "Núñez Peña"


FORMULAS = ["=HYPERLINK(1)", "+1+1", "-1-1", "@SUM(A1)", "\tx", "\rx", "-", "+nan", "=1"]
PLAIN = ["-3", "+3.5", "-1e5", "O'Brien", "a=b", "'t Hooft", "", "Núñez, Ana"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_are_escaped_when_written_and_unescaped_when_read(tmp_path, cell):
    assert escaped(cell) == f"'{cell}".replace("\r", "\n")
    write_table(tmp_path / "t.csv", ["a", "b"], [{"a": cell, "b": "x"}])
    assert read_table(tmp_path / "t.csv")[0]["a"].strip() == cell.strip()


@pytest.mark.parametrize("cell", PLAIN)
def test_numbers_and_names_are_not_escaped(cell):
    assert escaped(cell) == cell


@pytest.fixture
def marked(course):
    """A course with two students who handed in, one with a hostile name, and one who did not."""
    (course.folder / "roster.csv").write_text(
        "id,last_name,first_name,email,group,canvas_id\n"
        "pat,O'Brien,Pat,pat@x.org,Monday,900\n"
        'eve,"=HYPERLINK(""http://x"")",@SUM(A1),,+1+1,901\n'
        "zoe,Doe,Zoe,zoe@x.org,Monday,902\n",
        encoding="utf-8",
    )
    config = course.config("es")
    enter_names(config, Roster.of(course))
    for student in ("pat", "eve"):
        record(config, student, "ps2", {"attend-once": 12.5}, set(), None)
    return course


def exported(course, capsys, *arguments):
    assert main(["csv", str(course.folder), "ps2", *arguments]) == 0
    with open(capsys.readouterr().out.strip(), newline="", encoding="utf-8-sig") as file:
        # Excel needs a byte-order mark.
        assert file.read(0) == "" and file.buffer.peek(3)[:3] == b"\xef\xbb\xbf"
        return list(csv.reader(file))


def test_the_export_for_moodle(marked, capsys):
    header, *lines = exported(marked, capsys, "--format", "moodle", "--column", "Set 2")
    assert header == ["ID number", "Email address", "Last name", "First name", "Set 2"]
    assert sorted(lines) == [
        ["eve", "", '\'=HYPERLINK("http://x")', "'@SUM(A1)", "12.5"],
        ["pat", "pat@x.org", "O'Brien", "Pat", "12.5"],
        ["zoe", "zoe@x.org", "Doe", "Zoe", ""],
    ]


def test_the_export_for_canvas(marked, capsys):
    header, points, *lines = exported(marked, capsys, "--format", "canvas")
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps2"]
    assert points == ["    Points Possible", "", "", "", "", "100"]
    assert sorted(lines) == [
        ['\'=HYPERLINK("http://x"), @SUM(A1)', "901", "", "eve", "'+1+1", "12.5"],
        ["Doe, Zoe", "902", "", "zoe", "Monday", ""],
        ["O'Brien, Pat", "900", "", "pat", "Monday", "12.5"],
    ]


def test_the_plain_table_has_no_formulas(marked, capsys):
    header, *lines = exported(marked, capsys)
    cells = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    assert cells["eve"]["last_name"] == '\'=HYPERLINK("http://x")'
    assert (cells["pat"]["total"], cells["zoe"]["total"]) == ("12.5", "")
    assert cells["pat"]["slip_days"] == ""
