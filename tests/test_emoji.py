"""The small CLIP of emoji: its stored files, and how it was measured."""

import json
from itertools import combinations

import numpy as np
import pytest

from attn_course.emoji import FOLDER, plain
from attn_course.emoji.model import batch_of
from attn_course.emoji.searcher import EmojiSearcher
from experiments import emoji as bench
from experiments import emoji_data

TOLD = json.loads(bench.RESULTS.read_text("utf-8"))
# Queries with the same meaning in both languages, chosen before the model was tried.
TRANSLATED = [
    ("corazón rojo", "red heart"),
    ("cara con lágrimas", "face with tears"),
    ("bandera", "flag"),
    ("hora", "clock"),
    ("comida", "food"),
    ("mujer", "woman"),
    ("flecha", "arrow"),
    ("gato", "cat"),
    ("mano", "hand"),
    ("botón", "button"),
]


@pytest.fixture(scope="module")
def searcher():
    return EmojiSearcher.pretrained()


def test_the_files_of_the_page_are_small_and_complete(searcher):
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 600_000
    assert len(searcher.emoji) == len(set(searcher.emoji)) == len(searcher.seen)
    assert searcher.tower.pictures.weight.shape == (len(searcher.emoji), 64)
    assert sum(searcher.seen) == TOLD["n"]["train"]
    assert searcher.seen.count(False) == TOLD["n"]["validation"] + TOLD["n"]["test"]
    codes = json.loads((FOLDER / "emoji.json").read_text())["codes"].split()
    assert {f"*{code}" for code in TOLD["codes"]} < set(codes)


def test_near_variants_are_in_the_same_part(searcher):
    sides = {}
    for emoji, seen in zip(searcher.emoji, searcher.seen, strict=True):
        flag = emoji[0] in "🏁🚩🏴🏳🎌" or 0x1F1E6 <= ord(emoji[0]) <= 0x1F1FF
        clock = 0x1F550 <= ord(emoji[0]) <= 0x1F567
        alike = emoji.replace("👩", "🧑").replace("👨", "🧑")
        for sign in "♀♂➡":
            alike = alike.replace(f"\u200d{sign}", "")
        alike = alike.replace("\ufe0f", "")
        sides.setdefault("flag" if flag else "clock" if clock else alike, set()).add(seen)
        # No emoji has a skin tone.
        assert not any(0x1F3FB <= ord(letter) <= 0x1F3FF for letter in emoji)
    assert all(len(side) == 1 for side in sides.values())
    assert sides["flag"] == {True} and len(sides) < len(searcher.emoji) - 300


def test_a_search_finds_trained_names(searcher):
    for query in ("corazón azul", "CORAZON AZUL", "blue heart"):
        best = searcher.search(query, 5)
        assert "💙" in [one.emoji for one in best[:3]]
        assert [one.cosine for one in best] == sorted((x.cosine for x in best), reverse=True)
    # The model also makes mistakes: chapter 11 says that these two queries find a pistol.
    for query in ("comida", "food"):
        assert searcher.search(query, 1)[0].emoji == "🔫"
    assert searcher.search("Corazón Azul") == searcher.search("corazon   azul")


def test_both_languages_share_one_embedding_space(searcher):
    spanish, english = (
        searcher.tower(*batch_of(searcher.tokenizer, texts)).detach()
        for texts in zip(*TRANSLATED, strict=True)
    )
    cosines = (spanish @ english.T).numpy()
    assert np.mean(cosines.argmax(axis=1) == np.arange(len(TRANSLATED))) >= 0.7
    others = [cosines[i, j] for i, j in combinations(range(len(TRANSLATED)), 2)]
    assert np.diag(cosines).mean() > np.mean(others) + 0.3


@pytest.mark.parametrize("text, n, message", [(" ", 3, "text: expected"), ("x", 0, "n: expected")])
def test_invalid_searches_are_refused(searcher, text, n, message):
    with pytest.raises(ValueError, match=message):
        searcher.search(text, n)


def test_texts_lose_marks_and_capitals():
    assert plain("ÑANDÚ\tgüiro") == " nandu guiro"


def test_ranks_and_recall_agree_with_counts_by_hand():
    scores = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0], [0.0, 0.0, 5.0]])
    assert bench.ranks(scores, np.array([0, 1, 2])).tolist() == [0, 2, 0]
    found = [[0, 2, 9, 0], [0, 5, 9, 4]]
    assert bench.recall(found, ["a", "a", "b", "c"], 1)[0] == 0.375
    assert bench.recall(found, ["a", "a", "b", "c"], 5, [True, True, False, True])[0] == 0.8333
    share, low, high = bench.recall([[0, 0, 9, 9]], ["a", "a", "b", "b"], 5)
    # The bootstrap resamples the two families, not the four queries.
    assert (share, low, high) == (0.5, 0, 1)


def test_the_nearest_name_is_the_one_that_shares_most_letters():
    names = ["cara sonriendo", "manzana roja", "corazón azul"]
    assert bench.nearest_name("manzana verde", names) == 1
    assert bench.nearest_name("CORAZON rojo", names) == 2


def test_similar_emoji_are_in_one_family():
    assert (
        len(
            {
                emoji_data.family(c, 1, "x")
                for c in ("1F6B6", "1F6B6-200D-2640-FE0F", "1F6B6-200D-2642-FE0F-200D-27A1-FE0F")
            }
        )
        == 1
    )
    assert emoji_data.family("1F468-200D-1F33E", 1, "x") == emoji_data.family(
        "1F9D1-200D-1F33E", 1, "x"
    )
    assert emoji_data.family("1F1EA-1F1F8", 9, "x") == "flags"
    assert emoji_data.family("1F499", 0, "heart") != emoji_data.family("1F49A", 0, "heart")


def test_the_table_follows_from_the_stored_ranks():
    n = TOLD["n"]["test"]
    assert n == len(TOLD["families"]) == len(TOLD["codes"])
    assert bench.table(TOLD) == TOLD["table"]
    told = {(row["system"], row["language"]): row for row in TOLD["table"]}
    for language in emoji_data.LANGUAGES:
        assert told["chance", language]["shares"] == [round(k / n, 4) for k in (1, 5, 10)]
        of_model = told["model", language]
        # The model is better than chance also at the lower end of its interval.
        assert of_model["interval"][0] > 10 / n
        assert len(of_model["seeds"]) == sum(str(seed) in TOLD for seed in bench.SEEDS) > 0
        if "control" in TOLD:
            assert told["control", language]["interval"][0] < 10 / n + 0.02


def test_the_stored_ranks_are_those_of_the_stored_model(searcher, needed):
    """The names are encoded again; the vectors of the pictures are the stored ones, in int8."""
    needed("emoji_pictures")
    emoji, pictures = emoji_data.load()
    assert pictures.shape == (len(emoji), 2, 3, 32, 32)
    assert [one.code for one in emoji] == [
        "-".join(f"{ord(letter):X}" for letter in characters) for characters in searcher.emoji
    ]
    assert [one.part == "train" for one in emoji] == searcher.seen
    test = [i for i, one in enumerate(emoji) if one.part == "test"]
    for language in emoji_data.LANGUAGES:
        names = [emoji[i].texts[language][0] for i in test]
        cosines = searcher.tower.cosines(*batch_of(searcher.tokenizer, names)).detach().numpy()
        found = bench.ranks(cosines[:, test], np.arange(len(test)))
        told = np.array(TOLD["0"][language]["unseen"])
        assert np.mean(abs(found - told) <= 5) > 0.9
        assert abs(np.mean(found < 10) - np.mean(told < 10)) < 0.02
