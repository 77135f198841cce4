"""The tables: printed, kept as JSON, and set into the page of the book in both editions.

A result is a list of rows, and a row maps the heading of each column to its cell: a text, a
number, or the median and quartiles that `benchmarks.timing` makes of several.
"""

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from attn.io import write_whole

ROOT = Path(__file__).resolve().parents[1]
# The results on speed and memory, and those on quality.
RESULTS = ROOT / "benchmarks" / "results.json"
QUALITY = ROOT / "experiments" / "quality.json"
# The page that shows the results of each file, in both editions.
PAGES = {
    file: {language: ROOT / "book" / language / page for language in ("es", "en")}
    for file, page in ((RESULTS, "benchmarks.md"), (QUALITY, "results.md"))
}

# A numeric cell begins with a digit or a sign, or is a dash or empty.
NUMBER = re.compile(r"[\d–+−]|$")

# The Spanish words of the tables. Other words are the same in both editions.
SPANISH = {
    "task": "tarea",
    "training step": "paso de entrenamiento",
    "reading 512 tokens": "leer 512 tokens",
    "writing a token": "escribir un token",
    "captured": "grabado",
    "numbers": "números",
    "benchmark": "prueba",
    "column": "columna",
    "where": "dónde",
    "target": "meta",
    "worst": "peor",
    "met": "se cumple",
    "yes": "sí",
    "tie": "empate",
    "every row": "en todas las filas",
    "shape": "forma",
    "weights": "pesos",
    "mask": "máscara",
    "none": "ninguna",
    "padding": "relleno",
    "explicit softmax": "softmax explícita",
    "a copy of itself": "una copia suya",
    "size": "tamaño",
    "translator": "traductor",
    "base model": "modelo base",
    "without cache": "sin caché",
    "ms per token": "ms por token",
    "NumPy whole, MB": "NumPy entera, MB",
    "NumPy in blocks, MB": "NumPy por bloques, MB",
    "PyTorch explicit, MB": "PyTorch explícita, MB",
    "PyTorch fused, MB": "PyTorch fusionada, MB",
    "time in blocks / whole": "tiempo por bloques / entera",
    "layer, GFLOP/s": "capa, GFLOP/s",
    "product, GFLOP/s": "producto, GFLOP/s",
    "share": "proporción",
    "import": "importación",
    "seconds": "segundos",
    "all of `attn` and `attn_course`": "todo `attn` y `attn_course`",
    "positions": "posiciones",
    "keys": "keys",
    "checks off": "sin comprobar",
    "checks on": "comprobando",
    "ms, checks off": "ms, sin comprobar",
    "lines": "líneas",
    "few words, MB": "pocas palabras, MB",
    "new words, MB": "palabras nuevas, MB",
    "rotary": "rotatorias",
    "alibi": "ALiBi",
    "processor": "procesador",
    "check": "comprobación",
    "the first": "la primera",
    "the next": "la siguiente",
    "of a wrong answer": "de una respuesta equivocada",
    "page": "página",
    "made by": "hecha con",
    "opening page": "portada",
    "chapter 03": "capítulo 03",
    "heaviest of all": "la más pesada",
    "largest paint, s": "pintura mayor, s",
    "shift": "desplazamiento",
    "performance": "rendimiento",
    "accessibility": "accesibilidad",
    "best practices": "buenas prácticas",
    "reading": "lectura",
    "writing": "escritura",
    "tokens per second": "tokens por segundo",
    "share of memory": "proporción de la memoria",
    "MB per token": "MB por token",
    "perplexity": "perplejidad",
    "sentences": "oraciones",
    "number": "número",
    "one word apart": "a una palabra",
    "exact match": "coincidencia exacta",
    "drawn alike": "sorteadas igual",
    "adjective and noun that never met": "adjetivo y sustantivo que nunca coincidieron",
    "verb and object that never met": "verbo y objeto que nunca coincidieron",
    "several meanings, new context": "varios significados, contexto nuevo",
    "longer than in training": "más largas que al entrenar",
    "memory, exact match": "memoria, exactas",
    "memory, BLEU": "memoria, BLEU",
    "translator, one word apart": "traductor, a una palabra",
    "translator, further away": "traductor, más lejos",
    "new template": "plantilla nueva",
    **{f"seed {n}": f"semilla {n}" for n in (0, 1, 2)},
    "sinusoidal": "sinusoidales",
    "cross uniform": "cruzada uniforme",
    "all uniform": "toda uniforme",
    "links from": "enlaces según",
    "error rate": "tasa de error",
    **{f"layer {n}, head {h}": f"capa {n}, cabeza {h}" for n in (1, 2) for h in range(1, 5)},
    **{f"layer {n}, mean": f"capa {n}, media" for n in (1, 2)},
    "all layers and heads": "media de todas",
    "IBM model 1": "modelo 1 de IBM",
    "at random": "al azar",
    "distance": "distancia",
    "right": "aciertos",
    "word": "palabra",
    "meaning": "significado",
    "new context": "contexto nuevo",
    "new, in vocabulary": "nuevo, en el vocabulario",
    "all": "todas",
    "all, in its own translation": "todas, en su propia traducción",
    "always the commoner meaning": "siempre el más frecuente",
    **{
        f"{before}{name}{after}": f"{antes}{nombre}{luego}"
        for name, nombre in (
            ("drawn alike", "sorteadas igual"),
            ("new, in vocabulary", "nuevo, en el vocabulario"),
        )
        for before, antes, after, luego in (
            ("", "", ", on its own", ", por su cuenta"),
            ("meanings: ", "significados: ", "", ""),
        )
    },
    "pronouns": "pronombres",
    "the right words precede": "tras las palabras correctas",
    "in its own translation": "en su propia traducción",
    "right in its own translation": "bien en su propia traducción",
    "always the commonest place": "siempre el lugar más frecuente",
    "always the commonest form": "siempre la forma más frecuente",
    "who looks": "quién mira",
    "by chance": "por azar",
    "the word is right": "la palabra, bien",
    **{f"pronoun, layer {n}": f"el pronombre, capa {n}" for n in (1, 2)},
    **{f"word, layer {n}": f"la palabra, capa {n}" for n in (1, 2)},
    "cut": "sin",
    "seconds of processor": "segundos de procesador",
    "system": "sistema",
    "asked": "qué se pregunta",
    "measure": "medida",
    "value": "valor",
    "question answering": "preguntas y respuestas",
    "facts never seen": "hechos nunca vistos",
    "is there an answer?": "¿hay respuesta?",
    "training": "entrenamiento",
    "without marked words": "sin marcar palabras",
    "summaries": "resúmenes",
    "headlines never seen": "titulares nunca vistos",
    "visual questions": "preguntas sobre imágenes",
    "images never seen": "imágenes nunca vistas",
    "colour": "color",
    "count": "cuántos",
    "exists": "¿hay?",
    "left": "a la izquierda",
    "pairs that never met": "parejas que nunca coincidieron",
    **{f"head {n}": f"cabeza {n}" for n in range(1, 5)},
    **{f"encoder, layer {n}": f"codificador, capa {n}" for n in (1, 2)},
    **{f"decoder, layer {n}": f"decodificador, capa {n}" for n in (1, 2)},
    **{f"cross, layer {n}": f"cruzada, capa {n}" for n in (1, 2)},
}
# The words of the tables of `experiments.translators`. Some are unused until their rows are
# measured.
SPANISH_REAL = {
    "translation memory": "memoria de traducción",
    "IBM model 1, word by word": "modelo 1 de IBM, palabra por palabra",
    "GRU without attention": "GRU sin atención",
    "GRU with attention": "GRU con atención",
    "our Transformer": "nuestro Transformer",
    "shape of Keras's tutorial": "la forma del tutorial de Keras",
    "the translator that ships": "el traductor que trae el curso",
    "without near neighbours": "sin vecinas cercanas",
    "seeds": "semillas",
    "parameters": "parámetros",
    "steps": "pasos",
    "BLEU, bare words": "BLEU, palabras solas",
    "words": "palabras",
    "rarest word": "palabra más rara",
    "without": "sin",
    "with": "con",
    "difference": "diferencia",
    "against": "frente a",
    "learning rate": "tasa de aprendizaje",
    "loss": "pérdida",
    "taken": "elegida",
    "pairs": "parejas",
    "best loss": "la menor pérdida",
    "last loss": "la última pérdida",
    "power law": "ley de potencias",
    "beam width": "ancho del haz",
    "changed": "cambio",
    "BLEU, greedy": "BLEU, voraz",
    "BLEU, beam": "BLEU, haz",
    "English to Spanish, pairs as they are": "del inglés al español, parejas tal como son",
    "English to Spanish, mixture": "del inglés al español, mezcla",
    "Spanish to English, mixture": "del español al inglés, mezcla",
    "chrF, greedy": "chrF, voraz",
    "direction": "dirección",
    "English to Spanish": "del inglés al español",
    "Spanish to English": "del español al inglés",
    "difference, BLEU": "diferencia, BLEU",
    "BLEU, typing errors": "BLEU, con erratas",
    "BLEU, two at once": "BLEU, dos a la vez",
    "the pairs alone": "solo las parejas",
    "without exchanged names": "sin cambiar nombres",
    "without exchanged numbers": "sin cambiar números",
    "without sentences of the grammar": "sin oraciones de la gramática",
    "a pointer to the source": "un puntero al origen",
    "a wider encoder, a thinner decoder": "codificador más ancho, decodificador más estrecho",
    "with two sentences joined": "con oraciones unidas de dos en dos",
    "with typing errors": "con erratas",
    "both directions in one model": "las dos direcciones en un modelo",
    "the mean of the last weights": "la media de los últimos pesos",
    "never read": "nunca leídas",
    "BLEU of those": "BLEU de esas",
    "invented names kept": "nombres inventados que se conservan",
    "other numbers kept": "otros números que se conservan",
    "numbers kept, known sentences": "números que se conservan, oraciones conocidas",
    "words of the documents": "palabras de los documentos",
    "chrF, beam": "chrF, haz",
    "BLEU, averaged weights": "BLEU, pesos promediados",
    "nothing": "nada",
    "vectors of 128": "vectores de 128",
    "AdamW for all weights": "AdamW para todos los pesos",
    "no dropout": "sin dropout",
    "no label smoothing": "sin suavizado de etiquetas",
    "two layers": "dos capas",
    "a vocabulary for each language": "un vocabulario para cada lengua",
    "vocabulary of 8,000": "vocabulario de 8,000",
    "last layer not tied": "última capa con su propia matriz",
    "half the learning rate": "la mitad de la tasa de aprendizaje",
    "twice the learning rate": "el doble de la tasa de aprendizaje",
    "residual": "residuo",
    "vocabulary": "vocabulario",
    "joint": "conjunto",
    "one for each": "uno por lengua",
    "tokens per word, English": "tokens por palabra, inglés",
    "tokens per word, Spanish": "tokens por palabra, español",
    "whole words, English": "palabras enteras, inglés",
    "whole words, Spanish": "palabras enteras, español",
}


@dataclass(frozen=True)
class Target:
    """The bound on a column, in every row or in those whose cells match `where`.

    It is tested at the two decimals that the tables show. If a column `control` has the ratio of
    something to a copy of itself, a value that exceeds its target by no more than the control
    deviates from 1 is a tie.

    Examples
    --------
    >>> target = Target("ratio", at_most=1, where={"mask": "none"})
    >>> target.judge([{"mask": "none", "ratio": 0.9}, {"mask": "causal", "ratio": 1.2}])
    {'column': 'ratio', 'where': 'none', 'target': '≤ 1', 'worst': 0.9, 'met': 'yes'}
    """

    column: str
    at_most: float = math.inf
    at_least: float = -math.inf
    where: dict = field(default_factory=dict)
    control: str | None = None

    def judge(self, rows):
        """Return a row with the target and the worst measured value."""
        medians = [_median(row[self.column]) for row in rows if self.where.items() <= row.items()]
        is_ceiling = self.at_most < math.inf
        worst = round(max(medians) if is_ceiling else min(medians), 2)
        noise = max(abs(_median(row[self.control]) - 1) for row in rows) if self.control else 0
        met = "yes" if self.at_least <= worst <= self.at_most else "no"
        if met == "no" and self.at_least - noise <= worst <= round(self.at_most + noise, 2):
            met = "tie"
        return {
            "column": self.column,
            "where": ", ".join(map(str, self.where.values())) or "every row",
            "target": f"≤ {self.at_most:g}" if is_ceiling else f"≥ {self.at_least:g}",
            "worst": worst,
            "met": met,
        }


def _median(cell):
    return cell["median"] if isinstance(cell, dict) else cell


def table(rows, language="en"):
    """Return rows as a Markdown table whose columns line up, numbers on the right.

    The first column names the row, and is aligned on the left.

    Examples
    --------
    >>> print(table([{"mask": "none", "ms": {"median": 0.5, "low": 0.25, "high": 1.0}}], "es"))
    | máscara |               ms |
    |:--------|-----------------:|
    | ninguna | 0.50 (0.25–1.00) |
    >>> table([{"KB": "2,000"}], "es").split("\\n")[-1] == "| 2\\u2009000 |"
    True
    """
    words = SPANISH | SPANISH_REAL if language == "es" else {}
    lines = [list(rows[0]), *([_text(cell) for cell in row.values()] for row in rows)]
    lines = [[words.get(cell, cell) for cell in line] for line in lines]
    # Spanish prose separates thousands with a thin space.
    if language == "es":
        lines = [
            [re.sub(r"(?<=\d),(?=\d{3}\b)", "\u2009", cell) for cell in line] for line in lines
        ]
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_right = [all(NUMBER.match(cell) for cell in column[1:]) for column in columns]
    is_right[0] = False
    head, *body = (
        "| "
        + " | ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_right, strict=True)
        )
        + " |"
        for line in lines
    )
    rules = (
        f"{'-' * (width + 1)}:" if right else f":{'-' * (width + 1)}"
        for width, right in zip(widths, is_right, strict=True)
    )
    return "\n".join([head, f"|{'|'.join(rules)}|", *body])


def _text(cell):
    if isinstance(cell, dict):
        return "{median:.2f} ({low:.2f}–{high:.2f})".format_map(cell)
    return str(cell)


def refresh(page, results, language):
    """Return the text of a page with each result in the first table after its label.

    The label is the result's name, as MyST writes it: ``(attention_layer)=``.
    """
    for name, rows in results.items():
        page, found = re.subn(
            rf"(\({name}\)=\n.*?)(?:^\|[^\n]*\n)+",
            lambda match, rows=rows: f"{match[1]}{table(rows, language)}\n",
            page,
            count=1,
            flags=re.DOTALL | re.MULTILINE,
        )
        if not found:
            raise ValueError(f"page: expected a table after ({name})=, got none")
    return page


def read(file):
    """Return the results stored in a file, by name; none if there is no file yet."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def publish(results, file):
    """Write the results, and update both pages; write nothing if a page lacks a place for a result.

    In the file they are in the order of the page.
    """
    page = min(path.read_text(encoding="utf-8") for path in PAGES[file].values())
    order = re.findall(r"^\((\w+)\)=$", page, flags=re.MULTILINE)
    names = sorted(results, key=lambda name: order.index(name) if name in order else len(order))
    results = {name: results[name] for name in names}
    texts = {file: json.dumps(results, indent=1, ensure_ascii=False) + "\n"}
    for language, path in PAGES[file].items():
        texts[path] = refresh(path.read_text(encoding="utf-8"), results, language)
    for path, text in texts.items():
        write_whole(path, text)
