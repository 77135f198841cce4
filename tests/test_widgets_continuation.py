"""`Continuation` without a page: its checks and what it shows on paper; its JavaScript."""

import json
import re
from math import prod
from pathlib import Path

import pytest
import torch

from attn_course.widgets import Continuation
from tests.refusals import refusals

END = {"best": [[".", 0.9], ["\n", 0.1]], "next": [None, None]}
TREE = {
    "best": [[" blue", 0.7], [" grey", 0.2]],
    "next": [{"best": [[" today", 0.6], [",", 0.3]], "next": [END, None]}, END],
}
TEXT = {"prompt": "The sky is", "language": "en", "tree": TREE}


def test_the_most_probable_tokens_follow_a_choice(node):
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


test_invalid_constructor_arguments_are_refused = refusals(
    ({"texts": []}, "texts: expected at least one, got none"),
    ({"texts": None}, "texts: expected a list, got None"),
    ({"texts": ["a"]}, r"texts\[0\]: expected a dict of prompt, language, tree, got 'a'"),
    ({"texts": [{"prompt": "a"}]}, r"texts\[0\]: expected a dict of prompt, language, tree"),
    (
        {"texts": [TEXT | {"tree": None}]},
        r"texts\[0\].tree: expected a dict of best, next, got None",
    ),
    (
        {"texts": [TEXT | {"tree": {"best": [["a", 0.1, 3]], "next": [None]}}]},
        r"texts\[0\].tree.best: expected a token and its probability",
    ),
    ({"texts": [TEXT | {"prompt": " "}]}, r"texts\[0\].prompt: expected a text, got ' '"),
    ({"texts": [TEXT | {"language": "fr"}]}, r"texts\[0\].language: expected es or en, got 'fr'"),
    (
        {"texts": [TEXT | {"tree": {"best": [["a", 0.1], ["b", 0.2]], "next": [None] * 2}}]},
        r"texts\[0\].tree.best: expected probabilities, the largest first",
    ),
    (
        {"texts": [TEXT | {"tree": {"best": [["a", 0.1]], "next": []}}]},
        r"texts\[0\].tree.next: expected 1, one per token, got \[\]",
    ),
    ({"choices": [0, 1, 0]}, r"choices: expected a way through the tree, got \[0, 1, 0\]"),
    ({"choices": 0}, "choices: expected a list of whole numbers, got 0"),
    ({"choices": [2]}, "choices: expected a whole number from 0 to 1, got 2"),
    ({"step": 4}, "step: expected a whole number from 0 to 3, got 4"),
    ({"took": ["you"]}, "took: expected at most 3 of reader, drawn and ''"),
    ({"text": 1}, "text: expected a whole number from 0 to 0, got 1"),
    of=lambda bad: Continuation(**{"texts": [TEXT], **bad}),
)


STORED = {
    "?text=1&written=1-r2-1&step=2": ([0, 1, 0], 1, ["", "reader", ""]),
    "?text=1&written=2": ([1], 1, [""]),
    "?text=1": ([], 0, []),
}
WAY = {"best": TREE["best"], "next": [TREE["next"][0] | {"next": [END, END]}, END]}


def test_a_url_holds_the_written_text(node):
    """Python and the page read the same; what the page writes it reads again."""
    script = """import { addressOf, stateIn } from "./continuation.mjs";
    const texts = [{ prompt: "a", tree: input.tree }];
    const state = { prompt: "¿Qué & cómo? ", ids: [12, 3, 45], took: ["drawn", "", "reader"], step: 1, temperature: 0.7, topP: 0.35 };
    const href = addressOf("https://a.b/c.html?q=1&text=2#d", state);
    console.log(JSON.stringify([input.stored.map((one) => stateIn(one, texts)), state, href, stateIn(new URL(href).search, texts),
      input.stored.map((one) => addressOf("https://a.b/c.html", stateIn(one, texts))), addressOf(href, null), stateIn("?q=1", texts)]));"""
    stored, state, href, again, theirs, none, nothing = node(
        script, {"tree": WAY, "stored": list(STORED)}
    )
    assert again == state and href.startswith("https://a.b/c.html?q=1&prompt=")
    assert "&written=d12-3-r45&step=2&temperature=0.7&top-p=0.35#d" in href
    assert none == "https://a.b/c.html?q=1#d" and nothing is None
    for (address, (choices, step, took)), read, written in zip(
        STORED.items(), stored, theirs, strict=True
    ):
        assert read == {"text": 0, "choices": choices, "step": step, "took": took}
        figure = Continuation.from_address(f"https://a.b/c.html{address}", [TEXT | {"tree": WAY}])
        assert (figure.choices, figure.step, figure.took) == (choices, step, took)
        assert figure.address == address == written.removeprefix("https://a.b/c.html")


def test_the_second_figure_of_a_page_has_parameters_of_its_own(node):
    script = """import { addressOf, stateIn } from "./continuation.mjs";
    const texts = [{ prompt: "a", tree: input }, { prompt: "b", tree: input }];
    const state = { text: 1, choices: [0, 1], took: ["", "reader"], step: 1 };
    const href = addressOf("https://a.b/c.html?text=1&written=1", state, "2");
    console.log(JSON.stringify([state, href, stateIn(new URL(href).search, texts, "2"), stateIn(new URL(href).search, texts),
      addressOf(href, null, "2"), stateIn("?text=1", texts, "2")]));"""
    state, href, again, first, without, nothing = node(script, WAY)
    assert href == "https://a.b/c.html?text=1&written=1&text2=2&written2=1-r2&step2=2"
    assert again == state and first["text"] == 0 and first["choices"] == [0] and nothing is None
    assert without == "https://a.b/c.html?text=1&written=1"
    texts = [TEXT | {"tree": WAY}, TEXT | {"tree": WAY}]
    figure = Continuation.from_address("?text2=2&written2=1-r2&step2=2", texts)
    assert (figure.text, figure.choices, figure.step) == (1, [0, 1], 1)
    assert figure.took == ["", "reader"]


STRANGE = {
    "?text=2": "address, text: expected a number from 1 to 1, got '2'",
    "?text=": "address",
    "?text=1&written=1-1-1-1": "choices: expected a way through the tree",
    "?text=1&written=3": "choices: expected a whole number from 0 to 1, got 2",
    "?text=1&written=0": "choices: expected a whole number from 0 to 1, got -1",
    "?text=1&written=1-x2": "address, written: expected numbers such as 1-r338, got '1-x2'",
    "?text=1&written=1&step=3": "address, step: expected a number from 1 to 2, got '3'",
    "?text=1&written=1&step=1.5": "address, step: expected a number from 1 to 2, got '1.5'",
    "?prompt=a&temperature=2": "address, temperature: expected a number from 0 to 1.5, got '2'",
    "?prompt=a&top-p=x": "address, top-p: expected a number from 0.1 to 1, got 'x'",
    "?prompt=+": "address",
    "?prompt=" + "a" * 801: "address",
}


def test_invalid_urls_are_refused(node):
    script = """import { stateIn } from "./continuation.mjs";
    console.log(JSON.stringify(input.addresses.map((one) => stateIn(one, [{ prompt: "a", tree: input.tree }]))));"""
    assert node(script, {"tree": WAY, "addresses": list(STRANGE)}) == ["strange"] * len(STRANGE)
    for address, message in STRANGE.items():
        with pytest.raises(ValueError, match=re.escape(message)):
            Continuation.from_address(address, [TEXT | {"tree": WAY}])
    with pytest.raises(ValueError, match="address: expected one with .text= or .prompt="):
        Continuation.from_address("?sentence=a")


@pytest.mark.slow
def test_a_figure_of_the_page_is_made_in_a_cell(smollm2):
    model, tokenizer = smollm2
    ids = [tokenizer.encode(word)[0] for word in (" not", " a", " cat")]
    said = "?prompt=The+sky+is&written=r{}-d{}-d{}&step=2&temperature=0.8&top-p=0.9".format(*ids)
    figure = Continuation.from_address(said, language="en")
    node, text = figure.texts[0]["tree"], "The sky is"
    for choice, word in zip(figure.choices, (" not", " a", " cat"), strict=True):
        with torch.no_grad():
            logits = model(torch.tensor([tokenizer.encode(text)]))[0][0, -1].double()
        p, places = (logits / 0.8).softmax(dim=-1).sort(descending=True)
        p = torch.where(p.cumsum(0) - p < 0.9, p, 0)
        shares = (p / p.sum())[torch.argsort(places)]
        assert node["best"][choice][0] == word
        for token, share in node["best"]:
            assert share == pytest.approx(float(shares[tokenizer.encode(token)[0]]), abs=1e-5)
        text, node = text + word, node["next"][choice]
    assert figure.step == 1 and figure.took == ["reader", "drawn", "drawn"]
    assert node and '"took"' in figure._html()
    for address, message in (
        ("?prompt=The&written=49152", "address, written: expected ids below 49152, got 49152"),
        (
            "?prompt=The&written=" + "-".join(["1"] * 300),
            "address: expected 1 to 300 tokens, got 301",
        ),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            Continuation.from_address(address)


def test_the_exercise_is_judged_by_the_written_text(node):
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
