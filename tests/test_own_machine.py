"""The learner's code gives PyTorch's translations, and the result says who wrote which part."""

import html
import importlib
import itertools
import re
import sys
import time
import types
from pathlib import Path

import jupytext
import numpy as np
import pytest

import attn_course
from attn import reference
from attn_course import own_machine
from attn_course.drawings.parts import PARTS
from attn_course.exercises import kept
from attn_course.exercises.kept import USED
from attn_course.in_page.plan import EXERCISE
from attn_course.in_page.session import Session
from attn_course.own_machine import parts
from attn_course.own_machine.translator import words_of

SOURCES = Path(__file__).resolve().parents[1] / "notebooks" / "src"
SENTENCE = "the woman gave the red book to the boy"
RIGHT = "la mujer dio el libro rojo al niño"
SOFTMAX = (
    "def softmax(scores):\n"
    "    e = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))\n"
    "    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)\n"
)
SOLUTIONS = [
    pytest.param(name, function, id=f"{name}-{number}")
    for chapter in range(2, 10)
    for number, (name, function) in enumerate(
        importlib.import_module(f"tests.solutions.ch{chapter:02}").CORRECT
    )
    if name in USED
]


@pytest.fixture(autouse=True)
def english(monkeypatch):
    """Use English, and no folder in which solutions are kept."""
    attn_course.set_language("en")
    kept.hand_over(None)
    for name in ("JPY_SESSION_NAME", "ATTN_SOLVED"):
        monkeypatch.delenv(name, raising=False)
    yield
    attn_course.set_language("es")
    kept.hand_over(None)


@pytest.fixture(scope="module")
def worked():
    """The code of the worked solution of each exercise in the chapters."""
    found = {}
    for path in sorted(SOURCES.glob("0[2-9]_*.md")):
        for cell in jupytext.read(path, fmt="md:myst").cells:
            asked = EXERCISE.search(cell.source)
            if asked and "hide-cell" in cell.metadata.get("tags", ()):
                found[asked[1]] = cell.source
    return found


@pytest.fixture(scope="module")
def sentences():
    """Return sentences of the course's grammar, with the translations by the PyTorch model."""
    from attn.applications.translation import Translator
    from attn_course.grammar import generate

    short = (p.source for p in generate(seed=11) if len(p.source.split()) <= 12)
    found = [*dict.fromkeys(itertools.islice(short, 150))]
    return dict(zip(found, Translator.pretrained("grammar").translate(found), strict=True))


def test_translations_are_those_of_the_translator_in_pytorch(sentences):
    lengths = {len(words_of(sentence)) for sentence in sentences}
    assert min(lengths) <= 4
    # All sentences are in one batch, so padding is masked.
    assert max(lengths) == 12
    assert own_machine.translate(*sentences).targets == tuple(sentences.values())


def test_self_attention_adds_biases_and_rotates_queries_and_keys():
    rng = np.random.default_rng(0)
    x, causal = rng.normal(size=(2, 5, 8)), np.tri(5, dtype=bool)
    w = {f"w_{letter}": rng.normal(size=(8, 8)) for letter in "qkvo"}
    w |= {f"b_{letter}": rng.normal(size=8) for letter in "qkvo"}
    query, key, value = (x @ w[f"w_{letter}"] + w[f"b_{letter}"] for letter in "qkv")
    heads = [
        reference.scaled_dot_product_attention(
            reference.rotary(query[..., own]),
            reference.rotary(key[..., own]),
            value[..., own],
            causal,
        )[0]
        for own in (slice(0, 4), slice(4, 8))
    ]
    expected = np.concatenate(heads, axis=-1) @ w["w_o"] + w["b_o"]
    mask = np.broadcast_to(causal, (2, 5, 5))
    found = parts.Parts({}).self_attention(x, w, 2, mask, 10000.0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_with_all_exercises_solved_no_part_is_lent(worked, sentences):
    some = [*sentences][::15]
    found = own_machine.translate(*some, functions=worked)
    assert found.targets == tuple(sentences[one] for one in some)
    assert found.yours == tuple(USED)
    assert (found.lent, found.refused) == ((), ())


@pytest.mark.parametrize(("name", "function"), SOLUTIONS)
def test_every_correct_solution_of_a_part_translates(name, function):
    found = own_machine.translate("she slept", functions={name: function})
    assert found.targets == ("ella durmió",)
    assert found.yours == (name,)
    assert (found.idle, found.refused) == ((), ())


STYLES = {
    "a class": (
        (
            "class Softmax:\n"
            "    def __call__(self, scores):\n"
            "        e = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))\n"
            "        return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)\n"
            "softmax = Softmax()\n"
        ),
        "softmax",
    ),
    "single precision": (
        SOFTMAX.replace("return ", "return np.float32(1) * np.float32(").rstrip() + ")\n",
        "softmax",
    ),
    "what tries it out asks for what is not there": (
        (
            f"import matplotlib.figure as nowhere\n{SOFTMAX}nowhere.plot(softmax(tokens))\n"
            "assert check('softmax', softmax), shown\n"
        ),
        "softmax",
    ),
    "views": (
        (
            "def split_heads(x, n_heads):\n"
            "    return np.moveaxis(x.reshape(*x.shape[:-1], n_heads, -1), -2, -3)\n"
        ),
        "split_heads",
    ),
    "lists within, and another exercise that is no part": (
        (
            "def look(words, vocabulary):\n"
            "    return [cosine_similarity(np.eye(2), np.eye(2)).any() and [list(vocabulary).index(w)\n"
            "            if w in vocabulary else 1 for w in row] for row in np.atleast_2d(words)]\n"
            "def embed(tokens, vocabulary, table):\n"
            "    rows = table[np.array(look(tokens, vocabulary))].reshape(*tokens.shape, -1)\n"
            "    return np.where((tokens == '<pad>')[..., None], 0, rows)\n"
        ),
        "embed",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_right_functions_translate_in_any_style(style):
    code, name = STYLES[style]
    found = own_machine.translate(SENTENCE, functions={name: code})
    assert found.targets == (RIGHT,)
    assert (found.yours, found.refused) == ((name,), ())


def test_functions_may_call_each_other_with_other_signatures(worked):
    """The functions rename arguments, add some and leave some out."""
    own = dict(worked)
    own["softmax"] = (
        "def softmax(z, axis=-1, *, scale=1):\n"
        "    z = z * scale\n"
        "    e = np.exp(z - np.maximum(z.max(axis, keepdims=True), -1e300))\n"
        "    return e / np.maximum(e.sum(axis, keepdims=True), 1e-300)\n"
    )
    own["scaled_dot_product_attention"] = (
        "def scaled_dot_product_attention(q, k, v, m=None, only=False):\n"
        "    s = q @ k.mT if m is None else np.where(m, q @ k.mT, -np.inf)\n"
        "    w = softmax(z=s.mT, axis=-2, scale=q.shape[-1] ** -0.5).mT\n"
        "    return w @ v if only else (w @ v, w)\n"
    )
    own["cross_attention"] = (
        "def cross_attention(x, m, w_q, w_k, w_v, real=None):\n"
        "    real = None if real is None else real[..., None, :]\n"
        "    q, k, v = x @ w_q, m @ w_k, m @ w_v\n"
        "    _, w = scaled_dot_product_attention(q, k, m=real, v=v)\n"
        "    return scaled_dot_product_attention(q, k, v, real, only=True), w\n"
    )
    found = own_machine.translate(SENTENCE, functions=own)
    assert found.targets == (RIGHT,)
    assert (found.yours, found.refused) == (tuple(USED), ())
    for name in ("multi_head_attention", "cross_attention"):  # each brings its own helpers
        own[name] = own["softmax"] + own["scaled_dot_product_attention"] + own[name]
    found = own_machine.translate(SENTENCE, functions=own)
    assert found.targets == (RIGHT,)
    assert (found.idle, found.refused) == (("scaled_dot_product_attention",), ())
    assert "nothing calls it here" in repr(found)


def test_a_wrong_function_is_named_and_not_its_caller():
    own = {
        "softmax": "right = reference.softmax\ndef softmax(scores):\n"
        "    return right(scores).round(3 if scores.shape == (2, 4, 5) else 15)\n",
        "scaled_dot_product_attention": "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    s = q @ k.mT / np.sqrt(q.shape[-1])\n"
        "    w = softmax(s if mask is None else np.where(mask, s, -np.inf))\n"
        "    return w @ v, w\n",
    }
    # The check of `softmax` has no scores of this shape, but that of attention does.
    wrong = own["softmax"].replace("(2, 4, 5)", "(2, 3, 5)")
    found = own_machine.translate(SENTENCE, functions=own | {"softmax": wrong})
    assert found.yours == ("scaled_dot_product_attention",)
    (sentence,) = found.refused
    assert sentence.startswith("Your `softmax` passed its check, but on arrays of shapes (2, 3, 5)")


def test_parts_call_the_solved_parts(monkeypatch):
    """Solved parts replace the course's functions, also where learners call `reference.softmax`."""
    attention = (
        "def scaled_dot_product_attention(query, key, value, mask=None):\n"
        "    scores = query @ key.mT / np.sqrt(query.shape[-1])\n"
        "    if mask is not None:\n"
        "        scores = np.where(mask, scores, -np.inf)\n"
        "    before = len(seen)\n"
        "    weights = reference.softmax(scores)\n"
        "    theirs.add(len(seen) > before)\n"
        "    return weights @ value, weights\n"
    )
    counted = SOFTMAX.replace("    e =", "    seen.append(scores.ndim)\n    e =", 1)
    seen, theirs = [], set()
    monkeypatch.setitem(sys.modules, "told", types.SimpleNamespace(seen=seen, theirs=theirs))
    for functions in ({}, {"scaled_dot_product_attention": attention}):
        own = {
            name: f"from told import *\n{code}"
            for name, code in ({"softmax": counted} | functions).items()
        }
        seen.clear()
        found = own_machine.translate(SENTENCE, functions=own)
        assert found.targets == (RIGHT,)
        assert set(found.yours) == own.keys()
        # Softmax also gets the scores of all heads, which have four axes.
        assert 4 in seen
    assert theirs == {True}


class Clock:
    """A clock that only `sleep` advances, so that a busy machine does not make functions slow."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(parts, "time", clock)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock


def test_a_slow_function_is_named_and_not_its_caller(worked, clock):
    own = {"scaled_dot_product_attention": worked["scaled_dot_product_attention"]}
    own["softmax"] = SOFTMAX.replace("    e =", "    __import__('time').sleep(5)\n    e =", 1)
    found = own_machine.translate(SENTENCE, functions=own)
    assert found.targets == (RIGHT,)
    assert found.yours == ("scaled_dot_product_attention",)
    assert "Your `softmax` is right but too slow" in found.refused[0]


WRONG = {
    "it does not pass": ("    return scores", "no longer passes the check"),
    "it cannot run": ("    return helper(scores)", "no longer passes the check"),
    "its text is no code": (
        "    return )",
        "The code of your `softmax` cannot be run: SyntaxError",
    ),
    "it stops": ("    raise SystemExit", "The code of your `softmax` cannot be run: SystemExit"),
    "it is wrong where the check did not look": (
        "    if scores.shape[-1] > 20: return right(scores).round(1)\n    return right(scores)",
        "passed its check, but on arrays of shapes (1, 691) it does not give what the course's does",
    ),
    "it fails where the check did not look": (
        "    if scores.shape[-1] > 20: raise OSError('too many.')\n    return right(scores)",
        "passed its check but fails on arrays of shapes (1, 691): OSError: too many.",
    ),
    "it is slow": (
        "    if scores.shape[-1] > 20: sleep(30)\n    return right(scores)",
        "right but too slow: in this translation it would have needed more than 20 seconds",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_functions_are_left_out_and_named_in_a_sentence(case, clock):
    body, said = WRONG[case]
    code = f"from time import sleep\nright = reference.softmax\ndef softmax(scores):\n{body}\n"
    found = own_machine.translate(SENTENCE, functions={"softmax": code})
    assert found.targets == (RIGHT,)
    assert "softmax" in found.lent
    (sentence,) = found.refused
    assert said in sentence
    assert sentence in html.unescape(re.sub("</?code>", "`", found._repr_html_()))


def test_a_wrong_part_does_not_exclude_a_right_one(worked):
    own = {"softmax": "def softmax(scores):\n    return scores\n"}
    own["scaled_dot_product_attention"] = worked["scaled_dot_product_attention"]
    found = own_machine.translate(SENTENCE, functions=own)
    assert found.yours == ("scaled_dot_product_attention",)
    assert len(found.refused) == 1


def test_the_result_lists_own_and_lent_parts_and_lights_up_the_own_parts(language):
    found = own_machine.translate(SENTENCE, "the zebra slept", functions={"softmax": SOFTMAX})
    told = repr(found).split("\n")
    assert told[0] == f"{SENTENCE} → {RIGHT}"
    unknown, yours, lent = (
        told[2:]
        if language == "en"
        else [
            line.replace("La máquina no conoce", "The machine does not know")
            .replace("Tu código", "Your code")
            .replace("Prestado por el curso", "Lent by the course")
            for line in told[2:]
        ]
    )
    assert unknown == "The machine does not know: zebra."
    assert yours == "Your code: softmax."
    assert lent == f"Lent by the course: {', '.join(name for name in USED if name != 'softmax')}."
    drawn = found._repr_html_()
    lit = set(re.findall(r'class="name[^"]*\blit\b[^"]*"[^>]*>([^<]+)', drawn))
    assert lit == {"softmax"}
    assert 'lit"' not in own_machine.translate(SENTENCE)._repr_html_()
    assert 'lit"' in drawn
    assert {part for each in USED.values() for part in each} <= PARTS.keys()


@pytest.mark.parametrize("sentence", ["", " . ", "the " * 13])
def test_a_sentence_has_one_to_twelve_words(sentence):
    with pytest.raises(ValueError, match=r"^sentence: expected 1 to 12 words, got (0|13)$"):
        own_machine.translate(sentence)


def solve(code):
    """Run a cell as a notebook does; return the value of its last line."""
    return Session("en").run(code)


def test_solutions_are_kept_and_read_only_in_jupyterlab(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    said = repr(solve(f'{SOFTMAX}\ncheck("softmax", softmax)'))
    assert said == "Correct. `softmax` agrees with the reference on all 8 inputs."
    assert kept.solved() == {}
    assert [*tmp_path.iterdir()] == []
    # Jupyter's server sets this variable.
    monkeypatch.setenv("JPY_SESSION_NAME", "03_self_attention.ipynb")
    first, second = (repr(solve(f'{SOFTMAX}\ncheck("softmax", softmax)')) for _ in range(2))
    assert first.startswith(f"{said}\n\nYour function is kept in `{tmp_path / 'attn' / 'solved'}`")
    assert second == said
    assert own_machine.translate(SENTENCE).yours == ("softmax",)
    kept.forget()
    assert own_machine.translate(SENTENCE).yours == ()


def test_kept_code_runs_without_the_rest_of_the_notebook(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTN_SOLVED", str(tmp_path / "solved"))
    cells = []
    shell = types.SimpleNamespace(user_ns={"In": cells})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    session = Session("en")

    def run(code):
        cells.append(code)
        return session.run(code)

    # The learner corrects this function afterwards.
    run("from math import inf\ndef share(e):\n    return e / 1")
    run("smallest = {}\nsmallest.update(sum=1e-300)\nnobody_asks_for = print('this')")
    run("def share(e):\n    return e / np.maximum(e.sum(-1, keepdims=True), smallest['sum'])")
    body = SOFTMAX.replace("e / np.maximum(e.sum(-1, keepdims=True), 1e-300)", "share(e)")
    assert "kept in" in repr(run(f'{body}\ncheck("softmax", softmax)'))
    assert "nobody_asks_for" not in kept.solved()["softmax"]
    assert own_machine.translate(SENTENCE).yours == ("softmax",)
    kept.forget()
    run(f"softmax = None\n{body}")
    # The check runs in a cell of its own.
    assert "kept in" in repr(run('check("softmax", softmax)'))
    assert own_machine.translate(SENTENCE).yours == ("softmax",)
    kept.forget()
    session.namespace["share"] = session.namespace.pop("share")
    # The helper came from another file, so no cell holds it.
    cells[:] = [cell for cell in cells if "def share" not in cell]
    said = run(f'{body}\ncheck("softmax", softmax)')
    assert said
    assert "put all that it needs into the same cell" in repr(said)
    assert kept.solved() == {}
    # The machine does not use this function, wherever its helpers are.
    run("def cosine(a, b):\n    return reference.cosine_similarity(a, b)\n")
    code = "def cosine_similarity(a, b):\n    return cosine(a, b)\n"
    said = repr(run(f"{code}check('cosine_similarity', cosine_similarity)"))
    assert said.startswith("Correct.") and "machine" not in said
    assert kept.solved() == {}
    assert not run('def softmax(scores):\n    return scores\ncheck("softmax", softmax)')
    assert kept.solved() == {}
    assert run(f"import math\n{SOFTMAX}print(math.pi)\nmine = check('softmax', softmax)\nmine")
    assert own_machine.translate(SENTENCE).yours == ("softmax",)
