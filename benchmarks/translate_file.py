"""(h) Memory of the command that translates a file, as the file grows."""

import dataclasses
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from attn.applications.translation import TRAINING, Translator
from attn.corpus import Pair
from benchmarks.report import ROOT, Target

N_LINES = (2_000, 20_000, 200_000, 400_000)
# The lines have a thousand different words, which repeat, or a new word each, because the tokenizer
# caches the ids of words.
TEXTS = {"few words, MB": lambda n: n % 1000, "new words, MB": lambda n: n}
TARGETS = (
    Target("few words, MB", at_most=20),
    Target("new words, MB", at_most=60),
)
# A process's peak memory includes that of its parent at the start, so a small launcher starts it.
LAUNCHER = """
import os, sys
process = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[1:]], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""
UNIT = 1 if sys.platform == "darwin" else 1024


def tiny_translator(steps=100):
    """Return a minimal translator of bytes, which writes one or two digits for a number."""
    pairs = [Pair(digit * n, digit) for n in range(1, 8) for digit in "0123456789"]
    sizes = {"d_model": 8, "n_heads": 1, "n_layers": 1, "d_ff": 8, "dropout": 0.0}
    training = dataclasses.replace(TRAINING, steps=steps, warmup_steps=10, device="cpu")
    return Translator.fit(pairs, tokenizer="bpe", vocab_size=260, sizes=sizes, training=training)


def peak(model, path):
    """Return the peak memory of ``python -m attn translate --file``, in megabytes."""
    command = [sys.executable, "-c", LAUNCHER, "-m", "attn", "translate"]
    done = subprocess.run(
        [*command, "--model", model, "--file", path],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return int(done.stderr.split()[-1]) * UNIT / 1e6


def measure(n_lines=N_LINES, texts=TEXTS):
    """Return one row per number of lines: the megabytes beyond those for an empty file."""
    with tempfile.TemporaryDirectory() as folder:
        model, path = Path(folder) / "model", Path(folder) / "lines.txt"
        tiny_translator().save(model)
        path.touch()
        nothing = peak(model, path)
        rows = []
        for count in n_lines:
            rows.append({"lines": count})
            for name, text in texts.items():
                with path.open("w", encoding="utf-8") as file:
                    file.writelines(f"{text(n)}\n" for n in range(count))
                rows[-1][name] = round(peak(model, path) - nothing, 1)
    return rows
