"""The shipped translator of real sentences: how it was made, and its scores."""

import json
import re
from pathlib import Path

import pytest

from attn.applications import models
from attn.applications.translation import RECIPES, SIZES, Translator
from attn.corpus import tatoeba
from attn.metrics import chrf

ROOT = Path(__file__).resolve().parents[1]
JUDGED, FAILURES = (
    json.loads((ROOT / "notebooks" / "data" / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("judged", "failures")
)
SEARCH = {"beam_width": 4, "length_penalty": 1.0}  # as on the translator's page


@pytest.fixture(scope="module")
def translator():
    return Translator.pretrained("tatoeba")


@pytest.mark.parametrize("language", ("en", "es"))
def test_the_files_are_small_and_have_the_sizes_of_the_recipe(language):
    folder = models.translator_folder("tatoeba", language)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4_000_000
    translator = Translator.load(folder)
    assert translator.source_language == language and translator.punctuated
    recipe = RECIPES["mixture"]
    config = translator.model.config
    assert translator.source is translator.target
    assert config.vocab_size == recipe.vocab_size and config.tgt_vocab_size is None
    for name, size in (SIZES | recipe.sizes).items():
        assert getattr(config, name) == size


@pytest.mark.parametrize("language", JUDGED)
def test_the_stored_judgements_are_of_the_translations_that_it_gives_now(language):
    translator, judged = Translator.pretrained(source_language=language), JUDGED[language]
    # The page computes in float64 as well, so every processor chooses the same words.
    translator.model.double()
    found = translator.translate([row["source"] for row in judged], **SEARCH)
    assert found == [row["translation"] for row in judged]
    assert {row["points"] for row in judged} <= {0, 1, 2} and len(judged) == 17


@pytest.mark.parametrize("language", ("en", "es"))
def test_the_twenty_failures_of_the_page_are_those_of_the_translator(language):
    translator, rows = Translator.pretrained(source_language=language), FAILURES[language]
    translator.model.double()
    found = translator.translate([row["source"] for row in rows], **SEARCH)
    assert all(row["wrong"] in text for row, text in zip(rows, found, strict=True))
    # They are sorted by kind, in the order in which the kinds are listed.
    places = [list(FAILURES["kinds"]).index(row["kind"]) for row in rows]
    assert len(rows) == 20 and places == sorted(places)


@pytest.mark.parametrize(
    "text", ["Blorf!", "¿Qué?", "🙂", "xqzt wvk", 'I  said: "no"', "naïve café", "你好", "a\tb"]
)
def test_no_word_is_refused(translator, text):
    assert isinstance(translator.translate(text), str)


@pytest.mark.slow
def test_the_corpus_and_the_scores_are_as_stated(translator, needed):
    """What the translator's page says of its corpus, and the scores on every tenth sentence.

    The page of results has the scores on all sentences; its scores belong to exactly these
    weights.
    """
    needed("tatoeba")
    parts = tatoeba()
    assert len(parts["train"]) == 115_257
    of = {
        word: [pair for pair in parts["train"] if word in re.findall(r"\w+", pair.source.lower())]
        for word in ("mat", "violets", "blue")
    }
    assert [len(pairs) for pairs in of.values()] == [5, 0, 93]
    assert sum("trist" in pair.target.lower() for pair in of["blue"]) == 1
    translator.model.double()
    apart, plain = (translator.evaluate(parts[n][::10], **SEARCH) for n in ("clusters", "plain"))
    translator.model.float()
    scores = [apart["bleu"], apart["chrf"], plain["bleu"]]
    assert scores == pytest.approx([44.39, 65.74, 47.87], abs=0.02)


@pytest.mark.slow
def test_translating_sentences_one_at_a_time_scores_higher(translator, needed):
    """`cut` separates sentences even where two would fit: on 60 pairs, chrF gains more than 5."""
    needed("tatoeba")
    alone = [pair for pair in tatoeba()["clusters"] if pair.source[-1] in ".?!"][:240:2]
    pairs = list(zip(alone[::2], alone[1::2], strict=True))
    sources, targets = (
        [f"{getattr(a, n)} {getattr(b, n)}" for a, b in pairs] for n in ("source", "target")
    )
    together = translator._write([translator.source_ids(text) for text in sources])
    whole = chrf([translator.target.decode(ids) for ids in together], targets).score
    assert chrf(translator.translate(sources), targets).score > whole + 5
