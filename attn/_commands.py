"""The commands of ``python -m attn``: each takes its options and prints its results."""

import argparse
import io
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attn._checks import argument_error

# The commands import these names when they run, since PyTorch takes seconds to load.
if TYPE_CHECKING:
    from attn.applications.translation import Translator
    from attn.corpus import Pair
    from attn.training import Progress

# A loss on fewer pairs would say little.
LEAST_HELD_OUT = 10
SHOWN = 5


def translate(options: argparse.Namespace) -> None:
    """Print a translation of each sentence, or of each line of a file.

    For a translator of the course, say which texts do not seem to be in the language that it reads.
    """
    from attn.applications.translation.recogniser import doubt

    translator = _translator(options)
    search = {"beam_width": options.beam, "length_penalty": options.length_penalty}
    if options.file is not None:
        if options.text:
            raise argument_error("file", "no sentences beside it", options.file)
        search["mark_guessed"] = options.mark_guessed
        return _translate_file(translator, options.file, search, options.model is None)
    for text in options.text:
        found = translator.translation(text, **search) if options.mark_guessed else None
        print(found.marked() if found else translator.translate(text, **search))
        if options.model is None:
            _say_doubt("text", doubt(text, translator.source_language))
    if not options.text:
        search["mark_guessed"] = options.mark_guessed
        _translate_typed(translator, search, options.model is None)


def _say_doubt(where: str, doubt: str) -> None:
    """Print the doubt about the language of a translated text, if there is one."""
    if doubt:
        print(f"{where}: {doubt}; translated all the same", file=sys.stderr)


def _translate_typed(translator: "Translator", search: dict[str, Any], doubts: bool) -> None:
    """Print the translation of each line of standard input as soon as it is there."""
    from attn._lines import lines_of
    from attn.applications.translation.lines import translate_lines

    # Python sets sys.stdin to None if the descriptor was closed at the start.
    stdin = sys.stdin or io.StringIO()
    typed = getattr(stdin, "buffer", None)
    read = typed.read1 if typed is not None else lambda n_bytes: stdin.readline().encode()
    for number, line in enumerate(lines_of(read, "standard input"), 1):
        (found,) = translate_lines(translator, [line], **search)
        if found.problem:
            print(f"line {number}: {found.problem}", file=sys.stderr)
        elif found.translation:
            print(found.translation, flush=True)
            if doubts:
                _say_doubt(f"line {number}", found.doubt)


def _translate_file(
    translator: "Translator", path: Path, search: dict[str, Any], doubts: bool
) -> None:
    """Print the translation of each line, or an empty line where there is no translation."""
    from attn._lines import read_lines
    from attn.applications.translation.lines import translate_lines

    began, number, n_tokens = time.monotonic(), 0, 0
    for number, line in enumerate(translate_lines(translator, read_lines(path), **search), 1):
        if line.problem:
            print(f"{path}, line {number}: {line.problem}", file=sys.stderr)
        if doubts:
            _say_doubt(f"{path}, line {number}", line.doubt)
        print(line.translation)
        n_tokens += line.n_tokens
    rate = n_tokens / (time.monotonic() - began)
    print(f"{number} lines, {rate:,.0f} tokens a second", file=sys.stderr)


def train(options: argparse.Namespace) -> None:
    """Train a translator and save it."""
    from attn.applications.translation import RECIPES, Recipe, Translator
    from attn.training import is_main_process

    # The output folder is checked first, since training takes minutes.
    out = _checked_out(options.out)
    pairs, validation = _pairs_to_train(options)
    sizes = {
        "d_model": options.width,
        "n_layers": options.layers,
        "n_heads": options.heads,
        "d_ff": options.width and 4 * options.width,
    }
    training = {name: getattr(options, name) for name in ("steps", "seed", "device", "precision")}
    training |= {"checkpoint_every": 500, "validate_every": 500 if validation else None}
    recipe = Recipe() if options.pairs else RECIPES.get(options.corpus, Recipe())
    recipe = recipe.but(
        options.tokenizer, options.vocab_size, sizes, training | {"compile": options.compile}
    )
    checkpoint = out.with_name(out.name + ".checkpoint")
    # A terminal shows a progress bar instead of these lines.
    log = None if sys.stderr.isatty() else _Log()
    translator = Translator.fit(
        pairs,
        **vars(recipe),
        validation=validation,
        checkpoint=checkpoint,
        report=log,
        source_language=options.source_language or "en",
    )
    if is_main_process():
        translator.save(out, quantised=options.quantised)
        checkpoint.unlink(missing_ok=True)
        if validation:
            found = translator.evaluate(validation)
            scores = "BLEU {bleu:.1f}, chrF {chrf:.1f}".format_map(found)
            print(f"On {len(validation)} pairs held out: {scores}")
        print(f"Saved: {options.out}")


class _Log:
    """Prints a line for each hundredth of a training, where a progress bar cannot be shown."""

    def __init__(self) -> None:
        self.began, self.n_tokens = time.monotonic(), 0

    def __call__(self, now: "Progress") -> None:
        self.n_tokens += now.n_terms
        if 100 * now.step // now.steps > 100 * (now.step - 1) // now.steps:
            rate = self.n_tokens / (time.monotonic() - self.began)
            said = f"loss {now.loss:.3f}, {rate:,.0f} tokens a second"
            # Training continues when the reader of its messages is gone.
            with suppress(BrokenPipeError):
                print(f"step {now.step} of {now.steps}: {said}", file=sys.stderr, flush=True)


def evaluate(options: argparse.Namespace) -> None:
    """Print the scores of the translations of each split, or of a file of pairs."""
    translator = _translator(options, None if options.pairs else options.corpus)
    if options.pairs:
        parts: dict[str, Sequence[Pair]] = {options.pairs.name: _read(options.pairs)}
    else:
        from attn.corpus import named

        parts = named(options.corpus)(n_train=0)
        del parts["train"]
        if translator.source_language != "en":
            parts = {name: _turned(pairs) for name, pairs in parts.items()}
    head = f"{'':16}{'pairs':>6}{'exact match':>13}{'tokens':>9}{'BLEU':>7}{'chrF':>7}\n"
    for name, pairs in parts.items():
        found = translator.evaluate(
            pairs, beam_width=options.beam, length_penalty=options.length_penalty
        )
        row = "{:16}{n_pairs:6}{exact_match:13.1%}{token_accuracy:9.2%}{bleu:7.1f}{chrf:7.1f}"
        print(head + row.format(name, **found))
        head = ""
    print(f"BLEU {found['bleu_signature']}\nchrF {found['chrf_signature']}")


def fetch(options: argparse.Namespace) -> None:
    """Download the pretrained models that are named, if needed, and print their paths."""
    from attn.pretrained import fetched

    for name in options.name:
        print(f"{name}: {fetched(name)}")


def _checked_out(out: Path) -> Path:
    """Return the path of the output folder; refuse one that `train` could not write at the end."""
    from attn.applications._folder import resolved
    from attn.applications.translation import Translator

    place = resolved("out", out)
    if place.exists():
        try:
            Translator.load(place)
        except ValueError:
            raise argument_error("out", "a new folder or a translator to replace", out) from None
    return place


def _pairs_to_train(
    options: argparse.Namespace,
) -> "tuple[Sequence[Pair], Sequence[Pair] | None]":
    """Return the pairs to learn from and those to validate with."""
    if options.pairs is None:
        from attn.corpus import named

        parts = named(options.corpus)()
        train, validation = parts["train"], parts["validation"]
        if options.source_language == "es":
            return _turned(train), _turned(validation)
        return train, validation
    from attn.corpus import hold_out

    pairs = _read(options.pairs)
    n_held_out = min(len({pair.source for pair in pairs}) // 20, 500)
    return hold_out(pairs, n_held_out) if n_held_out >= LEAST_HELD_OUT else (pairs, None)


def _turned(pairs: "Sequence[Pair]") -> "list[Pair]":
    """Return the pairs of a corpus, whose sources are English, with source and target exchanged."""
    return [pair.turned() for pair in pairs]


def _read(path: Path) -> "list[Pair]":
    """Return the pairs of a file, and report the lines that hold no pair."""
    from attn.corpus import read_pairs

    reader = read_pairs(path)
    pairs = list(reader)
    for problem in reader.problems[:SHOWN]:
        print(f"{path}, {problem}", file=sys.stderr)
    if reader.n_problems > SHOWN:
        print(f"{path}: {reader.n_problems} such lines in all", file=sys.stderr)
    if not pairs:
        raise argument_error(
            "pairs", "lines with a text, a tab and its translation", f"none in {path}"
        )
    return pairs


def _translator(options: argparse.Namespace, name: str | None = None) -> "Translator":
    """Return the translator in a user's folder, or that of the course for a corpus."""
    from attn.applications import models
    from attn.applications.translation import Translator

    wanted = options.source_language
    if options.model is not None:
        translator = Translator.load(options.model, device=options.device)
        if wanted not in (None, translator.source_language):
            expected = f"{translator.source_language!r}, which {options.model} reads"
            raise argument_error("from", expected, repr(wanted))
        return translator
    chosen = name if name in models.TRANSLATORS else models.TRANSLATOR
    return Translator.pretrained(chosen, source_language=wanted or "en", device=options.device)
