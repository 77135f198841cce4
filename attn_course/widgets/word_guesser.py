"""`WordGuesser`: hide a word, and see what models that read different parts predict."""

import numpy as np
import traitlets

from attn import reference
from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

# The number of words of each model that are shown.
SHOWN = 5
TEXT = {
    "es": {
        "caption": "«{sentence}», sin la palabra {place}, «{word}». Lo más probable según cada "
        "modelo.",
        "head": ["modelo", *map(str, range(1, SHOWN + 1)), "la correcta"],
        "masked": "codificador",
        "causal": "decodificador",
        "recurrent": "dos GRU",
    },
    "en": {
        "caption": "“{sentence}”, without word {place}, “{word}”. The most probable according to "
        "each model.",
        "head": ["model", *map(str, range(1, SHOWN + 1)), "the right one"],
        "masked": "encoder",
        "causal": "decoder",
        "recurrent": "two GRUs",
    },
}
MODELS = ("masked", "causal", "recurrent")


class WordGuesser(Widget):
    """Hide any word of a sentence and see which words three models put in its place.

    Parameters
    ----------
    tokens : list of str
        The vocabulary.
    sentences : list of list of str
        The words of each, all of them in the vocabulary.
    logits : dict of str to list of array_like, each of shape (n_words, vocab_size)
        For ``"masked"``, ``"causal"`` and ``"recurrent"``, in this order, and for each sentence:
        the score of every token in the place of every word, the word itself being unknown.
    sentence : int, default 0
        The one to begin with.
    hidden : int, default 0
        The word of it that is hidden.
    language : {"es", "en"}, optional
        By default, the language in use.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> logits = {name: [[[0.0, 1.0]]] for name in MODELS}
    >>> WordGuesser(["a", "b"], [["b"]], logits, language="en")
    WordGuesser(['b'], language='en')
    """

    _stem = "word_guesser"
    _state = ("sentences", "sentence", "hidden")
    _esm = module(_stem)
    _css = stylesheet()

    sentences = traitlets.List(traitlets.Dict()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    hidden = traitlets.Int(0).tag(sync=True)

    def __init__(self, tokens, sentences, logits, *, sentence=0, hidden=0, language=None):
        tokens = check_labels("tokens", tokens)
        if tuple(logits) != MODELS:
            raise argument_error(
                "logits", f"the models {', '.join(MODELS)}", ", ".join(logits) or "none"
            )
        for name in MODELS:
            if len(logits[name]) != len(sentences):
                raise argument_error(
                    f"logits[{name!r}]", f"{len(sentences)} arrays", len(logits[name])
                )
        places = {token: i for i, token in enumerate(tokens)}
        told = [
            _guesses(f"sentences[{i}]", tokens, places, words, [logits[m][i] for m in MODELS])
            for i, words in enumerate(sentences)
        ]
        if not told:
            raise argument_error("sentences", "at least one", "none")
        sentence = check_whole("sentence", sentence, 0, len(told) - 1)
        hidden = check_whole("hidden", hidden, 0, len(told[sentence]["words"]) - 1)
        super().__init__(language, sentences=told, sentence=sentence, hidden=hidden)

    def _fallback(self):
        text, told = TEXT[self.language], self.sentences[self.sentence]
        rows = []
        for name in MODELS:
            guess = told[name][self.hidden]
            best = [f"{word} {decimals(p, 3)}" for word, p in guess["best"]]
            best += [""] * (SHOWN - len(best))
            rows.append([text[name], *best, decimals(guess["right"], 3)])
        caption = text["caption"].format(
            sentence=" ".join(told["words"]),
            place=self.hidden + 1,
            word=told["words"][self.hidden],
        )
        return table(caption, text["head"], rows)

    def __repr__(self):
        shown = [" ".join(told["words"]) for told in self.sentences]
        return f"WordGuesser({shown!r}, language={self.language!r})"


def _guesses(name, tokens, places, words, logits):
    """Return the words of a sentence and the guesses of each model for each word."""
    words = check_labels(name, words)
    unknown = [word for word in words if word not in places]
    if unknown:
        raise argument_error(name, "words of the vocabulary", repr(unknown[0]))
    told = {"words": words}
    for model, scores in zip(MODELS, logits, strict=True):
        scores, shape = np.asarray(scores, dtype=float), (len(words), len(tokens))
        if scores.shape != shape or not np.isfinite(scores).all():
            expected = f"finite numbers of shape {shape} for {name}"
            raise argument_error(f"logits[{model!r}]", expected, scores.shape)
        told[model] = []
        for word, row in zip(words, reference.softmax(scores), strict=True):
            order = np.argsort(-row, kind="stable")
            best = [[tokens[i], round(float(row[i]), 3)] for i in order[:SHOWN]]
            right = float(row[places[word]])
            rank = 1 + int((row > right).sum())
            told[model].append({"best": best, "right": round(right, 3), "rank": rank})
    return told
