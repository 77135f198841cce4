"""attn.applications.translation.lines: texts of any length, read a few lines at a time."""

import dataclasses

import pytest

from attn._lines import read_lines
from attn.applications.translation import TRAINING, Translator, lines
from attn.applications.translation.lines import translate_lines
from attn.corpus import Pair
from tests.core.helpers import refuses

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 16}
KNOWN = ["the red house", "the moon", "the house and the moon"]


@pytest.fixture(scope="module")
def translator():
    """A translator with a little training; the tests do not depend on the words it writes."""
    training = dataclasses.replace(TRAINING, steps=60, warmup_steps=10, device="cpu")
    return Translator.fit([Pair(text, text) for text in KNOWN], sizes=SIZES, training=training)


def test_each_line_gives_one_translation_in_order(translator, monkeypatch):
    # Fewer lines are read at once than there are.
    monkeypatch.setattr(lines, "AT_ONCE", 3)
    texts = [f"{KNOWN[0]}\n", f" {KNOWN[1]} ", "\n", "the ornithopter\n", "", KNOWN[2], KNOWN[1]]
    found = list(translate_lines(translator, texts))
    own = {text: translator.translate(text) for text in KNOWN}
    right = [own[KNOWN[0]], own[KNOWN[1]], "", "", "", own[KNOWN[2]], own[KNOWN[1]]]
    assert [line.translation for line in found] == right and own[KNOWN[0]] != own[KNOWN[1]]
    assert [bool(line.n_tokens) for line in found] == list(map(bool, right))
    problems = [line.problem for line in found]
    assert problems.pop(3) == "text: expected words of the vocabulary, got 'ornithopter'"
    assert not any(problems)
    assert list(translate_lines(translator, [])) == []


def test_a_line_that_is_no_text_gives_an_empty_translation(translator, tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(
        b"\xef\xbb\xbf" + f"{KNOWN[0]}\r{KNOWN[1]}\r\n\n".encode() + b"caf\xe9\nthe\0moon\n"
    )
    found = list(translate_lines(translator, read_lines(path)))
    assert [line.translation for line in found] == [
        translator.translate(KNOWN[0]),
        translator.translate(KNOWN[1]),
        "",
        "",
        "",
    ]
    assert [line.problem.partition(":")[0] for line in found] == [
        "",
        "",
        "",
        "no UTF-8 at byte 3",
        "the character NUL at byte 3",
    ]


def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path):
    path = tmp_path / "none.txt"
    message = f"{path}: expected a text file that can be read, got No such file or directory"
    with refuses(message):
        next(read_lines(path))


def test_the_search_and_the_number_of_tokens_are_those_of_the_translator(translator, monkeypatch):
    asked = []
    monkeypatch.setattr(translator, "_write", lambda *given: asked.append(given) or [[5, 6, 3]])
    (line,) = translate_lines(translator, [KNOWN[1]], beam_width=4, length_penalty=0.6)
    assert list(translate_lines(translator, [KNOWN[1]])) == [line]
    sources = [translator.source_ids(KNOWN[1])]
    # The second search is greedy, because no width was given.
    assert asked == [(sources, 4, 0.6), (sources, 1, 0.0)]
    assert line.n_tokens == 3 and line.translation == translator.target.decode([5, 6])


def test_lines_are_translated_before_the_whole_text_is_read(translator, monkeypatch):
    """The text is endless, so a text larger than memory can be translated too."""
    assert lines.AT_ONCE <= 1024
    monkeypatch.setattr(lines, "AT_ONCE", 4)
    read = []

    def endless():
        while True:
            read.append(KNOWN[0])
            yield KNOWN[0]

    translated = translate_lines(translator, endless())
    for _ in range(10):
        next(translated)
    assert len(read) == 12
