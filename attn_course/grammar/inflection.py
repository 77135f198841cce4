"""Regular inflection in both languages; what is irregular stands in the lexicon."""

# "he" also stands for *she* and *it*.
PERSONS = ("i", "he", "we", "they")

_PLAIN = str.maketrans("áéíóú", "aeiou")
_ENDINGS = {
    "ar": {
        "present": ("o", "a", "amos", "an"),
        "past": ("é", "ó", "amos", "aron"),
        "imperfect": ("aba", "aba", "ábamos", "aban"),
    },
    "er": {
        "present": ("o", "e", "emos", "en"),
        "past": ("í", "ió", "imos", "ieron"),
        "imperfect": ("ía", "ía", "íamos", "ían"),
    },
    "ir": {
        "present": ("o", "e", "imos", "en"),
        "past": ("í", "ió", "imos", "ieron"),
        "imperfect": ("ía", "ía", "íamos", "ían"),
    },
}
# The spelling changes before *e*, so that the sound stays the same.
_SPELLING = {("c", "é"): "qu", ("g", "é"): "gu", ("z", "é"): "c"}


def english_plural(noun):
    """Return the regular plural of an English noun.

    Examples
    --------
    >>> [english_plural(noun) for noun in ("cat", "train station", "city", "boy", "church")]
    ['cats', 'train stations', 'cities', 'boys', 'churches']
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def english_verb(base):
    """Return the regular third person, past and -ing form of an English verb.

    Examples
    --------
    >>> english_verb("carry")
    ('carries', 'carried', 'carrying')
    >>> english_verb("chase")
    ('chases', 'chased', 'chasing')
    """
    if base == "have":
        third = "has"
    else:
        third = base + "es" if base.endswith("o") else english_plural(base)
    stem = base.removesuffix("e")
    past = stem + "ed"
    if base.endswith("y") and base[-2] not in "aeiou":
        past = base[:-1] + "ied"
    return third, past, stem + "ing"


def spanish_plural(noun):
    """Return the regular plural of a Spanish noun or adjective; of several words, the first's.

    Examples
    --------
    >>> [spanish_plural(noun) for noun in ("casa", "árbol", "ratón", "actriz", "autobús")]
    ['casas', 'árboles', 'ratones', 'actrices', 'autobuses']
    >>> spanish_plural("estación de tren")
    'estaciones de tren'
    """
    noun, space, rest = noun.partition(" ")
    if noun[-1] in "aeiouáéó":
        plural = noun + "s"
    elif noun.endswith("z"):
        plural = noun[:-1] + "ces"
    else:
        # The accent goes, because the stress is no longer on the last syllable.
        plural = noun[:-2] + noun[-2:].translate(_PLAIN) + "es"
    return plural + space + rest


def spanish_adjective(masculine):
    """Return the four forms: masculine, feminine, and their plurals.

    Examples
    --------
    >>> spanish_adjective("rojo")
    ('rojo', 'roja', 'rojos', 'rojas')
    >>> spanish_adjective("azul")
    ('azul', 'azul', 'azules', 'azules')
    """
    feminine = masculine[:-1] + "a" if masculine.endswith("o") else masculine
    return masculine, feminine, spanish_plural(masculine), spanish_plural(feminine)


def spanish_verb(infinitive, tense):
    """Return the regular forms of a tense, one for each of `PERSONS`.

    Examples
    --------
    >>> spanish_verb("cruzar", "past")
    ('crucé', 'cruzó', 'cruzamos', 'cruzaron')
    >>> spanish_verb("reír", "imperfect")
    ('reía', 'reía', 'reíamos', 'reían')
    """
    stem, kind = infinitive[:-2], infinitive[-2:].translate(_PLAIN)
    forms = []
    for ending in _ENDINGS[kind][tense]:
        changed = _SPELLING.get((stem[-1], ending))
        forms.append((stem[:-1] + changed if changed else stem) + ending)
    return tuple(forms)
