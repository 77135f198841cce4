"""The command line: ``python -m attn translate``, ``train``, ``evaluate``, ``fetch``."""

import argparse
import codecs
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from attn import _commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status.

    An error that a user can correct is reported in one sentence, without a stack trace.
    """
    with _escaped_output(), _terminated_as_interrupted():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
        # Python sets sys.stdout to None if the descriptor was closed at the start.
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except ValueError as error:
        print(error, file=sys.stderr)
    except ModuleNotFoundError as error:
        # The package was installed without its extras.
        print(f'{error.name} is missing: pip install ".[torch]" brings it', file=sys.stderr)
    except OSError as error:
        # At exit, Python would flush the same buffer and fail again, so the output now leads
        # nowhere.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The program that reads our output, such as head, has closed the pipe. That is not an
        # error.
        if isinstance(error, BrokenPipeError):
            return 0
        print(f"{error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt as interrupt:
        print("\nInterrupted.", file=sys.stderr)
        # `_terminated_as_interrupted` gives it the number of the signal, Python's Ctrl+C nothing.
        return 128 + (interrupt.args[0] if interrupt.args else signal.SIGINT)
    return 1


@contextmanager
def _escaped_output() -> Iterator[None]:
    """Escape characters that the encoding of the output lacks, and report them."""
    lacking: set[str] = set()

    def escape(error: UnicodeError) -> tuple[str | bytes, int]:
        if isinstance(error, UnicodeEncodeError):
            letters = {*error.object[error.start : error.end]}
            lacking.update(c for c in letters if not "\ud800" <= c <= "\udfff")
        return codecs.backslashreplace_errors(error)

    output = sys.stdout
    # A test may have put another object here, and a closed output is None.
    if not isinstance(output, TextIOWrapper):
        yield
        return
    before = output.errors
    codecs.register_error("attn.escape", escape)
    output.reconfigure(errors="attn.escape")
    try:
        yield
    finally:
        # If the reader of the pipe is gone, flushing the buffer fails.
        with suppress(OSError):
            output.reconfigure(errors=before)
        if lacking:
            names = " ".join(sorted(lacking)).encode("ascii", "backslashreplace").decode()
            said = f"the encoding {output.encoding} lacks letters, which are written as {names}"
            print(f"output: {said}; PYTHONIOENCODING=utf-8 has all", file=sys.stderr)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl+C does, so that it cleans up."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    if threading.current_thread() is not threading.main_thread():
        # Only the main thread may set a signal handler.
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m attn", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser("translate", help="translate between English and Spanish")
    command.add_argument("text", nargs="*", help="sentences; read from standard input if none")
    command.add_argument("--file", type=Path, help="translate its lines, one by one")
    command.add_argument(
        "--mark-guessed",
        action="store_true",
        help="put [?] after each word that is more likely wrong than right",
    )
    command.set_defaults(run=_commands.translate)

    command = commands.add_parser("train", help="train a translator; also under torchrun")
    command.add_argument("--out", type=Path, required=True, help="the folder to save it in")
    command.add_argument("--pairs", type=Path, help="a file: source, tab, target, on each line")
    command.add_argument("--tokenizer", choices=("words", "bpe"))
    command.add_argument("--vocab-size", type=int, help="tokens of each language")
    command.add_argument("--width", type=int, metavar="D_MODEL", help="of the vectors (64)")
    command.add_argument("--layers", type=int, metavar="N", help="on each side (2)")
    command.add_argument("--heads", type=int, metavar="N", help="of each attention (4)")
    command.add_argument("--steps", type=int)
    command.add_argument("--seed", type=int)
    command.add_argument("--precision", choices=("float32", "bfloat16"))
    command.add_argument("--compile", action="store_true", help="with torch.compile")
    command.add_argument("--quantised", action="store_true", help="save the weights as int8")
    command.set_defaults(run=_commands.train)

    command = commands.add_parser("evaluate", help="compare translations with the right ones")
    command.add_argument("--pairs", type=Path, help="a file as for train, instead of a corpus")
    command.set_defaults(run=_commands.evaluate)

    command = commands.add_parser("fetch", help="fetch models that others trained")
    command.add_argument("name", nargs="+", help="smollm2 or minilm")
    command.set_defaults(run=_commands.fetch)

    for name in ("train", "evaluate"):
        commands.choices[name].add_argument(
            "--corpus",
            default="grammar",
            metavar="NAME",
            help="grammar, the course's (the default); tatoeba, which people wrote; mixture, both; "
            "or another that an installed package offers",
        )
    for name in ("train", "translate", "evaluate"):
        commands.choices[name].add_argument(
            "--from",
            dest="source_language",
            choices=("en", "es"),
            help="the language to translate from (default: en"
            + (
                ", or that of the --model)" if name != "train" else "; of a file, its first column)"
            ),
        )
        commands.choices[name].add_argument(
            "--device",
            choices=("auto", "cpu", "cuda", "mps"),
            default=None if name == "train" else "cpu",
            help="where to compute",
        )
    for name in ("translate", "evaluate"):
        add = commands.choices[name].add_argument
        add("--model", type=Path, metavar="FOLDER", help="a trained one, not the course's own")
        add("--beam", type=int, default=1, metavar="N", help="hypotheses to keep (default: 1)")
        add(
            "--length-penalty",
            type=float,
            default=0.0,
            metavar="X",
            help="above 0, a beam prefers longer translations (default: 0; usual: 0.6 to 1)",
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
