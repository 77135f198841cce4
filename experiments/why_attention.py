"""The accuracy and the time of a recurrent encoder-decoder, with and without attention.

Writes ``notebooks/data/why_attention.json``, which chapter 01 draws: the accuracy of reversing
strings, by length; the transcription of a noisy signal, and the decoder's attention; the time of
one layer as the sequence grows, relative to attention at the shortest length, so that machines can
be compared.
"""

import statistics
import time

import torch
from torch import nn

from attn.recurrent import RecurrentEncoderDecoder
from experiments.runner import DATA, Experiment, Row

LETTERS = 26
START = LETTERS
D_MODEL = 64
BATCH_SIZE = 64
MODELS = (
    ("bottleneck", False, D_MODEL),
    ("bottleneck_twice", False, 2 * D_MODEL),
    ("attention", True, D_MODEL),
)
SEED = 0
SEEDS = (0, 1, 2)

TRAINED = range(3, 21)
TESTED = (5, 10, 15, 20, 25, 30, 40)
REVERSAL_STEPS = 3_000

WORD, FRAMES, HEARD = 8, 40, 0.8
SPEECH_STEPS = 1_000

LENGTHS = (64, 256, 1024, 4096, 16384)
REPEATS = 5
RESULTS = DATA / "why_attention.json"


def share(right):
    """Return the share of some booleans that is true."""
    return round(float(right.float().mean()), 4)


def reversal(generator, length, size=BATCH_SIZE):
    """Return random strings and their reversals."""
    source = torch.randint(LETTERS, (size, length), generator=generator)
    return source, source.flip(1)


def speech(generator, size=BATCH_SIZE):
    """Return frames of a signal, its letters, and the index of the letter of each frame.

    A letter lasts two or more frames, at random. With probability 4/5 a frame shows its letter,
    and otherwise a random letter, which may be the same. No letter is repeated directly, because
    the repetition would be inaudible.
    """
    jumps = torch.randint(1, LETTERS, (size, WORD), generator=generator)
    letters = jumps.cumsum(1) % LETTERS
    extra = torch.randint(WORD, (size, FRAMES - 2 * WORD), generator=generator)
    owner = torch.cat([torch.arange(WORD).repeat(size, 2), extra], dim=1).sort(dim=1).values
    frames = letters.gather(1, owner)
    noise = torch.randint(LETTERS, frames.shape, generator=generator)
    heard = torch.rand(frames.shape, generator=generator) < HEARD
    return torch.where(heard, frames, noise), letters, owner


def inputs(target):
    """Return the decoder's input for `target`: a start token, then all letters but the last."""
    return torch.cat([torch.full((len(target), 1), START), target[:, :-1]], dim=1)


def train(attention, batch, steps, d_model=D_MODEL, seed=SEED):
    """Return a model trained for `steps` on the pairs that ``batch(generator)`` draws."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = RecurrentEncoderDecoder(LETTERS + 1, d_model, attention=attention)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in range(steps):
        source, target = batch(generator)
        logits, _ = model(source, inputs(target))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


@torch.no_grad()
def write(model, source, length):
    """Return the greedy output of the model."""
    written = torch.full((len(source), 1), START)
    for _ in range(length):
        logits, _ = model(source, written)
        written = torch.cat([written, logits[:, -1:].argmax(-1)], dim=1)
    return written[:, 1:]


def measure_reversal(steps=REVERSAL_STEPS, tested=TESTED, size=256, seeds=SEEDS):
    """Return the share of right letters, by seed and length: one vector, a larger one, attention.

    The test strings are the same for all.
    """

    def batch(generator):
        i = int(torch.randint(len(TRAINED), (), generator=generator))
        return reversal(generator, TRAINED[i])

    accuracy = {}
    for name, attention, d_model in MODELS:
        accuracy[name] = []
        for seed in seeds:
            model = train(attention, batch, steps, d_model, seed)
            generator = torch.Generator().manual_seed(SEED + 1)
            tests = [reversal(generator, length, size) for length in tested]
            right = [write(model, s, s.shape[1]) == target for s, target in tests]
            accuracy[name].append([share(r) for r in right])
    return {
        "trained": [TRAINED[0], TRAINED[-1]],
        "steps": steps,
        "lengths": list(tested),
        "accuracy": accuracy,
    }


def vote(frames, owner):
    """Return the most frequent letter among the frames of each letter, the best under this noise.

    Ties go to the first in the alphabet.
    """
    heard = nn.functional.one_hot(frames, LETTERS)
    return (nn.functional.one_hot(owner, WORD).mT @ heard).argmax(-1)


def measure_speech(steps=SPEECH_STEPS, size=512):
    """Return the accuracy of transcribing a signal, and the attention of the decoder.

    The attention and `letters_right_given` are measured with the right previous letters; for
    `letters_right` the model reads its own previous letters.
    """
    model = train(True, lambda generator: speech(generator)[:2], steps)
    frames, letters, owner = speech(torch.Generator().manual_seed(SEED + 1), size)
    written = write(model, frames, WORD)
    with torch.no_grad():
        logits, weights = model(frames, inputs(letters), need_weights=True)
    peaks = weights.argmax(-1)
    inside = owner.gather(1, peaks) == torch.arange(WORD)
    near = (owner[:, None] == torch.arange(WORD)[:, None]) * weights
    example = {"frames": frames[0].tolist(), "letters": letters[0].tolist()}
    return {
        "signals": size,
        "letters_right": share(written == letters),
        "letters_right_given": share(logits.argmax(-1) == letters),
        "vote": share(vote(frames, owner) == letters),
        "peak_in_segment": share(inside),
        "weight_in_segment": round(float(near.sum(-1).mean()), 3),
        "forward": share(peaks.diff(dim=1) > 0),
        "example": {
            **example,
            "owner": owner[0].tolist(),
            "weights": [[round(w, 3) for w in row] for row in weights[0].tolist()],
        },
    }


def layers(length):
    """Return, by name, a call that computes one layer over a sequence and its gradient."""
    torch.manual_seed(SEED)
    x = torch.randn(1, length, D_MODEL, requires_grad=True)
    recurrent = nn.GRU(D_MODEL, D_MODEL, batch_first=True)
    projections = nn.Linear(D_MODEL, 3 * D_MODEL)

    def attend():
        query, key, value = projections(x)[:, None].chunk(3, dim=-1)
        nn.functional.scaled_dot_product_attention(query, key, value).sum().backward()

    return {"recurrent": lambda: recurrent(x)[0].sum().backward(), "attention": attend}


def measure_time(lengths=LENGTHS, repeats=REPEATS):
    """Return the median time of each layer by length, relative to attention at the shortest.

    The CPU time of the forward and backward pass of one sequence is measured, so that other
    programs do not count.
    """
    seconds = {"recurrent": [], "attention": []}
    for length in lengths:
        runs = layers(length)
        times = {name: [] for name in runs}
        # Short lengths get more turns, because their times are noisier.
        for turn in range(repeats * (max(lengths) // length) + 1):
            for name, run in runs.items():
                began = time.process_time()
                run()
                # The first turn is a warm-up.
                if turn:
                    times[name].append(time.process_time() - began)
        for name, values in times.items():
            seconds[name].append(statistics.median(values))
    unit = seconds["attention"][0]
    relative = {name: [round(s / unit, 1) for s in times] for name, times in seconds.items()}
    return {"lengths": list(lengths), "relative_time": relative}


def rows():
    """Return what is measured, by its name in the file."""
    return {
        "reversal": Row(measure_reversal, ("reversal",)),
        "speech": Row(measure_speech, ("speech",)),
        "time": Row(measure_time, ("time",)),
    }


EXPERIMENT = Experiment(
    "What does a recurrent encoder-decoder lose, and what does it cost, with and without attention?",
    RESULTS,
    rows,
    minutes=10,
)
