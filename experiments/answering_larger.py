"""The steps of `experiments.answering` in a model with ten times the parameters.

``python -m experiments answering_larger`` pretrains a model of three million parameters, and teaches
it by examples, by preferences and by two rewards, with five seeds. Texts, prompts, numbers of steps
and measures are those of the small model. No learning rate is searched: each is that of the small
model, divided by the ratio of the widths (Yang et al., 2022, Table 8).
"""

from functools import cache, partial

import torch

from attn.transformer import DecoderOnly, TransformerConfig
from experiments import answering
from experiments.induction import rounded
from experiments.runner import DATA, Experiment, Row, read

RESULTS = DATA / "answering_larger.json"
SEEDS = (0, 1, 2, 3, 4)
SIZES = answering.SIZES | {"d_model": 256, "n_heads": 8, "n_layers": 4, "d_ff": 1024}
NARROWER = answering.SIZES["d_model"] / SIZES["d_model"]
# The reward and the weight of the KL penalty of each training with GRPO.
REWARDS = {"reward": ("verifier", 0.0), "hole": ("hole", 0.0), "leash": ("hole", 0.3)}


def rate_of(*place):
    """Return the learning rate for a step: that of the small model, for the larger width."""
    return NARROWER * answering.best_rate(read(answering.RESULTS), *place)


def predicting(seed):
    """Return a model, and an iterator that pretrains it and yields the loss of each step."""
    torch.manual_seed(seed)
    model = DecoderOnly(TransformerConfig(len(answering.words()), **SIZES))
    return model, answering.predicting(model, seed, NARROWER * answering.PREDICTING["rate"])


@cache
def base(seed):
    """Return a pretrained model and its first losses."""
    model, steps = predicting(seed)
    return model, list(steps)[: answering.N_FIRST]


@cache
def beginning(seed):
    """Return the model after the examples, with which the later steps begin."""
    examples = answering.parts()["prompts"][: answering.TUNED_ON]
    return answering.tuned(base(seed)[0], examples, rate_of("tuning", "answer"), seed)


def after(seed, step):
    """Return how the model answers after a step of its training."""
    model, first = base(seed)
    told = {"parameters": sum(p.numel() for p in model.parameters())}
    if step == "predicting":
        return rounded(told | {"first_losses": first} | answering.judged(model, model))
    reference = beginning(seed)
    if step == "tuning":
        return rounded(told | answering.judged(reference, model))
    if step == "preferences":
        found = answering.preferences_of(reference, seed)
        model, _ = answering.preferring(reference, found, rate_of("preferences"), seed)
    else:
        kind, leash = REWARDS[step]
        rate = rate_of("reward", kind)
        model, _ = answering.rewarding(reference, kind, rate, seed, leash)
    return rounded(told | answering.judged(model, reference))


def rows():
    """Return one row for each seed and step."""
    steps = ("predicting", "tuning", "preferences", *REWARDS)
    return {
        f"{step} {seed}": Row(partial(after, seed, step), (step, str(seed)))
        for seed in SEEDS
        for step in steps
    }


EXPERIMENT = Experiment(
    "What does each step teach a language model of three million parameters?",
    RESULTS,
    rows,
    minutes=70,
)
