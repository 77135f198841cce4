"""`Quiz`: questions with feedback for every option; `load_quiz` reads them from a file."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import traitlets

from attn._checks import argument_error
from attn_course.exercises.kept import answered, keep_answers
from attn_course.language import LANGUAGES
from attn_course.widgets._base import Widget, escape
from attn_course.widgets._source import module, stylesheet

FOLDER = Path(__file__).parent / "quizzes"

TEXT = {
    "es": {"answers": "Ver las respuestas", "right": "Correcto.", "wrong": "No es esa."},
    "en": {"answers": "Show the answers", "right": "Correct.", "wrong": "Not that one."},
}


class Quiz(Widget):
    """Ask questions that have one right answer, and say something about every answer.

    In texts, ``d_k`` is set as a symbol with its subscript, ``*this*`` as emphasis and
    text between backticks as code.

    Parameters
    ----------
    questions : list of dict
        From `load_quiz`, or each ``{"id": str, "prompt": {"es": str, "en": str}, "options": [...]}`` with two or
        more options ``{"text": {...}, "correct": bool, "feedback": {...}}``, one of them correct.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    questions : list of dict
        The questions in one language: where there were two texts, there is one.
    answers : dict of str to int
        The option last checked, by question id. In JupyterLab they are kept from one day to the next.
    score : int
        How many of those are right.

    Raises
    ------
    ValueError
        If a question lacks something, naming the question and what it lacks.

    Examples
    --------
    >>> quiz = Quiz(load_quiz("03_self_attention"))
    >>> quiz.score
    0
    """

    _stem = "quiz"
    _state = ("questions", "answers", "score")
    _esm = module(_stem)
    _css = stylesheet()

    questions = traitlets.List().tag(sync=True)
    answers = traitlets.Dict().tag(sync=True)
    score = traitlets.Int(0).tag(sync=True)

    def __init__(self, questions, language=None):
        questions = check_questions(questions)
        super().__init__(language)
        self.questions = [_in_language(question, self.language) for question in questions]
        # Answers are kept by their words: an id is one of its chapter alone, and options may change places.
        self._asked, kept = {each["id"]: each for each in questions}, answered()
        for name, question in self._asked.items():
            chosen = kept.get(question["prompt"]["es"])
            for number, option in enumerate(question["options"]):
                if option["text"]["es"] == chosen:
                    self.answers = {**self.answers, name: number}
                    self.score += option["correct"]
        self.observe(self._keep, "answers")

    def _keep(self, change):
        asked = ((self._asked[name], number) for name, number in change["new"].items())
        keep_answers({q["prompt"]["es"]: q["options"][number]["text"]["es"] for q, number in asked})

    def _fallback(self):
        text = TEXT[self.language]
        parts = []
        for number, question in enumerate(self.questions, 1):
            count = f"{number}. " if len(self.questions) > 1 else ""
            options = [_rich(option["text"]) for option in question["options"]]
            answers = [
                f"<strong>{text['right' if option['correct'] else 'wrong']}</strong> "
                f"{_rich(option['feedback'])}"
                for option in question["options"]
            ]
            parts.append(
                f"<p><strong>{count}{_rich(question['prompt'])}</strong></p>{_list(options)}"
                f"<details><summary>{text['answers']}</summary>{_list(answers)}</details>"
            )
        return "".join(parts)

    def __repr__(self):
        names = [question["id"] for question in self.questions]
        return f"Quiz({names!r}, language={self.language!r})"


def load_quiz(chapter, *names):
    """Return the questions of a chapter, all of them or those named, in the order named.

    Parameters
    ----------
    chapter : str
        The chapter's file name without its ending, as "03_self_attention".
    *names : str
        Question ids.

    Raises
    ------
    ValueError
        If there is no such chapter or question, or the file is not a good quiz.
    """
    chapters = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if chapter not in chapters:
        raise argument_error("chapter", f"one of {chapters}", repr(chapter))
    path = FOLDER / f"{chapter}.toml"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from error
    questions = [
        {
            **{k: v for k, v in question.items() if k != "option"},
            "options": question.get("option", []),
        }
        for question in content.get("question", [])
    ]
    by_id = {question["id"]: question for question in check_questions(questions)}
    unknown = [name for name in names if name not in by_id]
    if unknown:
        raise argument_error("names", f"some of {list(by_id)}", unknown)
    return [by_id[name] for name in names] if names else questions


def check_questions(questions):
    """Return a list of `questions` if each has all it needs; otherwise raise ``ValueError``."""
    questions = list(questions)
    if not questions:
        raise argument_error("questions", "one or more questions", repr(questions))
    seen = set()
    for question in questions:
        if not isinstance(question, Mapping):
            raise argument_error(
                "questions", "mappings, each with an id, a prompt and options", repr(question)
            )
        name = question.get("id")
        if not isinstance(name, str) or not name or name in seen:
            raise argument_error("id", "a name no other question has", repr(name))
        seen.add(name)
        _check_text(f"{name}: prompt", question.get("prompt"))
        options = question.get("options", [])
        if len(options) < 2:
            raise argument_error(f"{name}: options", "two or more", len(options))
        for number, option in enumerate(options, 1):
            _check_text(f"{name}: text of option {number}", option.get("text"))
            _check_text(f"{name}: feedback of option {number}", option.get("feedback"))
            if not isinstance(option.get("correct"), bool):
                raise argument_error(
                    f"{name}: correct of option {number}",
                    "true or false",
                    repr(option.get("correct")),
                )
        correct = sum(option["correct"] for option in options)
        if correct != 1:
            raise argument_error(f"{name}: options", "exactly one correct", correct)
    return questions


def _check_text(name, text):
    ok = isinstance(text, dict) and all(
        isinstance(text.get(key), str) and text[key].strip() for key in LANGUAGES
    )
    if not ok:
        raise argument_error(name, f"a text in each of {LANGUAGES}", repr(text))


def _in_language(question, language):
    options = [
        {**option, "text": option["text"][language], "feedback": option["feedback"][language]}
        for option in question["options"]
    ]
    return {**question, "prompt": question["prompt"][language], "options": options}


def _rich(text):
    return re.sub(r"`([^`]+)`|\*([^*\s][^*]*)\*|\b([a-zA-Z])_(\w+)", _mark_up, escape(text))


def _mark_up(match):
    code, emphasis, letter, subscript = match.groups()
    if code:
        return f"<code>{code}</code>"
    return f"<em>{emphasis}</em>" if emphasis else f"<i>{letter}</i><sub>{subscript}</sub>"


def _list(items):
    return '<ol type="a">' + "".join(f"<li>{item}</li>" for item in items) + "</ol>"
