"""The page's language model: its compiled matrix product against plain JavaScript, in Node.

Both read the packed file of SmolLM2 and compute the same pass; they take turns, and the ratio is
that within each turn. The goal is 25 tokens a second on one core. ``python -m benchmarks
page_model`` prints the CPU time per token and, with the compiled product, of a prompt of 30 tokens.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from attn.io import write_whole
from attn_course.widgets import _source
from benchmarks.timing import ratio, spread

TURNS = 7
PROMPT = 30
GOAL = 25
SCRIPT = """
import { readFileSync } from "node:fs";
import { finished, greedyChoice, loadLlama } from "./llama.mjs";
import { roomFor } from "./packed.mjs";
const [path, kernel, turns, promptLength] = process.argv.slice(2);
const file = readFileSync(path);
const seconds = () => process.cpuUsage().user / 1e6;
const load = (module) => {
  const room = roomFor(file.length, module);
  room.bytes.set(file);
  return loadLlama(room);
};
const models = { plain: load(null), kernel: load(new WebAssembly.Module(readFileSync(kernel))) };
const prompt = Array.from({ length: Number(promptLength) }, (_, i) => 1000 + 7 * i);
const found = { "plain, a token": [], "kernel, a token": [], "kernel, the prompt": [] };
const timed = (name, count, run) => {
  const began = seconds();
  for (let i = 0; i < count; i++) run();
  found[name].push((seconds() - began) / count);
};
for (let turn = 0; turn <= Number(turns); turn++) {
  for (const [name, count] of [["plain", 2], ["kernel", 10]]) {
    const [model, cache] = [models[name], models[name].newCache()];
    finished(model.read(prompt.slice(0, 4), { cache }));
    timed(`${name}, a token`, count, () => greedyChoice(finished(model.read([7], { cache })).logits[0]));
  }
  timed("kernel, the prompt", 1, () => finished(models.kernel.read(prompt)));
  if (turn === 0) Object.values(found).forEach((times) => times.pop()); // The first turn warms up.
}
console.log(JSON.stringify(found));
"""


def measure(path, kernel, turns=TURNS, prompt=PROMPT):
    """Return the CPU seconds of each contender in each turn.

    Parameters
    ----------
    path, kernel : Path
        The file of the model, and the compiled product.
    turns : int, default 7
    prompt : int, default 30
        The number of tokens of the prompt.

    Returns
    -------
    dict of str to list of float
    """
    from tests.machine import node

    with tempfile.TemporaryDirectory() as folder:
        for stem in _source.ENGINE:
            write_whole(Path(folder, f"{stem}.mjs"), _source.module(stem))
        write_whole(Path(folder, "script.mjs"), SCRIPT)
        command = [node(), Path(folder, "script.mjs"), path, kernel, turns, prompt]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, check=True, encoding="utf-8"
        )
    return json.loads(done.stdout)


def main():
    """Measure and print medians and quartiles."""
    from tests.machine import Missing, packed_kernel, smollm2

    try:
        seconds = measure(smollm2(), packed_kernel())
    except Missing as missing:
        sys.exit(str(missing))
    print(f"{'milliseconds of processor':<30}{'median':>8}{'quartiles':>16}")
    for name, times in seconds.items():
        ms = spread(1000 * t for t in times)
        print(f"{name:<30}{ms['median']:>8.1f}{ms['low']:>8.1f}{ms['high']:>8.1f}")
    share = ratio(seconds["kernel, a token"], seconds["plain, a token"])
    print(f"{'kernel / plain, a token':<30}{share['median']:>8.3f}")
    rate = spread(1 / t for t in seconds["kernel, a token"])["median"]
    print(f"{'tokens a second':<30}{rate:>8.1f}   (goal: {GOAL})")


if __name__ == "__main__":
    main()
