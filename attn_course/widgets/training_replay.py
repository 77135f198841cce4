"""`TrainingReplay`: a translator while it is trained, moment by moment."""

import numpy as np
import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_flag, check_labels, check_whole, decimals, table
from attn_course.widgets._source import module, stylesheet

MEASURES = ("train", "validation", "exact", "aer")

TEXT = {
    "es": {
        "caption": "Entrenamiento de un traductor: lo que escribe para «{}» en cada momento.",
        "head": [
            "paso",
            "pérdida, entrenamiento",
            "pérdida, validación",
            "coincidencia exacta",
            "error de alineación",
            "traducción",
        ],
    },
    "en": {
        "caption": "Training of a translator: what it writes for “{}” at each moment.",
        "head": [
            "step",
            "loss, training",
            "loss, validation",
            "exact match",
            "alignment error",
            "translation",
        ],
    },
}


class TrainingReplay(Widget):
    """Play a training forwards and back: its curves, its words, and its cross-attention.

    Parameters
    ----------
    replay : dict
        As ``experiments/training_curves.py`` writes it. ``steps``: the numbers of the steps
        looked at. ``train``, ``validation``, ``exact`` and ``aer``: as many numbers, losses and
        shares. ``sentences``: each with ``source`` and ``target``, lists of tokens; the links
        ``sure`` and ``possible``, pairs (source, target); ``texts``, what was written at each
        step; ``weights``, of shape (n_steps, tgt_len, src_len), in per cent.
    sentence : int
        Which one is shown at first, from 0.
    frame : int
        Which of the steps is shown at first, from 0.
    language : {"es", "en"}, optional
        By default, the language in use.
    attention : bool
        Whether the cross-attention and the shares are shown beside the words and the loss.

    Raises
    ------
    ValueError
        If the parts of `replay` do not fit together, or there is no such sentence or frame.

    Examples
    --------
    >>> sentence = {
    ...     "source": ["red"], "target": ["roja", "<eos>"], "sure": [[0, 0]], "possible": [[0, 0]],
    ...     "texts": ["", "roja"], "weights": [[[100], [100]], [[100], [100]]],
    ... }
    >>> curves = {"train": [7.1, 1.2], "validation": [7.2, 0.2], "exact": [0, 0.9], "aer": [0.8, 0]}
    >>> TrainingReplay({"steps": [0, 800], **curves, "sentences": [sentence]}, language="en")
    TrainingReplay([0, 800], language='en')
    """

    _stem = "training_replay"
    _state = ("replay", "sentence", "frame", "attention")
    _esm = module(_stem)
    _css = stylesheet()

    replay = traitlets.Dict().tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True)
    frame = traitlets.Int(0).tag(sync=True)
    attention = traitlets.Bool(True).tag(sync=True)

    def __init__(self, replay, sentence=0, frame=0, language=None, *, attention=True):
        replay = _checked(replay)
        sentence = check_whole("sentence", sentence, 0, len(replay["sentences"]) - 1)
        frame = check_whole("frame", frame, 0, len(replay["steps"]) - 1)
        super().__init__(
            language,
            replay=replay,
            sentence=sentence,
            frame=frame,
            attention=check_flag("attention", attention),
        )

    @traitlets.validate("sentence", "frame")
    def _validate(self, proposal):
        name = proposal["trait"].name
        most = len(self.replay["sentences" if name == "sentence" else "steps"])
        return check_whole(name, proposal["value"], 0, most - 1)

    def _fallback(self):
        text, shown = TEXT[self.language], self.replay["sentences"][self.sentence]
        columns = zip(*(self.replay[name] for name in MEASURES), strict=True)
        rows = [
            [str(step), *map(decimals, numbers), _brief(written)]
            for step, numbers, written in zip(
                self.replay["steps"], columns, shown["texts"], strict=True
            )
        ]
        return table(text["caption"].format(" ".join(shown["source"])), text["head"], rows)

    def __repr__(self):
        return f"TrainingReplay({self.replay['steps']}, language={self.language!r})"


def _brief(text, most=10):
    """Return the first words of a text, because an untrained model does not stop."""
    words = text.split()
    return " ".join(words[:most]) + (" …" if len(words) > most else "") if words else "–"


def _checked(replay):
    """Check that the parts of a replay fit, and return those that are shown."""
    missing = [name for name in ("steps", *MEASURES, "sentences") if name not in replay]
    if missing:
        raise argument_error("replay", f"an entry {missing[0]!r}", sorted(replay))
    n_steps = len(replay["steps"])
    if n_steps < 2 or not len(replay["sentences"]):
        got = f"{n_steps} and {len(replay['sentences'])}"
        raise argument_error("replay", "two steps or more, and a sentence", got)
    plain = {"steps": [check_whole("replay.steps", n, 0, 10**9) for n in replay["steps"]]}
    for name in MEASURES:
        numbers = np.asarray(replay[name])
        if numbers.shape != (n_steps,) or not np.isfinite(numbers).all():
            raise argument_error(f"replay.{name}", f"{n_steps} finite numbers", numbers)
        plain[name] = numbers.tolist()
    plain["sentences"] = [_sentence(sentence, n_steps) for sentence in replay["sentences"]]
    return plain


def _sentence(sentence, n_steps):
    source = check_labels("sentences.source", sentence["source"])
    target = check_labels("sentences.target", sentence["target"])
    weights = np.asarray(sentence["weights"])
    shape = (n_steps, len(target), len(source))
    if weights.shape != shape or weights.dtype.kind not in "iu":
        got = f"{weights.dtype} of shape {weights.shape}"
        raise argument_error("sentences.weights", f"integers of shape {shape}", got)
    if len(sentence["texts"]) != n_steps:
        raise argument_error(
            "sentences.texts", f"{n_steps}, one for each step", len(sentence["texts"])
        )
    links = {name: sorted(map(list, sentence[name])) for name in ("sure", "possible")}
    texts = [str(text) for text in sentence["texts"]]
    return {
        "source": source,
        "target": target,
        **links,
        "texts": texts,
        "weights": weights.tolist(),
    }
