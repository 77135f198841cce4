"""The page's language model: its compiled matrix product against plain JavaScript and llama.cpp.

In Node, both products read the packed file of SmolLM2 and compute the same pass; they take turns, and
the ratio is that within each turn. The goal is 25 tokens a second on one core. ``python -m benchmarks
page_model`` prints the CPU time per token and, with the compiled product, of a prompt of 30 tokens.
Then, in Chromium, the same file is read by llama.cpp in WebAssembly (wllama, on one thread), in turns
with ours: the time on the wall for each token.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from attn.io import write_whole
from attn_course.widgets import _source
from benchmarks.timing import ratio, spread
from benchmarks.widget_latency import browser_program, serving

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

# Both continue the same six tokens. The time of the first token, which includes reading them, is
# subtracted.
IN_CHROMIUM = """async ([turns, count]) => {
  const { finished, greedyChoice, loadLlama } = await import("/llama.mjs");
  const { roomFor } = await import("/packed.mjs");
  const { ByteLevelTokenizer } = await import("/byte_level.mjs");
  const { Wllama } = await import("/index.js");
  const file = new Uint8Array(await (await fetch("/model.gguf")).arrayBuffer());
  const room = roomFor(file.length, await WebAssembly.compile(await (await fetch("/packed.wasm")).arrayBuffer()));
  room.bytes.set(file);
  const model = loadLlama(room);
  const prompt = "The capital of France is the";
  const ids = new ByteLevelTokenizer(model.metadata).encode(prompt);
  const theirs = new Wllama({ default: "/wllama.wasm" }, { suppressNativeLog: true });
  await theirs.loadModel([new Blob([file])], { n_ctx: 256, n_threads: 1, n_gpu_layers: 0 });
  const write = {
    kernel(n) {
      const cache = model.newCache();
      let next = ids;
      for (let i = 0; i < n; i++) next = [greedyChoice(finished(model.read(next, { cache })).logits[0])];
    },
    wllama: (n) => theirs.createCompletion({ prompt, max_tokens: n, temperature: 0, cache_prompt: false, ignore_eos: true }),
  };
  const found = { kernel: [], wllama: [] };
  for (let turn = 0; turn <= turns; turn++) {
    for (const [name, run] of Object.entries(write)) {
      const times = [];
      for (const n of [1, 1 + count]) {
        const began = performance.now();
        await run(n);
        times.push(performance.now() - began);
      }
      if (turn) found[name].push((times[1] - times[0]) / 1000 / count); // The first turn warms up.
    }
  }
  return found;
}"""


def measure_in_chromium(path, kernel, turns=TURNS, count=20):
    """Return the seconds a token of our model and of llama.cpp, in each turn.

    Parameters
    ----------
    path, kernel : Path
        As in `measure`.
    turns : int, default 7
    count : int, default 20
        The number of tokens that each writes in a turn.

    Returns
    -------
    dict of str to list of float
    """
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "book" / "_ext"))
    from vendor import fetch

    program, wllama = browser_program(), fetch("@wllama/wllama") / "esm"
    with tempfile.TemporaryDirectory() as folder:
        for stem in ("llama", "packed", "byte_level"):
            write_whole(Path(folder, f"{stem}.mjs"), _source.module(stem))
        write_whole(Path(folder, "index.html"), "<!doctype html>")
        for file in (wllama / "index.js", wllama / "wasm" / "wllama.wasm"):
            shutil.copy(file, folder)
        shutil.copy(kernel, Path(folder, "packed.wasm"))
        Path(folder, "model.gguf").symlink_to(path)
        with serving(folder) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(f"{address}/index.html")
            found = page.evaluate(IN_CHROMIUM, [turns, count])
            browser.close()
    return found


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
        files = smollm2(), packed_kernel()
    except Missing as missing:
        sys.exit(str(missing))
    seconds = measure(*files)
    report("milliseconds of processor", seconds, "kernel, a token", "plain, a token")
    rate = spread(1 / t for t in seconds["kernel, a token"])["median"]
    print(f"{'tokens a second':<30}{rate:>8.1f}   (goal: {GOAL})\n")
    report("milliseconds in Chromium", measure_in_chromium(*files), "kernel", "wllama")


def report(title, seconds, one, other):
    """Print the times of each contender, and the ratio of two of them."""
    print(f"{title:<30}{'median':>8}{'quartiles':>16}")
    for name, times in seconds.items():
        ms = spread(1000 * t for t in times)
        print(f"{name:<30}{ms['median']:>8.1f}{ms['low']:>8.1f}{ms['high']:>8.1f}")
    share = ratio(seconds[one], seconds[other])
    print(f"{f'{one} / {other}':<30}{share['median']:>8.3f}")


if __name__ == "__main__":
    main()
