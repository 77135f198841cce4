"""The drawings of the course are complete, agree with the chapters and are reproducible."""

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest

from attn import reference
from attn_course import drawings, set_language
from attn_course.drawings import Machine
from attn_course.drawings._upright import Upright
from attn_course.drawings._wide import Wide
from attn_course.drawings.chapters import CHAPTERS, DECODER_ALONE
from attn_course.drawings.parts import PAGES, PARTS, WORDS

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LANGUAGES = ("es", "en")
each_chapter = pytest.mark.parametrize("page", CHAPTERS)
# The numbers in a chapter's shapes must occur in its code or in the output of its cells.
EVIDENCE = {
    "01_why_attention": ["size=patches.shape)).reshape(9, 25)"],
    "02_tokens_and_embeddings": ["(7, 8) @ (8, 2) → (7, 2)"],
    "03_self_attention": [
        "X (3, 4)",
        "Q (3, 2)",
        "V (3, 2)",
        "QKᵀ (3, 3)",
        "Z (3, 2)",
    ],
    "04_multi_head": [
        "swapaxes           (2, 2, 5, 2)",
        "scores             (2, 2, 5, 5)",
        "concat W_O         (2, 5, 4)",
    ],
    "05_encoder_decoder": [
        "(32, 8, 10000)",
        "torch.randint(10_000, (32, 10))",
        "d_model=512",
    ],
    "06_masking": ["(32,))]", 'd_model": 32, "n_heads": 2', "torch.ones(7, 7"],
    "07_positional_encoding": ["positional_encoding(4, 6)"],
    "08_training": ["collate(learnt[:64])", '"d_model": 64', "vocab_size=700"],
    "09_decoding": ['Translator.pretrained("grammar")'],
    "10_applications": ["7 13 (1, 7, 16) 11"],
    "11_landscape": ["vocab_size=MASK + 1, d_model=64"],
    "12_language_model": ["(5, 49152)", "x (5, 576)", "Q (9, 5, 64)", "K (3, 5, 64)"],
    "13_what_attention_computes": ["x (7, 576)", "Q (9, 7, 64)"],
    "14_equation_changed": ["K (4, 2)", "V (4, 2)", "Q (4, 2)", "A (4, 4)"],
    "15_from_predicting_to_answering": [
        '"the red house <to> la casa roja <eos>".split()',
        "everything 8",
    ],
    "16_size_and_speed": ["np.array([1, 2, 4, 3])"],
}


def texts(drawing):
    """Return every text of a drawing, in order."""
    return [
        "".join(node.itertext())
        for node in ET.fromstring(drawing).iter()
        if node.tag.endswith("}text")
    ]


def test_every_part_is_drawn_with_its_name_in_both_languages():
    for language in LANGUAGES:
        drawn = texts(Machine("05_encoder_decoder", language).drawing(Wide))
        for name, part in PARTS.items():
            assert all(label in drawn for label in part.label(language)), name
    assert all(set(words) == set(LANGUAGES) for words in (*WORDS.values(), *PAGES.values()))


@pytest.mark.parametrize("page", PAGES)
def test_parts_link_to_chapters_under_their_own_titles(page):
    cells = jupytext.read(NOTEBOOKS / "src" / f"{page}.md", fmt="md:myst").cells
    titles = {cell.metadata["lang"]: re.match(r"# (.+)", cell.source)[1] for cell in cells[:2]}
    assert titles == PAGES[page]
    assert {part.page for part in PARTS.values()} <= set(PAGES)


@each_chapter
def test_the_parts_of_a_chapter_are_lit_in_both_layouts(page):
    here = CHAPTERS[page]
    assert set(here.lit) <= set(PARTS)
    for layout in (Wide, Upright):
        drawn = Machine(page, "en").drawing(layout)
        # The drawing marks exactly one place: the reader's.
        assert drawn.count('class="pin"') == 1
        assert texts(drawn).count(WORDS["here"]["en"]) == 1
        # A part that a model lacks is neither drawn nor described.
        assert ("memory" in drawn) == (page not in DECODER_ALONE)
        for shape in set(here.written().values()):
            assert texts(drawn).count(shape) == [*here.written().values()].count(shape), shape
    lit = re.findall(r'class="(?:name[^"]*) lit"[^>]*>([^<]+)', Machine(page, "en").drawing(Wide))
    for part in set(here.lit):
        assert html.escape(PARTS[part].en[0]) in lit, part


@each_chapter
def test_the_shapes_are_those_of_the_chapter(page):
    notebook = nbformat.read(NOTEBOOKS / "en" / f"{page}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    printed = [o.get("text", o.get("data", {}).get("text/plain", "")) for o in outputs]
    said = " ".join(" ".join([*(cell.source for cell in cells), *printed]).split())
    assert EVIDENCE[page]
    for fragment in EVIDENCE[page]:
        assert " ".join(fragment.split()) in said, fragment
    here = CHAPTERS[page]
    for told in (here.es, here.en):
        assert dict(re.findall(r"`(\w+)` = (\d+)", told)) == {
            k: str(v) for k, v in here.sizes.items()
        }


def test_the_translator_of_chapter_9_has_the_sizes_in_its_drawing():
    from attn.applications.translation import Translator

    config = Translator.pretrained("grammar").model.config
    sizes = CHAPTERS["09_decoding"].sizes
    assert (config.d_model, config.tgt_vocab_size) == (sizes["d_model"], sizes["vocab_size"])


@each_chapter
@pytest.mark.parametrize("edition", LANGUAGES)
def test_a_drawing_is_well_formed_and_the_same_each_time(page, edition):
    figure = Machine(page, edition)._repr_html_()
    assert figure == Machine(page, edition)._repr_html_()
    ids = [node.get("id") for node in ET.fromstring(figure).iter() if node.get("id")]
    assert len(ids) == len(set(ids)) == 4
    assert "script" not in figure and "http" not in figure.replace("http://www.w3.org/2000/svg", "")


@each_chapter
def test_a_drawing_has_a_title_and_a_description(page):
    for language in LANGUAGES:
        for layout in (Wide, Upright):
            drawing = ET.fromstring(Machine(page, language).drawing(layout))
            title, description = list(drawing)[:2]
            assert drawing.get("aria-labelledby") == title.get("id")
            assert drawing.get("aria-describedby") == description.get("id")
            assert len(description.text) > 600
            for part in CHAPTERS[page].lit:
                assert " ".join(PARTS[part].label(language)) in description.text


def test_the_language_is_the_one_in_use(language):
    assert Machine("03_self_attention").language == language
    assert WORDS["here"][language] in Machine("03_self_attention").drawing(Wide)


def test_a_page_without_a_drawing_is_refused():
    with pytest.raises(ValueError, match=r"page: expected .*05_encoder_decoder.* got '12_nothing'"):
        Machine("12_nothing")
    with pytest.raises(ValueError, match="language"):
        Machine("03_self_attention", "fr")


# Ideas ----------------------------------------------------------------------------------------

IDEAS = tuple(name for name in drawings.__all__ if name.islower())
each_idea = pytest.mark.parametrize("name", IDEAS)


def drawn(name, language):
    set_language(language)
    try:
        return getattr(drawings, name)()._repr_html_()
    finally:
        set_language("es")


@each_idea
def test_an_idea_is_drawn_with_the_same_lines_and_numbers_in_both_languages(name):
    """All numbers of both editions are compared, including the coordinates of the lines."""
    spanish, english = (drawn(name, language) for language in LANGUAGES)
    assert spanish == drawn(name, "es") != english
    numbers = r"-?\d+(?:[.,]\d+)*"
    assert re.findall(numbers, spanish) == re.findall(numbers, english)
    assert len(spanish) < 12_000
    for drawing in (spanish, english):
        root = ET.fromstring(drawing)
        assert root.get("role") == "img" and len(list(root)[1].text) > 200


def test_every_idea_stands_in_one_chapter_with_a_caption_in_both_languages():
    cells = [
        cell
        for source in sorted((NOTEBOOKS / "src").glob("*.md"))
        for cell in jupytext.read(source, fmt="md:myst").cells
    ]
    for name in IDEAS:
        found = [cell for cell in cells if f"drawings.{name}()" in cell.source]
        assert len(found) == 1, name
        captions = found[0].metadata["mystnb"]["figure"]["caption"]
        assert set(captions) == set(LANGUAGES) and all(c.endswith(".") for c in captions.values())


@pytest.mark.parametrize("edition", LANGUAGES)
def test_the_notebooks_hold_the_current_drawings(edition):
    """nbval checks the English edition; here a changed drawing must reach both."""
    held = 0
    for path in sorted((NOTEBOOKS / edition).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for name in re.findall(r"^drawings\.(\w+)\(\)$", cell.source, re.MULTILINE):
                assert cell.outputs[-1].data["text/html"] == drawn(name, edition), path.name
                held += 1
    assert held == len(IDEAS)


STEPPED = ("beam", "cache", "clocks", "contributions", "cross", "forcing", "mask")
GROUP = "{http://www.w3.org/2000/svg}g"


@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize("edition", LANGUAGES)
def test_each_step_of_a_drawing_adds_an_element_and_has_a_sentence(name, edition):
    root = ET.fromstring(drawn(name, edition))
    words = json.loads(root.get("data-steps"))
    appears = {int(group.get("data-step")) for group in root.iter(GROUP) if group.get("data-step")}
    assert appears == set(range(1, len(words["told"]) + 1))
    assert all(15 < len(sentence) < 120 and sentence.endswith(".") for sentence in words["told"])
    assert set(words) == {"back", "play", "pause", "next", "told"}


def test_a_drawing_without_the_script_shows_its_last_step():
    """Without the script, only elements that belong to a single step are hidden."""
    hidden = [name for name in IDEAS if 'display="none"' in drawn(name, "es")]
    assert hidden == ["clocks"]
    root = ET.fromstring(drawn("clocks", "es"))
    assert all(group.get("data-only") for group in root.iter(GROUP) if group.get("display"))


def test_the_steps_of_the_cache_count_what_has_been_computed():
    root, without, with_cache = ET.fromstring(drawn("cache", "en")), [], []
    for n in range(1, 5):
        shown = [group for group in root.iter(GROUP) if int(group.get("data-step")) <= n]
        computed = [
            float(square.get("x"))
            for group in shown
            for square in group
            if square.get("width") == "32" and square.get("class") == "now"
        ]
        without.append(sum(x < 200 for x in computed))
        with_cache.append(sum(x > 200 for x in computed))
    assert without == [n * (n + 1) // 2 for n in (1, 2, 3, 4)] and with_cache == [1, 2, 3, 4]


def test_the_drawn_search_shows_the_softmax_of_its_scores():
    written = texts(drawn("search", "en"))
    words = written[4:-3:3]
    assert words[:3] == ["John", "and", "Paul"] and len(words) == 10
    weights = reference.softmax(np.array([4.0 if w in ("John", "Paul") else 0.0 for w in words]))
    assert written[6:-3:3] == [f"{weight:.2f}" for weight in weights]


def test_the_drawn_mask_shows_the_weights_of_the_allowed_keys():
    masked = np.where([True, True, False, False, False], [0.0, 1.0, 3.0, 0.0, 1.0], -np.inf)
    weights = reference.softmax(masked)
    assert texts(drawn("mask", "en"))[-3:] == [f"{weights[0]:.2f}", f"{weights[1]:.2f}", "0"]
    cells = re.findall(r'class="cell" opacity="([\d.]+)"', drawn("mask", "en"))
    assert len(cells) == 25 + 15 + 15
    assert (
        drawn("mask", "en").count('class="line bad"')
        == 10
        == drawn("mask", "en").count('"bare"') / 2
    )


def test_the_clocks_show_the_encoding():
    rows = [
        "(" + ", ".join(f"{x:.2f}".replace("-", "−") for x in row) + ")"
        for row in reference.sinusoidal_positions(5, 6)
    ]
    written = [text for text in texts(drawn("clocks", "es")) if text.startswith("(")]
    # Each of the five steps has a row, and the row of position 3 stands again at the end.
    assert written == [*rows, rows[3]]
    lit = ".//*[@data-step='6']/*[@class='tip lit']"
    hands = ET.fromstring(drawn("clocks", "es")).findall(lit)
    # Each of the three clocks has a tip and a hub; one arrow leads to the row.
    assert len(hands) == 3 * 2 + 1


def test_the_beam_keeps_the_two_most_probable():
    written = texts(drawn("beam", "es"))
    sentences = re.findall(r'class="(shape(?: strong)?)">(0\.\d\d)<', drawn("beam", "es"))
    ranked = sorted(sentences, key=lambda found: -float(found[1]))
    assert [p for _, p in ranked] == ["0.36", "0.20", "0.15", "0.15", "0.04"]
    assert [kind for kind, _ in ranked] == ["shape strong"] * 2 + ["shape"] * 3
    assert written.count("frío") == 2


def test_teacher_forcing_reads_the_targets_and_generation_its_own_tokens():
    written = texts(drawn("forcing", "en"))
    training, generation = written.index("decoder"), written.index("step")
    asked = written[training + 2 : generation - 1 : 3]
    said, read = (
        written[training + 3 : generation - 1 : 3],
        written[training + 4 : generation - 1 : 3],
    )
    assert asked == ["la", "casa", "roja", "<eos>"] and read == ["<sos>", *asked[:-1]]
    said_alone, read_alone = written[generation + 2 : -4 : 3], written[generation + 3 : -4 : 3]
    assert said == said_alone == ["la", "casa", "azul", "<eos>"]
    assert read_alone == ["<sos>", *said_alone[:-1]]


def test_the_drawn_cache_reuses_earlier_keys_and_values():
    rects = [
        (node.get("class"), float(node.get("x")))
        for node in ET.fromstring(drawn("cache", "en")).iter("{http://www.w3.org/2000/svg}rect")
        if node.get("width") == "32"
    ]
    without = [kind for kind, x in rects if x < 200]
    with_cache = [kind for kind, x in rects if x > 200]
    assert without == ["now"] * 10
    assert (with_cache.count("now"), with_cache.count("kept")) == (4, 6)


def printed(page, language="en"):
    """Return the text that the cells of a chapter print, tables included."""
    notebook = nbformat.read(NOTEBOOKS / language / f"{page}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)


def numbers(name):
    """Return the numbers that a drawing writes, in order."""
    return [
        float(text.replace("−", "-"))
        for text in texts(drawn(name, "es"))
        if re.fullmatch(r"[−+]?\d+(\.\d+)?", text)
    ]


def test_padding_takes_its_share_unless_it_is_masked():
    scores = np.array(
        [1.0, 3.0, 1.0, 2.0, 0.0, 0.0]
    )  # the scores of "azul" in chapter 6, and those of two padding keys of zeros
    masked = np.where([True] * 4 + [False] * 2, scores, -np.inf)
    weights = np.concatenate([reference.softmax(scores), reference.softmax(masked)])
    assert numbers("padding") == [round(weight, 2) for weight in weights]


def test_the_leak_reaches_what_the_product_of_masks_says():
    shifted = np.tril(np.ones((5, 5), dtype=bool), 1)
    reached, causal = (reference.reachable(mask, 2) for mask in (shifted, np.tril(shifted)))
    assert numbers("leak") == [*np.ravel([reached.sum(axis=1), causal.sum(axis=1)], order="F")]
    # The drawing highlights this path.
    assert reached[0, 2] and not causal[0, 2]


def test_the_rotation_leaves_the_difference():
    written = texts(drawn("rotation", "en"))
    for query, key in ((2, 5), (12, 15), (102, 105)):
        q, k = (reference.rotary([[1.0, 0.0]], positions=[p]) for p in (query, key))
        product = f"{(q @ k.T).item():.2f}".replace("-", "−")
        at = written.index(f"query at {query}")
        assert written[at : at + 4] == [
            f"query at {query}",
            f"key at {key}",
            "3 rad",
            f"cos 3 = {product}",
        ]


def test_the_drawn_smoothed_targets_follow_the_formula():
    y = np.eye(4)[1]
    assert numbers("smoothing") == pytest.approx([*y, *(0.9 * y + 0.1 / 4)])


def test_the_drawn_strips_are_the_probabilities_of_decoding():
    torch = pytest.importorskip("torch")
    from attn.decoding import next_token_probabilities

    logits = torch.tensor([0.5, 0.2, 0.15, 0.1, 0.05], dtype=torch.float64).log()
    ways = ({}, {"temperature": 0.5}, {"temperature": 2.0}, {"top_k": 2}, {"top_p": 0.8})
    shares = [next_token_probabilities(logits, **way).numpy() for way in ways]
    root = ET.fromstring(drawn("sampling", "es"))
    strips = {}
    for piece in root.iter("{http://www.w3.org/2000/svg}rect"):
        strips.setdefault(piece.get("y"), []).append(float(piece.get("width")) + 2)
    for strip, share in zip(strips.values(), shares, strict=True):
        assert np.array(strip) / 284 == pytest.approx(share[share > 0], abs=0.01)
    assert numbers("sampling")[:4] == [0.5, 0.2, 0.15, 0.1]


def test_the_drawn_span_has_the_best_pair_of_scores():
    # The first of the numbers is a year and not a score.
    found = [score for score in numbers("span") if score < 1945]
    start, end = np.array(found[0::2]), np.array(found[1::2])
    first, last = reference.best_span(start, end, max_words=3)
    written = texts(drawn("span", "en"))
    assert [text for text in written if text.isalpha() and text[0].isupper()] == ["Anna", "Garza"]
    assert (first, last) == (2, 3) and written[-1].endswith(f"= {start[first] + end[last]:.1f}")
    # Chosen separately, the end would lie before the start.
    assert start.argmax() > end.argmax()
    source = (NOTEBOOKS / "src" / "10_applications.md").read_text(encoding="utf-8")
    for pair in ((start[2], end[3]), (start[0], end[0])):
        assert " + ".join(f"{score:g}" for score in pair) in source


def test_the_attention_a_sentence_receives_is_the_mean_over_its_tokens():
    weights = np.array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]])
    written = numbers("received")
    for row, mean in zip(weights, weights.mean(axis=0), strict=True):
        assert ",".join(map(str, [*row, row.sum(), mean])) in ",".join(map(str, written))
    sentences = reference.sentence_attention(weights[None, None], [0, 1, 1])
    assert written[-2:] == sentences.tolist()


def test_the_ball_gets_its_weight_from_its_key():
    ball, box, tree = np.eye(3)
    key = np.array([ball, box, tree, 0 * ball])
    _, weights = reference.scaled_dot_product_attention(6 * ball[None], key, key)
    scores = (key @ (6 * ball)) / np.sqrt(3)
    assert numbers("asking") == [*np.ravel([scores, weights[0]], order="F").round(2)]


def test_the_counts_beside_the_hole_are_those_of_the_chapter():
    causal, masked = (text for text in texts(drawn("hidden", "en")) if text.startswith("la: "))
    said = printed("L11_landscape")
    first, total = re.findall(r"\d+", causal)
    before, of = re.findall(r"\d+", masked)
    counts = re.findall(r"(?m)^ *(el|la|los|las) +(\d+) +(\d+)$", said)
    assert ("la", first, before) in counts and re.search(rf"(?m)^ *Σ +{total} ", said)
    assert sum(int(n) for _, _, n in counts) == int(of)


def test_the_pairs_are_compared_along_rows_and_columns():
    cosines = np.array([[0.9, 0.5], [0.1, 0.7]])
    rows, columns = (np.diag(reference.softmax(m / 0.2)).round(2) for m in (cosines, cosines.T))
    written = numbers("pairs")
    assert sorted(written) == sorted([*cosines.ravel(), *rows, *columns])
    assert [written[2], written[3], written[6], written[7]] == [
        rows[0],
        columns[0],
        rows[1],
        columns[1],
    ]


def test_the_drawn_families_show_the_printed_translation_and_their_masks():
    written = texts(drawn("families", "es"))
    assert "tom estaba triste" in written
    assert re.search(
        r"translate : tom was sad +tom estaba triste\n", printed("L11_landscape", "es")
    )
    grids = ET.fromstring(drawn("families", "es"))
    cells = [
        node.get("class")
        for node in grids.iter("{http://www.w3.org/2000/svg}rect")
        if node.get("class") in ("cell", "bare")
    ]
    full, causal = 16, 4 * 5 // 2
    assert cells.count("cell") == 2 * (full + causal) and cells.count("bare") == 2 * (full - causal)
