"""Training data of translators of real sentences: exchanged names and numbers, held-out data."""

import re

import pytest

from attn.corpus import Pair, named, tatoeba
from attn_course.grammar import document_pairs
from attn_course.grammar.splits import splits
from attn_course.mixture import mixture, with_another_name, with_other_digits, written
from experiments import directions

# Each pair has names or numbers that a reader copies, as often in the source as in the target.
ABOUT = [
    Pair(f"{name} {verb} {n} books.", f"{name} {verbo} {n} libros.")
    for name in ("Tom", "Mary")
    for verb, verbo in (("has", "tiene"), ("bought", "compró"), ("lost", "perdió"))
    for n in range(20, 60)
]


def names(text):
    return re.findall(r"[A-ZÁÉÍÓÚ]\w+", text)


def test_a_name_is_exchanged_on_both_sides_or_kept():
    found = [with_another_name(pair) for pair in ABOUT]
    assert [names(pair.source) for pair in found] == [names(pair.target) for pair in found]
    others = [pair for pair, old in zip(found, ABOUT, strict=True) if pair != old]
    assert 0.5 < len(others) / len(ABOUT) < 0.7
    assert len({names(pair.source)[0] for pair in others}) > 60
    # Where one side lacks the name or has it twice, it is unknown which one to exchange.
    for source, target in (("Tom ran.", "Él corrió."), ("Tom saw Tom.", "Tom se vio.")):
        assert with_another_name(Pair(source, target)) == Pair(source, target)
    assert (
        with_another_name(Pair("Tomatoes are red.", "Los tomates son rojos.")).source[:3] == "Tom"
    )


def test_digits_are_exchanged_on_both_sides_and_keep_their_number():
    found = []
    for pair in (*ABOUT, Pair("It is 10:05, not 5.", "No son las 5, son las 10:05.")):
        old = re.findall(r"\d+", pair.source)
        for time in range(3):
            new = with_other_digits(pair, time)
            here, there = (re.findall(r"\d+", text) for text in (new.source, new.target))
            assert sorted(here) == sorted(there) and list(map(len, here)) == list(map(len, old))
            assert not any(number.startswith("1") for number in here)
            found.append((pair, new))
    assert len(set(found)) > 0.95 * len(found)
    for source, target in (("3 cats", "tres gatos"), ("Two.", "Dos."), ("2 or 3", "2 o 2")):
        assert with_other_digits(Pair(source, target)) is None


@pytest.mark.slow
def test_only_training_is_mixed_and_nothing_held_out_is_in_it(needed, monkeypatch):
    needed("tatoeba")
    assert named("mixture") is mixture
    real = tatoeba(n_train=2000)
    # Drawing the parts of the real corpus takes most of the time and is tested elsewhere.
    monkeypatch.setattr(
        "attn_course.mixture.tatoeba", lambda n: real | {"train": real["train"][:n]}
    )
    found = mixture(n_train=2000, n_grammar=300)
    others = [part for part in real if part != "train"]
    assert [found[part] for part in others] == [real[part] for part in others]
    assert mixture(n_train=0)["train"] == []
    sources = {pair.source for pair in found["train"]}
    assert not sources & {pair.source for part in ("clusters", "plain") for pair in real[part]}
    grammar = splits(n_train=300)
    parts = (grammar.test, grammar.adjective_noun, grammar.verb_object, grammar.polysemes)
    held_out = [*document_pairs(), *(pair for part in parts for pair in part)]
    assert not sources & {written(pair).source for pair in held_out}
    assert found["train"][-300:] == [written(pair) for pair in grammar.train]
    no_names = mixture(2000, 300, other_names=False)["train"]
    assert no_names[:2000] == real["train"][:2000] and no_names[2000:] == found["train"][2000:]
    no_digits = mixture(2000, 300, other_digits=False)["train"]
    assert no_digits == found["train"][:2000] + found["train"][-300:]
    alone = mixture(2000, 0, other_names=False, other_digits=False)["train"]
    assert alone == real["train"][:2000]


def test_evaluated_names_and_numbers_occur_once_on_both_sides():
    pairs = [
        Pair("Tom ran.", "Tom corrió."),
        Pair("Tom saw Tom.", "Tom se vio."),
        Pair("Mary has 35 cats.", "Mary tiene 35 gatos."),
        Pair("It is 5 or 6.", "Son las 5 o las 6."),
        Pair("He has three cats.", "Él tiene 3 gatos."),
    ]
    names, numbers = directions.named(pairs), directions.numbered(pairs)
    assert [source.replace(name, "Tom") for source, name in names] == [
        "Tom ran.",
        "Tom has 35 cats.",
    ]
    assert len({"Tom", "Mary", *(name for _, name in names)}) == 4
    ((source, number),) = numbers
    assert source == f"Mary has {number} cats." and len(number) == 2


def test_right_translations_of_sentences_with_words_of_the_documents():
    asked = directions.neighbouring()
    assert len(asked) == 100
    for source, right, wrong in (
        ("The red house is old.", "La casa roja es vieja.", "La casa roja roja es vieja."),
        ("Meg is at home.", "Meg está en casa.", "El móg está en casa."),
        ("The mat is red.", "La alfombra es roja.", "La alfombra es rojo."),
        (
            "The cat does not like water.",
            "Al gato no le gusta el agua.",
            "El gato no le gusta el agua.",
        ),
    ):
        assert asked[source].fullmatch(right) and not asked[source].fullmatch(wrong)
    # A pattern that matches everything would count nothing, so none may match another sentence.
    assert not any(right.fullmatch("El gato.") for right in asked.values())


def test_a_missing_unshipped_translator_raises_a_readable_error(monkeypatch):
    monkeypatch.setattr(directions, "ALONE", directions.ALONE / "nothing")
    with pytest.raises(ValueError, match=r"^en alone: expected a translator in .*train it: python"):
        directions.neighbours("en alone")
