"""Retrieval of a number at positions beyond those of a pretrained model's training.

A text of some two hundred tokens says the number of each of four people, with sentences of the
grammar between them, and asks for the first person's number. To put that number far away without
reading tens of thousands of tokens, the positions jump once, before the question, as in the
training of Zhu et al. (2024), PoSE, section 3. The text then has the distances of a long text, but
not its distractors. In the controls the positions jump right after the first number, so that the
rest of the text is far away too, or the texts are really long.
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
# The position of the question, from the one in a text without jumps (0) to four times the limit.
FARTHEST = (0, 1024, 2048, 4096, 6144, 8192, 12288, 16384, 24576, 32768)
FACTOR = 4
# The controls: the number of texts, the ways, the positions of the question where the jump comes
# after the first number, and the numbers of sentences between two numbers of a long text.
N_CONTROL, CONTROLLED = 20, ("as_trained", "rebased", "yarn")
BEHIND_THE_NUMBER, LONG = (2048, 4096, 8192, 12288), (25, 52)


def ways(model):
    """Return copies of the model that rotate queries and keys in different ways."""
    config = model.config
    base, d_k = config.rotary_base, config.d_model // config.n_heads
    yarn = {"rope_type": "yarn", "original_max_position_embeddings": config.max_len}
    relatives = {
        "as_trained": RotaryPositions(base),
        "interpolated": RotaryPositions(base, {"rope_type": "linear", "factor": FACTOR}),
        "rebased": RotaryPositions(base * FACTOR ** (d_k / (d_k - 2))),
        "yarn": RotaryPositions(base, yarn | {"factor": FACTOR}),
        # The control: the same frequencies, without the scaling of queries and keys.
        "yarn_not_grown": RotaryPositions(base, yarn | {"factor": FACTOR, "attention_factor": 1.0}),
    }
    found = {}
    for name, relative in relatives.items():
        found[name] = twin(model)
        for layer in found[name].stack.layers:
            layer.self_attention.relative = relative
    return found


def drawn(seed, n_between=N_BETWEEN):
    """Return the sentences of a text, the last one cut before the digits, and all the numbers."""
    dice = random.Random(seed)
    names = dice.sample(NAMES, N_PEOPLE)
    numbers = ["".join(dice.choices("0123456789", k=N_DIGITS)) for _ in names]
    between = itertools.islice(generate(seed), N_PEOPLE * n_between)
    filler = [pair.source.capitalize() + "." for pair in between]
    sentences = []
    for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
        sentences += [f"The number of {name} is {number}."]
        sentences += filler[i * n_between : (i + 1) * n_between]
    return [*sentences, f"The number of {names[0]} is"], numbers


def n_tokens(tokenizer, n_texts, n_between=N_BETWEEN):
    """Return the number of tokens of each of the first texts."""
    texts = (" ".join(drawn(seed, n_between)[0]) for seed in range(n_texts))
    return [len(tokenizer.encode(text)) for text in texts]


@torch.inference_mode()
def answered(model, tokenizer, seed, farthest=FARTHEST, jump=-1, n_between=N_BETWEEN):
    """Yield, for each position of the question, the answer and the loss of the right digits.

    The positions jump before the sentence with the number `jump`; the part before it is read once.
    """
    sentences, numbers = drawn(seed, n_between)
    near = torch.tensor([tokenizer.encode(" ".join(sentences[:jump]))])
    rest = tokenizer.encode(" " + " ".join(sentences[jump:]))
    digits = torch.tensor(tokenizer.encode(f" {numbers[0]}"))
    asked = torch.cat([torch.tensor(rest), digits[:-1]])[None]
    cache, length = model.new_cache(), near.shape[-1]
    model(near, positions=torch.arange(length)[None], cache=cache)
    for last in farthest:
        first = last - len(rest) + 1 if last else length
        positions = first + torch.arange(asked.shape[-1])[None]
        logits = model(asked, positions=positions, cache=cache)[0][0, -len(digits) :]
        cache.truncate(length)
        # Each digit is predicted after the right ones, so the first wrong one decides.
        said = tokenizer.decode(logits.argmax(dim=-1).tolist()).strip()
        logits, right = logits[-N_DIGITS:], digits[-N_DIGITS:]
        yield said, float(torch.nn.functional.cross_entropy(logits, right))


def judged(found):
    """Return, by text and position, whether the number is right, or another's, and the loss."""
    numbers = [drawn(seed)[1] for seed in range(len(found))]
    told = list(zip(found, numbers, strict=True))
    return {
        "right": [[int(said == of[0]) for said, _ in row] for row, of in told],
        "of_another": [[int(said in of[1:]) for said, _ in row] for row, of in told],
        "loss": [[round(loss, 2) for _, loss in row] for row in found],
    }


def measure(told, keep):
    """Measure every way on every text, at every distance, and then the controls."""
    model, tokenizer = smollm2()
    lengths = n_tokens(tokenizer, N_TEXTS)
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
    models = ways(model)
    for name, way in models.items():
        if name not in rows:
            found = [list(answered(way, tokenizer, seed)) for seed in range(N_TEXTS)]
            rows[name] = judged(found)
            keep(told)
    told["setting"] |= {"controls": N_CONTROL, "behind_the_number": BEHIND_THE_NUMBER}
    behind, long = told.setdefault("behind_the_number", {}), told.setdefault("long", {})
    for name in CONTROLLED:
        if name not in behind:
            behind[name] = judged(
                [
                    list(answered(models[name], tokenizer, seed, BEHIND_THE_NUMBER, jump=1))
                    for seed in range(N_CONTROL)
                ]
            )
            keep(told)
    for n_between in LONG:
        if str(n_between) not in long:
            way, place = models["as_trained"], {"farthest": (0,), "n_between": n_between}
            lengths = n_tokens(tokenizer, N_CONTROL, n_between)
            found = judged(
                [list(answered(way, tokenizer, seed, **place)) for seed in range(N_CONTROL)]
            )
            long[str(n_between)] = found | {"tokens": round(sum(lengths) / len(lengths))}
            keep(told)
