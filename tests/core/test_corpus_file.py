"""read_pairs on files of every shape."""

import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn._lines import MAX_LINE, lines_of
from attn.corpus import Pair, read_pairs
from attn.corpus.pairs_file import MAX_KEPT, PairReader, Problem


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Return a function from bytes to (pairs, problems as text)."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"

    def read(content, **options):
        path.write_bytes(content)
        reader = read_pairs(path, **options)
        pairs = [(pair.source, pair.target) for pair in reader]
        return pairs, [str(problem) for problem in reader.problems]

    return read


def test_files_of_anki_are_read(read):
    content = "\ufeffGo.\tVe.\tCC-BY 2.0 (France) #2877272\r\n\r\nHi!\t¡Hola!\tCC-BY\r\n"
    assert read(content.encode()) == ([("Go.", "Ve."), ("Hi!", "¡Hola!")], [])


def test_files_of_tatoeba_are_read(read):
    content = "1276\tLet's try\t2481\tIntentémoslo\n1277\tHello\t\n"
    assert read(content.encode(), columns=(1, 3)) == (
        [("Let's try", "Intentémoslo")],
        ["line 2: 3 columns between tabs"],
    )
    assert read(b"hola\thello\n", columns=[1, 0])[0] == [("hello", "hola")]


def test_bad_lines_are_reported_with_their_numbers(read):
    content = b"\n".join(
        [
            b"the sky\tel cielo",
            b"no tab",
            b"",
            b"\tel mar",
            b"the sea\t ",
            b"the \xff\tel",
            b"  \t ",
            b"a\tb\xc3",
            b"the sky\tel cielo",
            b"the sky\tlos cielos",
            b"the  sky \t el cielo\tX",
        ]
    )
    assert read(content) == (
        [("the sky", "el cielo"), ("the sky", "los cielos")],
        [
            "line 2: 1 column between tabs",
            "line 4: one side is empty",
            "line 5: one side is empty",
            "line 6: no UTF-8 at byte 4: save it as UTF-8",
            "line 8: no UTF-8 at byte 3: save it as UTF-8",
            "line 9: a pair that was there before",
            "line 11: a pair that was there before",
        ],
    )


@pytest.mark.parametrize("content", [b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf", b" \t \n"])
def test_an_empty_file_has_no_problems(read, content):
    assert read(content) == ([], [])


def test_texts_are_normalised_to_composed_letters_and_single_spaces(read):
    decomposed = "  el   nin\u0303o\u00a0lee\tthe boy  reads "
    assert read(decomposed.encode()) == ([("el niño lee", "the boy reads")], [])


def test_a_byte_order_mark_is_removed_at_the_beginning_only(read):
    pairs, _ = read("\ufeffa\tb\n\ufeffc\td\n".encode())
    assert pairs == [("a", "b"), ("\ufeffc", "d")]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r"])
def test_a_line_may_be_long_but_not_too_long(read, end):
    fits = b"a\t" + b"b" * (MAX_LINE - 2)
    assert read(fits + end)[0] == [("a", "b" * (MAX_LINE - 2))]
    too_long = [f"line 1: longer than {MAX_LINE} bytes"]
    assert read(fits + b"b" + end) == ([], too_long)
    for mark in (b"", b"\xef\xbb\xbf"):
        assert read(mark + fits + end)[0] == [("a", "b" * (MAX_LINE - 2))]
    for n in (1, 2, 3, MAX_LINE - 1, MAX_LINE, MAX_LINE + 1, 3 * MAX_LINE):
        rest = end + b"c\td" if end else b""
        for mark in (b"", b"\xef\xbb\xbf"):
            pairs, problems = read(mark + fits + b"b" * n + rest)
            assert problems == too_long
            assert pairs == ([("c", "d")] if end else [])


def test_a_large_file_is_read_lazily(tmp_path):
    path = tmp_path / "pairs.tsv"
    with open(path, "w") as file:
        file.writelines(f"the number {i}\tel número {i}\n" for i in range(100_000))
    reader = read_pairs(path)
    pairs = iter(reader)
    assert next(pairs) == Pair("the number 0", "el número 0")
    path.write_bytes(path.read_bytes()[:200_000])
    # The first pairs were in the buffer, and no more were read.
    assert 5000 < sum(1 for _ in pairs) < 20_000


def test_problems_are_stored_up_to_a_limit_and_all_counted(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("bad\n" * (MAX_KEPT + 5) + "a\tb\n")
    reader = read_pairs(path)
    assert reader.problems == [] and reader.n_problems == 0
    assert len(list(reader)) == 1
    assert len(reader.problems) == MAX_KEPT == 1000
    assert reader.n_problems == MAX_KEPT + 5
    assert reader.problems[-1] == Problem(MAX_KEPT, "1 column between tabs")


def test_each_iteration_reads_the_file_again(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("bad\na\tb\n")
    reader = read_pairs(str(path))
    assert isinstance(reader, PairReader)
    assert list(reader) == list(reader) == [Pair("a", "b")]
    assert reader.n_problems == len(reader.problems) == 1


cells = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r\ufeff"), max_size=6
)


@given(st.lists(st.lists(cells, max_size=4)), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_line_is_a_pair_a_problem_or_empty(read, lines, end):
    content = "".join("\t".join(row) + end for row in lines)
    pairs, problems = read(content.encode())
    expected, wrong, seen = [], [], set()
    for number, row in enumerate(lines, start=1):
        row = [" ".join(unicodedata.normalize("NFC", cell).split()) for cell in row]
        if not any(row):
            continue
        if len(row) < 2 or not row[0] or not row[1] or tuple(row[:2]) in seen:
            wrong.append(number)
        else:
            seen.add(tuple(row[:2]))
            expected.append(tuple(row[:2]))
    assert pairs == expected
    assert [int(text.split()[1].rstrip(":")) for text in problems] == wrong


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_another_encoding_is_refused_by_name(read, encoding, end):
    text = f"the dog\tel perro{end}the cat\tel gato{end}"
    with pytest.raises(ValueError, match=r"pairs\.tsv: expected text that is saved as UTF-8, got "):
        read(text.encode(encoding))


def test_another_encoding_without_byte_order_mark_and_ascii_gives_no_pair(read):
    pairs, problems = read("狗狗狗狗狗狗狗\t狗狗狗狗狗狗狗\n".encode("utf-16-le"))
    # The second problem is the other byte of the line end.
    assert pairs == [] and len(problems) == 2


def test_lines_with_nul_or_latin_1_are_left_out(read):
    content = b"the d\0g\tel perro\nthe cat\tel gato\nthe boy\tel ni\xf1o\n"
    assert read(content) == (
        [("the cat", "el gato")],
        [
            "line 1: the character NUL at byte 5: take it out, or save it as UTF-8",
            "line 3: no UTF-8 at byte 13: save it as UTF-8",
        ],
    )


def whole_lines(content):
    """Split a text into lines at Python's universal line ends."""
    return [line.removesuffix("\n") for line in io.StringIO(content, newline=None)]


@given(
    st.lists(st.sampled_from(["\r", "\n", "\r\n", "a", "é", "bcd"]), max_size=30), st.integers(1, 5)
)
def test_line_ends_do_not_depend_on_the_blocks_that_are_read(parts, size):
    content = "".join(parts)
    read = io.BytesIO(content.encode()).read
    found = lines_of(lambda n_bytes: read(min(size, n_bytes)), "it")
    assert [line.text for line in found] == whole_lines(content)


@given(st.binary(max_size=60))
def test_random_bytes_raise_no_error(read, content):
    try:
        pairs, problems = read(content)
    except ValueError as error:
        assert "pairs.tsv: expected text that is saved as UTF-8, got " in str(error)
        return
    assert len(pairs) + len(problems) <= len(re.split(rb"\r\n|\n|\r", content))
    for source, target in pairs:
        assert source and target and "\0" not in source + target


def test_an_unreadable_file_is_refused(tmp_path):
    missing = read_pairs(tmp_path / "no.tsv")
    message = "no.tsv: expected a text file that can be read, got No such file or directory$"
    with pytest.raises(ValueError, match=message):
        next(iter(missing))
    with pytest.raises(
        ValueError, match="expected a text file that can be read, got Is a directory$"
    ):
        list(read_pairs(tmp_path))


@pytest.mark.parametrize(
    "columns, message",
    [
        ((0, 0), r"two different columns, got \(0, 0\)"),
        ((0,), r"two columns, got \(0,\)"),
        ((0, 1, 2), r"two columns, got \(0, 1, 2\)"),
        (1, "two columns, got 1"),
        ((0, -1), "at least 0, got -1"),
        ((0, 1.5), r"an integer, got 1\.5"),
    ],
)
def test_invalid_columns_are_refused(columns, message):
    with pytest.raises(ValueError, match=f"^columns: expected {message}$"):
        read_pairs("pairs.tsv", columns=columns)
