"""A number to be found again, in positions that a pretrained model never saw.

A text of some two hundred tokens says the number of each of four people, one sentence after the
other with sentences of the grammar between them, and asks for that of the first. To let it stand
far away without reading tens of thousands of tokens, the positions jump between two sentences, by
the same number each time: within a sentence they are as they were. The trick is that of Zhu et al.
(2024), PoSE, section 3. So the text has the distances of a long one and not its distractions.
"""

import itertools
import random

import torch

from attn.positions import RotaryPositions
from attn_course.grammar import generate
from experiments.modern_tasks import smollm2
from experiments.modern_training import twin

NAMES = ("Rosa", "Peter", "Marta", "John", "Clara", "Henry", "Lucy", "Oscar")
N_TEXTS, N_PEOPLE, N_BETWEEN, N_DIGITS = 40, 4, 5, 5
# The position of the question, by what it is in a text without jumps (0) to four times the limit.
FARTHEST = (0, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 24576, 32768)
FACTOR = 4


def ways(model):
    """Return copies of the model, by how they turn queries and keys."""
    config = model.config
    base, d_k = config.rotary_base, config.d_model // config.n_heads
    yarn = {"rope_type": "yarn", "original_max_position_embeddings": config.max_len}
    relatives = {
        "as_trained": RotaryPositions(base),
        "interpolated": RotaryPositions(base, {"rope_type": "linear", "factor": FACTOR}),
        "rebased": RotaryPositions(base * FACTOR ** (d_k / (d_k - 2))),
        "yarn": RotaryPositions(base, yarn | {"factor": FACTOR}),
        # The control: the same waves, without the growth of queries and keys.
        "yarn_not_grown": RotaryPositions(base, yarn | {"factor": FACTOR, "attention_factor": 1.0}),
    }
    found = {}
    for name, relative in relatives.items():
        found[name] = twin(model)
        for layer in found[name].stack.layers:
            layer.self_attention.relative = relative
    return found


def drawn(seed):
    """Return the sentences of a text, the last of them cut before the digits, and the digits."""
    dice = random.Random(seed)
    names = dice.sample(NAMES, N_PEOPLE)
    numbers = ["".join(dice.choices("0123456789", k=N_DIGITS)) for _ in names]
    between = itertools.islice(generate(seed), N_PEOPLE * N_BETWEEN)
    filler = [pair.source.capitalize() + "." for pair in between]
    sentences = []
    for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
        sentences += [f"The number of {name} is {number}."]
        sentences += filler[i * N_BETWEEN : (i + 1) * N_BETWEEN]
    return [*sentences, f"The number of {names[0]} is"], numbers


@torch.inference_mode()
def answered(model, tokenizer, seed, farthest=FARTHEST):
    """Yield, for each place of the question, what the model says and the loss of the right digits.

    Nothing before the question stands elsewhere, so it is read once.
    """
    sentences, numbers = drawn(seed)
    told = torch.tensor([tokenizer.encode(" ".join(sentences[:-1]))])
    question = tokenizer.encode(f" {sentences[-1]}")
    digits = torch.tensor(tokenizer.encode(f" {numbers[0]}"))
    asked = torch.cat([torch.tensor(question), digits[:-1]])[None]
    cache = model.new_cache()
    model(told, positions=torch.arange(told.shape[-1])[None], cache=cache)
    for last in farthest:
        first = last - len(question) + 1 if last else told.shape[-1]
        positions = first + torch.arange(asked.shape[-1])[None]
        logits = model(asked, positions=positions, cache=cache)[0][0, -len(digits) :]
        cache.truncate(told.shape[-1])
        # Each digit is predicted after the right ones, so that the first wrong one decides.
        said = tokenizer.decode(logits.argmax(dim=-1).tolist()).strip()
        logits, right = logits[-N_DIGITS:], digits[-N_DIGITS:]
        yield said, float(torch.nn.functional.cross_entropy(logits, right))


def measure(told, keep):
    """Ask every way for the number of every text, at every distance."""
    model, tokenizer = smollm2()
    lengths = [len(tokenizer.encode(" ".join(drawn(seed)[0]))) for seed in range(N_TEXTS)]
    told.setdefault(
        "setting",
        {
            "texts": N_TEXTS,
            "people": N_PEOPLE,
            "farthest": FARTHEST,
            "factor": FACTOR,
            "max_len": model.config.max_len,
            "tokens": [min(lengths), max(lengths)],
        },
    )
    rows = told.setdefault("rows", {})
    for name, way in ways(model).items():
        if name in rows:
            continue
        found = [list(answered(way, tokenizer, seed)) for seed in range(N_TEXTS)]
        numbers = [drawn(seed)[1] for seed in range(N_TEXTS)]
        # A row is a text, a column a distance.
        rows[name] = {
            "right": [
                [int(said == of[0]) for said, _ in row]
                for row, of in zip(found, numbers, strict=True)
            ],
            "of_another": [
                [int(said in of[1:]) for said, _ in row]
                for row, of in zip(found, numbers, strict=True)
            ],
            "loss": [[round(loss, 2) for _, loss in row] for row in found],
        }
        keep(told)
