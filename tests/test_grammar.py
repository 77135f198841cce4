"""attn_course.grammar: sentences translated and aligned by hand, and rules of Spanish grammar."""

import itertools
import os
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.resources import files

import pytest

from attn.corpus import Coreference, Polyseme
from attn.tokenizer.words import normalise, split
from attn_course.grammar import document_pairs, generate, translate
from attn_course.grammar.documents import SENTENCES
from attn_course.grammar.generating import FRAMES
from attn_course.grammar.lexicon import Lexicon, lexicon
from attn_course.grammar.splits import MAX_LEN

# Each entry: English | Spanish | links. "2-1" links source word 2 to target word 1 for sure, "2?1"
# possibly; "=" stands for 0-0 1-1 2-2 ... to the end.
GOLD = """
the red house | la casa roja | 0-0 2-1 1-2
the good book | el buen libro | =
a great queen | una gran reina | =
two great kings | dos grandes reyes | =
the good old doctor | el buen médico viejo | 0-0 1-1 3-2 2-3
an old car | un coche viejo | 0-0 2-1 1-2
my old aunts | mis tías viejas | 0-0 2-1 1-2
our white shirts | nuestras camisas blancas | 0-0 2-1 1-2
three brown dogs | tres perros marrones | 0-0 2-1 1-2
the new train station | la estación de tren nueva | 0-0 3-1 2?2 3?2 2-3 1-4
the sick mother of the boy | la madre enferma del niño | 0-0 2-1 1-2 3-3 4-3 5-4
the sky is blue | el cielo es azul | =
roses are red | las rosas son rojas | 0?0 0-1 1-2 2-3
the soup was hot | la sopa estaba caliente | =
these days were hot | estos días eran calurosos | =
the boy is cold | el niño tiene frío | =
the water is cold | el agua está fría | =
the cat is not hungry | el gato no tiene hambre | 0-0 1-1 3-2 2-3 4-4
sara is very tired | sara está muy cansada | =
marta and sara are tired | marta y sara están cansadas | =
marta and tom are tired | marta y tom están cansados | =
the women were afraid | las mujeres tenían miedo | =
the teacher was short | el maestro era bajo | =
the letters were short | las cartas eran cortas | =
the questions are hard | las preguntas son difíciles | =
this stone is hard | esta piedra es dura | =
the poems were beautiful | los poemas eran hermosos | =
the photo is old | la foto es vieja | =
tom is blue | tom está triste | =
the tower is bigger than the church | la torre es más grande que la iglesia | 0-0 1-1 2-2 3?3 3-4 4-5 5-6 6-7
the car was more expensive than my bike | el coche era más caro que mi bicicleta | =
the cat is under the table | el gato está debajo de la mesa | 0-0 1-1 2-2 3-3 3?4 4-5 5-6
the dogs were in front of the house | los perros estaban frente a la casa | 0-0 1-1 2-2 3?3 3?4 4-3 5-4 6-5 7-6
the hat is next to the window | el sombrero está junto a la ventana | =
a friend was behind the tree | un amigo estaba detrás del árbol | 0-0 1-1 2-2 3-3 3?4 4-4 5-5
the museum was white | el museo era blanco | =
there are three apples on the table | hay tres manzanas en la mesa | 0?0 1-0 2-1 3-2 4-3 5-4 6-5
there was a coin in the box | había una moneda en la caja | 0?0 1-0 2-1 3-2 4-3 5-4 6-5
there were several girls in the park | había varias niñas en el parque | 0?0 1-0 2-1 3-2 4-3 5-4 6-5
the cat chased the mouse | el gato persiguió al ratón | 0-0 1-1 2-2 3-3 4?3 4-4
marta saw john | marta vio a john | 0-0 1-1 2?2 2-3
the boy saw a rabbit | el niño vio un conejo | =
the boy saw my rabbit | el niño vio a mi conejo | 0-0 1-1 2-2 4?3 3-4 4-5
the boy saw a woman | el niño vio a una mujer | 0-0 1-1 2-2 4?3 3-4 4-5
the man sold the horse | el hombre vendió el caballo | =
the girl did not eat the apple | la niña no comió la manzana | 0-0 1-1 2?3 3-2 4-3 5-4 6-5
the girls do not eat fish | las niñas no comen pescado | 0-0 1-1 2?3 3-2 4-3 5-4
i bought a house | compré una casa | 0?0 1-0 2-1 3-2
we have two dogs | tenemos dos perros | 0?0 1-0 2-1 3-2
i had a garden | yo tenía un jardín | =
she wrote a poem | ella escribió un poema | =
the friends look for the key | los amigos buscan la llave | 0-0 1-1 2-2 3?2 4-3 5-4
elena listened to the song | elena escuchó la canción | 0-0 1-1 2?1 3-2 4-3
elena listened to the doctor | elena escuchó al médico | 0-0 1-1 2?1 3-2 4?2 4-3
my sister went to the park | mi hermana fue al parque | 0-0 1-1 2-2 3-3 4-3 5-4
ana goes to the park | ana va al parque | 0-0 1-1 2-2 3-2 4-3
the teacher left the school | el maestro salió de la escuela | 0-0 1-1 2-2 2?3 3-4 4-5
paul left the book on the table | paul dejó el libro en la mesa | =
ana played the piano | ana tocó el piano | =
ana played in the park | ana jugó en el parque | =
hugo plays football | hugo juega al fútbol | 0-0 1-1 1?2 2?2 2-3
the woman knows the answer | la mujer sabe la respuesta | =
the woman knew the queen | la mujer conocía a la reina | 0-0 1-1 2-2 4?3 3-4 4-5
john missed the train | john perdió el tren | =
john misses clara | john extraña a clara | 0-0 1-1 2?2 2-3
the queen runs a hotel | la reina dirige un hotel | =
the horses ran in the forest | los caballos corrieron en el bosque | =
the bats fly | los murciélagos vuelan | =
tom broke the bat | tom rompió el bate | =
diego sat on the bank | diego se sentó en la orilla | 0-0 1?1 1-2 2-3 3-4 4-5
diego works in the bank | diego trabaja en el banco | =
the legs of the table are long | las patas de la mesa son largas | =
the legs of the girl are long | las piernas de la niña son largas | =
the keys of the piano are black | las teclas del piano son negras | 0-0 1-1 2-2 3-2 4-3 5-4 6-5
the man broke the glass of the window | el hombre rompió el vidrio de la ventana | =
the boy drank a glass of water | el niño bebió un vaso de agua | =
the cats ate the fish | los gatos comieron el pescado | =
the fish swims in the lake | el pez nada en el lago | =
marta gives roses to sara | marta da rosas a sara | =
tom gave the boy a book | tom dio un libro al niño | 0-0 1-1 4-2 5-3 2-4 3?4 3-5
tom gave a book to the boy | tom dio un libro al niño | 0-0 1-1 2-2 3-3 4-4 5-4 6-5
sara likes apples | a sara le gustan las manzanas | 0?0 0-1 1?2 1-3 2?4 2-5
the boys did not like the soup | a los niños no les gustaba la sopa | 1?0 0-1 1-2 3-3 4?4 2?5 4-5 5-6 6-7
marta wants to buy a house | marta quiere comprar una casa | 0-0 1-1 2?2 3-2 4-3 5-4
we have to sleep in the kitchen | tenemos que dormir en la cocina | 0?0 1-0 2-1 3-2 4-3 5-4 6-5
the cat that chased the mice was black | el gato que persiguió a los ratones era negro | 0-0 1-1 2-2 3-3 5?4 4-5 5-6 6-7 7-8
the women who danced were happy | las mujeres que bailaron estaban contentas | =
the songs that paul wrote are beautiful | las canciones que paul escribió son hermosas | =
john bought the house and sold it | john compró la casa y la vendió | 0-0 1-1 2-2 3-3 4-4 6-5 5-6
the girl lost the rings but did not find them | la niña perdió los anillos pero no los encontró | 0-0 1-1 2-2 3-3 4-4 5-5 7-6 9-7 8-8 6?8
ana called the man and helped him | ana llamó al hombre y lo ayudó | 0-0 1-1 2-2 3?2 3-3 4-4 6-5 5-6
the animal did not cross the street because it was too tired | el animal no cruzó la calle porque estaba demasiado cansado | 0-0 1-1 2?3 3-2 4-3 5-4 6-5 7-6 8?7 9-7 10-8 11-9
the animal did not cross the street because it was too wide | el animal no cruzó la calle porque era demasiado ancha | 0-0 1-1 2?3 3-2 4-3 5-4 6-5 7-6 8?7 9-7 10-8 11-9
tom was crying because he was blue | tom lloraba porque estaba triste | 0-0 1?1 2-1 3-2 4?3 5-3 6-4
ana and clara did not swim because they were tired | ana y clara no nadaron porque estaban cansadas | 0-0 1-1 2-2 3?4 4-3 5-4 6-5 7?6 8-6 9-7
the boys were swimming when their mother arrived | los niños nadaban cuando su madre llegó | 0-0 1-1 2?2 3-2 4-3 5-4 6-5 7-6
marta says that the soup is cold | marta dice que la sopa está fría | =
the men thought that paul was ill | los hombres creían que paul estaba enfermo | =
roses are red and violets are blue | las rosas son rojas y las violetas son azules | 0?0 0-1 1-2 2-3 3-4 4?5 4-6 5-7 6-8
the boy always sleeps | el niño siempre duerme | =
the duck never flies | el pato nunca vuela | =
ana often sings | ana a menudo canta | 0-0 1?1 1-2 2-3
laura arrived last night | laura llegó anoche | 0-0 1-1 2?2 3-2
laura arrived last week | laura llegó la semana pasada | 0-0 1-1 2?2 3?2 3-3 2-4
the man waits for the bus every day | el hombre espera el autobús todos los días | 0-0 1-1 2-2 3?2 4-3 5-4 6-5 6?6 7?6 7-7
the king lost his ring | el rey perdió su anillo | =
the boys read the book | los niños leyeron el libro | =
"""
GOLD = [line.split(" | ") for line in GOLD.strip().split("\n")]


def hand_links(text, n):
    """Return (sure, possible) as written in `GOLD`."""
    if text == "=":
        text = " ".join(f"{i}-{i}" for i in range(n))
    sure, possible = set(), set()
    for link in text.split():
        i, j = map(int, link.replace("?", "-").split("-"))
        possible.add((i, j))
        if "-" in link:
            sure.add((i, j))
    return sure, possible


@pytest.mark.parametrize("english, spanish, links", GOLD)
def test_translated_and_aligned_as_by_hand(english, spanish, links):
    pair = translate(english)
    assert (pair.source, pair.target) == (english, spanish)
    sure, possible = hand_links(links, len(english.split()))
    assert set(pair.sure) == sure
    assert set(pair.possible) == possible


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "the",
        "The red house",
        "the red house.",
        "the stone ate the soup",
        "the boy read the soup",
        "the red man",
        "the house red",
        "el cielo es azul",
        "a houses",
        "the boys sleeps",
        "a apple was red",
        "many water",
        "the mouse chased the cat",
        "the chair is tired",
        "a sky is white",
        "the mother slept",
        "a brother slept",
        "marta gives roses to sisters",
        "the bat is on the chair",
        "the boy was sitting when tom arrived",
        "the dog had three collars",
        "the girl saw the girl and helped her",
        "the bicycle is cheaper than the bike",
    ],
)
def test_wrong_or_senseless_sentences_are_refused(sentence):
    message = f"^source: expected a sentence of the grammar, got {sentence!r}$"
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        translate(sentence)


@pytest.mark.parametrize("source, got", [(None, "NoneType"), (b"the sky", "bytes")])
def test_only_text_is_translated(source, got):
    with pytest.raises(ValueError, match=f"^source: expected a string, got {got}$"):
        translate(source)


# the documents


def test_every_sentence_of_the_documents_is_in_the_grammar():
    said = {pair.source: pair.target for pair in document_pairs()}
    assert list(said) == list(SENTENCES)
    expected = {
        "the sky is blue": "el cielo es azul",
        "the red house": "la casa roja",
        "the cat chased the mouse": "el gato persiguió al ratón",
        "the cat sat on the mat": "el gato se sentó en la alfombra",
        "the cat sits on the mat": "el gato se sienta en la alfombra",
        "the hungry cat ate fish": "el gato hambriento comió pescado",
        "the cat that chased the mouse was black": "el gato que persiguió al ratón era negro",
        "the cat that was chasing the mouse was black": "el gato que perseguía al ratón era negro",
        "the cat that had a brown collar chased the mouse": "el gato que tenía un collar marrón persiguió al ratón",
        "roses are red and violets are blue": "las rosas son rojas y las violetas son azules",
        "tom was crying because he was blue": "tom lloraba porque estaba triste",
        "john and paul wrote several songs when they were inspired": "john y paul escribieron varias canciones cuando estaban inspirados",
        "marta gives roses to sara": "marta da rosas a sara",
        "the cat walks in the street": "el gato camina en la calle",
        "the animal did not cross the street because it was too tired": "el animal no cruzó la calle porque estaba demasiado cansado",
        "the animal did not cross the street because it was too wide": "el animal no cruzó la calle porque era demasiado ancha",
    }
    assert said == expected


# many random pairs


@pytest.fixture(scope="module", params=[pytest.param("pairs", marks=pytest.mark.slow)])
def pairs():
    """Generate the pairs once; tests that use them are slow."""
    return list(itertools.islice(generate(seed=11), 12_000))


def test_generated_sentences_are_translated_as_generated(pairs):
    for pair in pairs[:50]:
        found = translate(pair.source)
        assert (found.target, found.sure, found.possible) == (pair.target, pair.sure, pair.possible)


def test_the_same_sentence_always_has_the_same_translation_and_links(pairs):
    first = {}
    for pair in pairs:
        known = first.setdefault(pair.source, pair)
        assert (known.target, known.sure, known.possible, known.polysemes) == (
            pair.target,
            pair.sure,
            pair.possible,
            pair.polysemes,
        )
    assert 0.9 * len(pairs) < len(first) < len(pairs)


def test_tokens_are_those_of_the_tokenizer(pairs):
    for pair in pairs:
        for text in (pair.source, pair.target):
            assert split(normalise(text)) == text.split()
            assert " ".join(text.split()) == text


def test_every_word_is_linked_and_every_link_is_in_range(pairs):
    for pair in pairs:
        n, m = len(pair.source.split()), len(pair.target.split())
        assert pair.sure <= pair.possible
        assert {i for i, _ in pair.possible} == set(range(n)), pair
        assert {j for _, j in pair.possible} == set(range(m)), pair
        assert pair.sure


def test_names_stay_names(pairs):
    names = {name.en for name in lexicon().names}
    for pair in pairs:
        source, target = pair.source.split(), pair.target.split()
        for i, word in enumerate(source):
            if word in names:
                assert [target[j] for k, j in pair.sure if k == i] == [word]


def test_around_600_words_on_each_side(pairs):
    english = {word for pair in pairs for word in pair.source.split()}
    spanish = {word for pair in pairs for word in pair.target.split()}
    assert 500 <= len(english) <= 700
    assert 500 <= len(spanish) <= 700


def test_words_are_not_rare(pairs):
    counts = Counter(word for pair in pairs for word in pair.target.split())
    assert sum(count < 5 for count in counts.values()) < 0.05 * len(counts)


def test_every_construction_is_generated(pairs):
    counts = Counter(pair.frame for pair in pairs)
    assert set(counts) == {frame.__name__ for frame in FRAMES}
    assert min(counts.values()) > 100


def test_most_sentences_are_short_and_some_are_long(pairs):
    lengths = [len(pair.source.split()) for pair in pairs]
    assert min(lengths) == 2 and max(lengths) <= 20
    assert sum(3 <= length <= 12 for length in lengths) > 0.95 * len(lengths)
    assert sum(length > MAX_LEN for length in lengths) > 0.003 * len(lengths)


def test_contractions_and_elisions_are_applied(pairs):
    for pair in pairs:
        text = f" {pair.target} "
        assert " a el " not in text and " de el " not in text
        assert " y i" not in text and " o o" not in text  # they would be e and u
        assert " la agua " not in text


def test_an_article_before_a_vowel_is_an(pairs):
    for pair in pairs:
        words = pair.source.split()
        for one, other in itertools.pairwise(words):
            assert not (one == "a" and other[0] in "aeiou")
            assert not (one == "an" and other[0] not in "aeiou")


# agreement, by the endings of words

FEMININE = {
    "mujer",
    "madre",
    "actriz",
    "carne",
    "leche",
    "flor",
    "canción",
    "torre",
    "estación",
    "calle",
    "noche",
    "llave",
    "ciudad",
    "lección",
    "foto",
    "marta",
    "sara",
    "ana",
    "elena",
    "julia",
    "laura",
    "clara",
    "ella",
}
MASCULINE = {"problema", "poema", "día"}
PLURALS = {
    "mujeres": "mujer",
    "actrices": "actriz",
    "flores": "flor",
    "canciones": "canción",
    "estaciones": "estación",
    "ciudades": "ciudad",
    "lecciones": "lección",
}
SINGULARS_IN_S = {"autobús", "carlos"}
BOTH_GENDERS = (
    "e",
    "es",
    "azul",
    "azules",
    "gris",
    "grises",
    "difícil",
    "difíciles",
    "fácil",
    "fáciles",
    "marrón",
    "marrones",
    "gran",
    "dos",
    "tres",
    "mi",
    "mis",
    "su",
    "sus",
    "él",
)


def gender_and_number(noun):
    """Return ("m" or "f", whether plural), from the word's ending and the lists above."""
    plural = noun.endswith("s") and noun not in SINGULARS_IN_S
    singular = PLURALS.get(noun, noun.removesuffix("s") if plural else noun)
    feminine = singular in FEMININE or (singular.endswith("a") and singular not in MASCULINE)
    return feminine, plural


def test_adjectives_articles_and_verbs_agree(pairs):
    verbs = {
        form
        for verb in [*lexicon().verbs, *lexicon().reports, *lexicon().copulas.values()]
        for forms in verb.conjugation.values()
        for form in forms
    }
    checked = Counter()
    for pair in pairs[:5000]:
        target = pair.target.split()
        for agreement in pair.agreements:
            word = target[agreement.position]
            nouns = [gender_and_number(target[j]) for j in agreement.controllers]
            plural = len(nouns) > 1 or nouns[0][1]
            feminine = all(feminine for feminine, _ in nouns)
            nearest = min(abs(agreement.position - j) for j in agreement.controllers)
            assert agreement.distance == nearest > 0
            where = (pair.target, word)
            if word in ("le", "les"):
                assert (word == "les") == plural, where
            elif word in verbs and word != "rio":
                assert word.endswith("n") == plural, where
                checked["verb", agreement.distance > 3] += 1
            else:
                assert (word.endswith("s") and word not in ("gris", "tres")) == plural or (
                    word == "tres" and plural
                ), where
                if word == "el" and target[agreement.controllers[0]] == "agua":
                    continue
                if word in ("al", "del", "el", "un", "este", "buen"):
                    assert not feminine, where
                elif not word.endswith(BOTH_GENDERS):
                    ending = word.removesuffix("s")[-1]
                    assert ending == ("a" if feminine else "o"), where
                checked["other", agreement.distance > 3] += 1
    assert min(checked.values()) > 50 and len(checked) == 4


def test_agreement_over_a_distance():
    pair = translate("the cat that chased the mice was black")
    last = pair.agreements[-1]
    target = pair.target.split()
    assert (target[last.position], [target[j] for j in last.controllers]) == ("negro", ["gato"])
    assert last.distance == 7


# what pronouns stand for, and what words mean


@pytest.mark.parametrize(
    "sentence, pronoun, antecedents, decides",
    [
        ("the animal did not cross the street because it was too tired", 8, (1,), "cansado"),
        ("the animal did not cross the street because it was too wide", 8, (5,), "ancha"),
        ("john and paul wrote several songs when they were inspired", 7, (0, 2), "inspirados"),
        ("tom was crying because he was blue", 4, (0,), "triste"),
        ("tom was crying because he was hungry", 4, (0,), "tenía"),
        ("john bought the house and sold it", 6, (3,), "la"),
        ("the king lost his ring", 3, (1,), "su"),
    ],
)
def test_the_antecedent_of_a_pronoun(sentence, pronoun, antecedents, decides):
    pair = translate(sentence)
    j = pair.target.split().index(decides)
    if decides == "la":
        j = 5
    if antecedents == (5,):
        antecedents = (sentence.split().index("street"),)
    assert pair.coreferences == (Coreference(pronoun, antecedents, j),)


@pytest.mark.parametrize(
    "sentence, position, word, sense, decided_by",
    [
        ("the sky is blue", 3, "blue", "azul", 1),
        ("tom was crying because he was blue", 6, "blue", "triste", 0),
        ("the soup was hot", 3, "hot", "caliente", 1),
        ("these days were hot", 3, "hot", "caluroso", 1),
        ("the teacher was short", 3, "short", "bajo", 1),
        ("the letters were short", 3, "short", "corto", 1),
        ("this stone is hard", 3, "hard", "duro", 1),
        ("the questions are hard", 3, "hard", "difícil", 1),
        ("the boy is cold", 3, "cold", "tener frío", 1),
        ("the soup is cold", 3, "cold", "frío", 1),
        ("the cats ate the fish", 4, "fish", "pescado", 2),
        ("the fish swims in the lake", 1, "fish", "pez", 2),
        ("the bats fly", 1, "bat", "murciélago", 2),
        ("tom broke the bat", 3, "bat", "bate", 1),
        ("diego sat on the bank", 4, "bank", "orilla", 1),
        ("diego works in the bank", 4, "bank", "banco", 1),
        ("the legs of the table are long", 1, "leg", "pata", 4),
        ("the legs of the girl are long", 1, "leg", "pierna", 4),
        ("the keys of the piano are black", 1, "key", "tecla", 4),
        ("elena looks for the key", 4, "key", "llave", 1),
        ("the man broke the glass of the window", 4, "glass", "vidrio", 7),
        ("the boy drank a glass of water", 4, "glass", "vaso", 6),
        ("the woman knew the queen", 2, "know", "conocer", 4),
        ("the woman knows the answer", 2, "know", "saber", 4),
        ("ana played the piano", 1, "play", "tocar", 3),
        ("hugo plays football", 1, "play", "jugar", 2),
        ("ana played in the park", 1, "play", "jugar", 4),
        ("john missed the train", 1, "miss", "perder", 3),
        ("john misses clara", 1, "miss", "extrañar", 2),
        ("the teacher left the school", 2, "leave", "salir", 4),
        ("paul left the book on the table", 1, "leave", "dejar", 3),
        ("the queen runs a hotel", 2, "run", "dirigir", 4),
        ("the horses ran in the forest", 2, "run", "correr", 5),
    ],
)
def test_the_sense_of_a_polyseme(sentence, position, word, sense, decided_by):
    assert translate(sentence).polysemes == (Polyseme(position, word, sense, decided_by),)


def test_every_polyseme_is_generated_in_each_of_its_meanings(pairs):
    meanings = {}
    for pair in pairs:
        for polyseme in pair.polysemes:
            meanings.setdefault(polyseme.word, set()).add(polyseme.sense)
            assert polyseme.position != polyseme.decided_by
            assert 0 <= polyseme.decided_by < len(pair.source.split())
    assert len(meanings) >= 16
    assert all(len(senses) == 2 for senses in meanings.values()), meanings


def test_the_same_word_never_decides_for_two_meanings(pairs):
    """A table of pairs of words therefore suffices to choose a meaning."""
    meanings = {}
    for pair in pairs:
        for polyseme in pair.polysemes:
            decides = pair.source.split()[polyseme.decided_by]
            meanings.setdefault((polyseme.word, decides), set()).add(polyseme.sense)
    assert len(meanings) > 200
    assert all(len(senses) == 1 for senses in meanings.values()), meanings


def test_every_polyseme_is_disambiguated(pairs):
    lex = lexicon()
    forms = {
        form.split()[0] if entry in lex.verbs else form.split()[-1]
        for entry in [*lex.nouns, *lex.adjectives, *lex.verbs]
        if entry.polyseme
        for form in entry.forms
    }
    assert forms >= {"blue", "bank", "banks", "bat", "played", "misses", "knew", "fish"}
    for pair in pairs:
        decided = {polyseme.position for polyseme in pair.polysemes}
        for i, word in enumerate(pair.source.split()):
            assert word not in forms or i in decided, pair.source


def test_every_pronoun_is_unambiguous():
    horse = translate("the horse did not cross the street because it was dangerous")
    assert horse.target.endswith("porque era peligrosa")
    queen = translate("the queen bought the hat because it was beautiful")
    assert queen.target.endswith("porque era hermoso")
    called = translate("marta called john because she was sad")
    assert called.coreferences[0].antecedents == (0,)
    for doubtful in (
        "the lion did not cross the street because it was dangerous",
        "marta called sara because she was sad",
        "the men called the women because they were sad",
    ):
        with pytest.raises(ValueError, match="sentence of the grammar"):
            translate(doubtful)


def test_a_coreference_points_back(pairs):
    pronouns = set()
    for pair in pairs:
        words = pair.source.split()
        for coreference in pair.coreferences:
            pronouns.add(words[coreference.pronoun])
            assert max(coreference.antecedents) < coreference.pronoun
            assert 0 <= coreference.decides < len(pair.target.split())
    assert pronouns >= {"it", "he", "she", "they", "him", "her", "them", "his", "their"}


def test_combinations_name_words_in_their_base_form():
    met = translate("tom broke the red lamps").combinations
    assert met == {("object", "break", "lamp"), ("adjective", "red", "lamp")}
    met = translate("the bats sleep").combinations
    assert met == {("subject", "sleep", "bat"), ("polyseme", "bat: murciélago", "sleep")}
    met = translate("tom was crying because he was blue").combinations
    assert met == {
        ("subject", "cry", "tom"),
        ("adjective", "blue", "tom"),
        ("polyseme", "blue: triste", "tom"),
    }


# the lexicon


def test_nouns_of_an_ambiguous_meaning_are_not_found():
    lex = lexicon()
    assert {noun.es for noun in lex.nouns_of(["swimmer"])} >= {"pez", "pato"}
    assert {noun.es for noun in lex.nouns_of(["food"])} >= {"pescado", "manzana"}
    both = {noun.en for noun in lex.nouns_of(["swimmer", "food"])}
    assert {"duck", "apple"} <= both and "fish" not in both
    legs = [noun.es for noun in lex.nouns_of(["limb"])]
    assert legs == ["pierna", "pata"]  # the being that it belongs to decides between the two


@pytest.mark.parametrize(
    "part, index, change, message",
    [
        ("verbs", 0, {"object": "mice"}, "chase: object: expected kinds or nouns, got 'mice'"),
        ("verbs", 0, {"where": "zoo"}, "chase: where: expected kinds or nouns, got 'zoo'"),
        ("adjectives", 0, {"nouns": "x"}, "red: nouns: expected kinds or nouns, got 'x'"),
        ("nouns", 0, {"of": "x"}, "man: of: expected kinds or nouns, got 'x'"),
        ("places", 0, {"nouns": "x"}, "in: nouns: expected kinds or nouns, got 'x'"),
        ("verbs", 0, {"then": "fry"}, "chase: then: expected words of the lexicon, got 'fry'"),
        ("verbs", 0, {"why": "coy"}, "chase: why: expected words of the lexicon, got 'coy'"),
        ("verbs", 0, {"fault": "coy"}, "chase: fault: expected words of the lexicon, got 'coy'"),
    ],
)
def test_mistakes_in_the_lexicon_are_refused(part, index, change, message):
    content = tomllib.loads(
        (files("attn_course.grammar") / "lexicon.toml").read_text(encoding="utf-8")
    )
    content[part][index] |= change
    with pytest.raises(ValueError, match=f"^{message}$"):
        Lexicon(content)


@pytest.mark.parametrize(
    "english, forms",
    [
        ("mouse", "mouse mice ratón ratones"),
        ("bus", "bus buses autobús autobuses"),
        ("wolf", "wolf wolves lobo lobos"),
        ("train station", "train station,train stations,estación de tren,estaciones de tren"),
        ("lesson", "lesson lessons lección lecciones"),
        ("flower", "flower flowers flor flores"),
        ("actress", "actress actresses actriz actrices"),
        ("city", "city cities ciudad ciudades"),
        ("lion", "lion lions león leones"),
    ],
)
def test_plurals(english, forms):
    found = [noun for noun in lexicon().nouns if noun.en == english]
    wanted = forms.split("," if "," in forms else " ")
    assert [*found[0].english, *found[0].spanish] == wanted


@pytest.mark.parametrize(
    "infinitive, tense, forms",
    [
        ("comer", "present", "como come comemos comen"),
        ("vivir", "present", "vivo vive vivimos viven"),
        ("escribir", "past", "escribí escribió escribimos escribieron"),
        ("buscar", "past", "busqué buscó buscamos buscaron"),
        ("llegar", "past", "llegué llegó llegamos llegaron"),
        ("cruzar", "past", "crucé cruzó cruzamos cruzaron"),
        ("jugar", "present", "juego juega jugamos juegan"),
        ("dormir", "past", "dormí durmió dormimos durmieron"),
        ("leer", "past", "leí leyó leímos leyeron"),
        ("ir a", "past", "fui fue fuimos fueron"),
        ("ver", "imperfect", "veía veía veíamos veían"),
        ("caminar", "imperfect", "caminaba caminaba caminábamos caminaban"),
        ("sentarse", "past", "senté sentó sentamos sentaron"),
    ],
)
def test_conjugations(infinitive, tense, forms):
    """The expected forms are those that grammars of Spanish print."""
    verb = next(verb for verb in lexicon().verbs if verb.es == infinitive)
    assert " ".join(verb.conjugation[tense]) == forms


# determinism


def test_the_seed_decides():
    def first(seed):
        return list(itertools.islice(generate(seed), 50))

    assert first(3) == first(3) != first(4)
    assert first(0) == list(itertools.islice(generate(), 50))


@pytest.mark.slow
def test_hashing_has_no_influence():
    code = (
        "from attn_course.grammar import generate, splits\n"
        "from itertools import islice\n"
        "parts = splits(n_train=300, n_validation=20, n_test=20, n_held_out=5)\n"
        "names = ('train', 'test', 'adjective_noun', 'verb_object', 'polysemes', 'longer')\n"
        "texts = [[p.source for p in getattr(parts, name)] for name in names]\n"
        "pairs = [(p.source, p.target, sorted(p.possible)) for p in islice(generate(5), 200)]\n"
        "print(ascii((texts, pairs)))"
    )
    printed = set()
    for seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        printed.add(
            subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
        )
    assert len(printed) == 1 and len(printed.pop()) > 10_000


@pytest.mark.parametrize(
    "seed, message",
    [
        (-1, "at least 0, got -1"),
        (1.5, r"an integer, got 1\.5"),
        ("1", "an integer, got '1'"),
    ],
)
def test_generate_refuses_invalid_seeds(seed, message):
    with pytest.raises(ValueError, match=f"^seed: expected {message}$"):
        next(generate(seed))


def test_neither_numpy_nor_torch_is_imported():
    code = "import sys, attn.corpus; sys.exit(bool({'numpy', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
