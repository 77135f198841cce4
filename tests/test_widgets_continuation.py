"""`Continuation` without a page: its checks and what it shows on paper; its JavaScript."""

import json
from math import prod
from pathlib import Path

import pytest

from attn_course.widgets import Continuation

END = {"best": [[".", 0.9], ["\n", 0.1]], "next": [None, None]}
TREE = {
    "best": [[" blue", 0.7], [" grey", 0.2]],
    "next": [{"best": [[" today", 0.6], [",", 0.3]], "next": [END, None]}, END],
}
TEXT = {"prompt": "The sky is", "language": "en", "tree": TREE}


def test_the_first_tokens_are_taken_and_another_leads_elsewhere(node):
    script = """import { goOn, nodeAt, tokensOf } from "./continuation.mjs";
    console.log(JSON.stringify([goOn(input, []), goOn(input, [1]), tokensOf(input, [1, 0]),
      nodeAt(input, [0, 1]), goOn(input, [0, 1])]));"""
    written = [[" grey", 0.2], [".", 0.9]]
    assert node(script, TREE) == [[0, 0, 0], [1, 0], written, None, [0, 1]]


def test_a_heading_quotes_whole_words_and_a_token_without_letters_has_a_sign(node):
    script = """import { lastWords, shown } from "./continuation.mjs";
    console.log(JSON.stringify([lastWords("The sky is"), lastWords("one two three", 8),
      ...input.map(shown)]));"""
    assert node(script, [" blue", "\n", " "]) == ["The sky is", "… three", "blue", "⏎", "␣"]


def test_the_fallback_tells_each_step():
    html = Continuation([TEXT], language="en")._html()
    assert "After “The sky is”" in html
    assert '<th scope="row">2</th><td>today 60%</td><td>, 30%</td>' in html
    assert '<th scope="row">3</th><td>. 90%</td><td>⏎ 10%</td>' in html


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"texts": []}, "texts: expected at least one, got none"),
        ({"texts": None}, "texts: expected a list, got None"),
        ({"texts": ["a"]}, r"texts\[0\]: expected a dict of prompt, language, tree, got 'a'"),
        ({"texts": [{"prompt": "a"}]}, r"texts\[0\]: expected a dict of prompt, language, tree"),
        ({"texts": [TEXT | {"tree": None}]}, "tree: expected a dict of best, next, got None"),
        (
            {"texts": [TEXT | {"tree": {"best": [["a", 0.1, 3]], "next": [None]}}]},
            "tree.best: expected a token and its probability",
        ),
        ({"texts": [TEXT | {"prompt": " "}]}, r"texts\[0\].prompt: expected a text, got ' '"),
        ({"texts": [TEXT | {"language": "fr"}]}, "expected es or en, got 'fr'"),
        (
            {"texts": [TEXT | {"tree": {"best": [["a", 0.1], ["b", 0.2]], "next": [None] * 2}}]},
            "tree.best: expected probabilities, the largest first",
        ),
        (
            {"texts": [TEXT | {"tree": {"best": [["a", 0.1]], "next": []}}]},
            r"tree.next: expected 1, one per token, got \[\]",
        ),
        ({"choices": [0, 1, 0]}, r"choices: expected a way through the tree, got \[0, 1, 0\]"),
        ({"choices": 0}, "choices: expected a list of whole numbers, got 0"),
        ({"choices": [2]}, "choices: expected a whole number from 0 to 1, got 2"),
        ({"step": 4}, "step: expected a whole number from 0 to 3, got 4"),
        ({"text": 1}, "text: expected a whole number from 0 to 0, got 1"),
    ],
)
def test_what_does_not_fit_is_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        Continuation(**{"texts": [TEXT], **bad})


def test_the_exercise_of_the_figure_is_judged_by_what_was_written(node):
    """One touch, and the text must be more probable than the greedy one of as many tokens."""
    worse = {"best": [["!", 0.6], ["?", 0.4]], "next": [None, None]}
    sure = {"best": [["!", 0.9], ["?", 0.1]], "next": [None, None]}
    tree = {"best": [["a", 0.5], ["b", 0.4]], "next": [worse, sure]}
    script = """import { comparedWithGreedy } from "./continuation.mjs";
    console.log(JSON.stringify(input.choices.map((choices) => comparedWithGreedy(input.tree, choices))));"""
    choices = [[], [0, 0], [1], [1, 1], [0, 1], [1, 0]]
    none, greedy, short, several, last, right = node(script, {"tree": tree, "choices": choices})
    assert none == greedy == ["none"] and short == last == ["short"]
    assert several == ["several", {"touches": 2}]
    assert right[0] == "right" and right[1]["ratio"] == pytest.approx(0.4 * 0.9 / (0.5 * 0.6))
    tree["best"] = [["a", 0.7], ["b", 0.3]]
    ((verdict, values),) = node(script, {"tree": tree, "choices": [[1, 0]]})
    assert verdict == "worse" and values["ratio"] == pytest.approx(0.3 * 0.9 / (0.7 * 0.6))
    assert (values["taken"], values["best"], values["tokens"]) == (0.3, 0.7, 2)


def test_two_of_the_stored_beginnings_have_a_text_more_probable_than_the_greedy_one():
    path = Path(__file__).resolve().parents[1] / "notebooks" / "data" / "modern.json"
    texts = json.loads(path.read_text(encoding="utf-8"))["writing"]["texts"]

    def shares(node, first):
        """Yield the probabilities of what is written after a choice, and then greedily."""
        while node:
            yield node["best"][first][1]
            node, first = node["next"][first], 0

    def has_one(tree):
        node = tree
        while node:
            greedy = list(shares(node, 0))
            for i in range(1, len(node["best"])):
                other = list(shares(node, i))
                if 1 < len(other) <= len(greedy) and prod(other) > prod(greedy[: len(other)]):
                    return True
            node = node["next"][0]
        return False

    assert sum(has_one(told["tree"]) for told in texts) == 2
