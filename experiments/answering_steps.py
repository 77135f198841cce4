"""Steps before an answer, and distillation of a small model from a larger one.

*Steps.* In an invented world each being has a friend, a teacher, a doctor and a brother. A model is
asked who stands at some place of a walk, such as the king's friend's doctor's brother's teacher,
and answers with a Spanish phrase that the grammar checks. Before it is trained on walks, every
model is fine-tuned on all the single facts. The prompts, the number of examples and the number of
training steps do not depend on whether the question needs one fact or four in a row.

*Distillation.* The model that `experiments.answering` trains with a reward is the teacher of a
model a third of its size.
"""

import copy
import itertools
import random
from functools import cache, partial

import torch

from attn.decoding import greedy
from attn.transformer import DecoderOnly, TransformerConfig
from attn_course.answering import answer_loss, distillation_loss, verify
from attn_course.grammar import translate
from experiments import answering
from experiments.answering import (
    BOS,
    EOS,
    FEW,
    N_FIRST,
    SEEDS,
    SIZES,
    TO,
    TUNED_ON,
    TUNING_SEED,
    answers,
    asked_and_answered,
    base,
    beginning,
    best_rate,
    decoded,
    encoded,
    judged,
    parts,
    predicting,
    rewarding,
    stepped,
    taught_by_reward,
    validated,
    words,
)
from experiments.induction import rounded
from experiments.runner import DATA, Experiment, Row, read

RESULTS = DATA / "answering_steps.json"
RATES, BATCH = (1e-3, 2e-3, 4e-3), 32
BEINGS = ("king", "queen", "man", "woman", "boy", "girl", "actress", "cow", "cat", "dog")
RELATIONS = ("friend", "teacher", "doctor", "brother")
ADJECTIVES = ("hungry", "ill", "old", "sick", "tired")
WALKING = {"asked": (1, 2, 3, 4), "examples": 1024, "test": 256, "steps": 200, "longer": 600}
KNOWING = {"steps": 150, "rate": 2e-3}
KINDS = ("alone", "steps", "filler", "after")
# The index of the intermediate step that is replaced by a wrong one, to test whether the answer
# follows it.
ALTERED = 2
SMALL = SIZES | {"d_model": 48, "d_ff": 192}
DISTILLING = {"steps": 240, "rates": (4e-3, 8e-3, 1.6e-2)}
LESSONS = ("true, 256", "answers, 256", "soft, 256", "true, 2048", "answers, 2048", "soft, 2048")
LESSONS += ("accepted, 2048",)
# The learning rate is searched for these only. Other soft lessons use the rate of "soft, 2048", and
# all others that of "true" with as many prompts.
TRIED = ("true, 256", "true, 2048", "soft, 2048", "reward")


# Steps.


@cache
def world(seed):
    """Return, for each relation, a map from each being to a different being."""
    rng, found = random.Random(500 + seed), {}
    for relation in RELATIONS:
        others = list(BEINGS)
        while any(map(str.__eq__, BEINGS, others)):
            rng.shuffle(others)
        found[relation] = dict(zip(BEINGS, others, strict=True))
    return found


def walk(seed, start, relations):
    """Return the beings on a walk, one for each relation."""
    return [start := world(seed)[relation][start] for relation in relations]


@cache
def walks(seed):
    """Return prompts with the beings on their walks: those for training, and those for the test."""
    every = list(itertools.product(BEINGS, itertools.product(RELATIONS, repeat=len(RELATIONS))))
    rng = random.Random(600 + seed)
    rng.shuffle(every)
    found = [
        (f"{rng.choice(ADJECTIVES)} {start} {' '.join(relations)}", walk(seed, start, relations))
        for start, relations in every[: WALKING["examples"] + WALKING["test"]]
    ]
    return found[: WALKING["examples"]], found[WALKING["examples"] :]


def phrase(prompt, being):
    return f"the {prompt.split()[0]} {being}"


def reply(kind, prompt, path, asked, rng):
    """Return the target tokens: the answer, with what this kind writes before or after it."""
    said, steps = (
        encoded(translate(phrase(prompt, path[asked - 1])).target),
        encoded(" ".join(path)),
    )
    if kind == "alone":
        return [*said, EOS]
    if kind == "after":
        return [*said, TO, *steps, EOS]
    if kind == "filler":
        steps = [TO] * len(steps)
    if kind == "wrong":
        steps = encoded(" ".join(rng.choices(BEINGS, k=len(path))))
    return [*steps, TO, *said, EOS]


def learning(model, examples, n_steps, rate, seed):
    """Return an iterator that trains on (prompt, reply tokens) pairs and yields each loss."""
    rng = random.Random(seed)

    def loss_at(_):
        prompts, replies = zip(*rng.sample(examples, BATCH), strict=True)
        ids, taught = asked_and_answered(prompts, replies)
        return answer_loss(model(ids)[0], ids, taught)

    return stepped(model, loss_at, n_steps, rate)


@cache
def knowing(seed):
    """Return the pretrained model fine-tuned on every fact, and its accuracy on the facts."""
    model = copy.deepcopy(base(seed))
    facts = itertools.product(ADJECTIVES, BEINGS, RELATIONS)
    examples = [
        (f"{adjective} {start} {relation}", world(seed)[relation][start])
        for adjective, start, relation in facts
    ]
    taught = [(prompt, reply("alone", prompt, [being], 1, None)) for prompt, being in examples]
    for _ in learning(model, taught, KNOWING["steps"], KNOWING["rate"], seed):
        pass
    return model, right(model, "alone", [(prompt, [being]) for prompt, being in examples], 1)


@torch.no_grad()
def replies(model, prompts, begun=None):
    """Return the greedy replies to prompts of one length, each continuing its prefix in `begun`."""
    begun = begun or [[]] * len(prompts)
    ids = torch.tensor([[BOS, *encoded(p), TO, *b] for p, b in zip(prompts, begun, strict=True)])
    limits = {"end_id": EOS, "max_new_tokens": answering.LONGEST, "pad_id": answering.PAD}
    said = greedy(model.step, ids, cache=model.new_cache(), **limits)[:, ids.shape[1] :].tolist()
    return [row[: row.index(EOS)] if EOS in row else [] for row in said]


def answered(kind, said):
    """Return the part of a reply that is its answer."""
    return " ".join(words()[i] for i in said).split("<to>")[0 if kind in ("alone", "after") else -1]


def right(model, kind, tests, asked, begun=None, paths=None):
    """Return the share of prompts for which the answer at place `asked` of the walk is right."""
    prompts, truths = zip(*tests, strict=True)
    said = replies(model, prompts, begun)
    passed = [
        verify(phrase(prompt, path[asked - 1]), answered(kind, one))
        for prompt, path, one in zip(prompts, paths or truths, said, strict=True)
    ]
    return sum(passed) / len(passed)


def altered(seed, model, asked):
    """Return how often the original and the implied answer follow after one step is made wrong."""
    rng, begun, other = random.Random(700 + seed), [], []
    tests = walks(seed)[1]
    for prompt, path in tests:
        wrong = rng.choice([being for being in BEINGS if being != path[ALTERED]])
        rest = walk(seed, wrong, prompt.split()[ALTERED + 3 :])
        other.append([*path[:ALTERED], wrong, *rest])
        begun.append(encoded(" ".join(other[-1][: ALTERED + 1])))
    return {
        "true": right(model, "steps", tests, asked, begun),
        "follows": right(model, "steps", tests, asked, begun, other),
    }


def walking(seed, kind, asked, rate, n_steps=WALKING["steps"]):
    """Return a copy of the tuned model, and an iterator that trains it on walks."""
    model, rng = copy.deepcopy(knowing(seed)[0]), random.Random(seed)
    examples = [(p, reply(kind, p, path, asked, rng)) for p, path in walks(seed)[0]]
    return model, learning(model, examples, n_steps, rate, seed)


def walking_rates(kind):
    """Return the mean accuracy of each rate for one fact and for four, with the tuning seed."""
    found = {}
    for rate in RATES:
        shares = []
        for asked in (WALKING["asked"][0], WALKING["asked"][-1]):
            model, losses = walking(TUNING_SEED, kind, asked, rate)
            list(losses)
            shares.append(right(model, kind, walks(TUNING_SEED)[1], asked))
        found[str(rate)] = sum(shares) / 2
    return rounded(found)


def of_steps(seed, name, asked):
    """Return the row of a model trained on walks with one kind of reply."""

    def measure(stored):
        kind = name.removesuffix(", longer")
        rate = best_rate(stored, "steps", "steps" if kind == "wrong" else kind)
        n_steps, tests = WALKING["longer" if kind != name else "steps"], walks(seed)[1]
        model, losses = walking(seed, kind, asked, rate, n_steps)
        told = {"first_losses": [next(losses) for _ in range(N_FIRST)]}
        early = itertools.islice(losses, n_steps // 4 - N_FIRST)
        list(early)
        told["early"] = right(model, kind, tests, asked)
        list(losses)
        told["right"] = right(model, kind, tests, asked)
        if kind == "steps":
            told["altered"] = altered(seed, model, asked)
        return rounded(told)

    return measure


# Distillation.


def rates_of_before():
    """Return the rates of fine-tuning and of the reward training in `experiments.answering`."""
    before = read(answering.RESULTS)
    return best_rate(before, "tuning", "answer"), best_rate(before, "reward", "verifier")


@cache
def teacher(seed):
    """Return the model trained with the reward, and its greedy answers to all prompts."""
    model, _ = taught_by_reward(seed, "verifier", 0.0, *rates_of_before())
    said = answers(model, [source for source, _ in parts()["prompts"]])
    return model, [decoded(answer) for answer in said]


def new_small(seed):
    torch.manual_seed(seed)
    return DecoderOnly(TransformerConfig(len(words()), **SMALL))


@cache
def small(seed):
    """Return a small pretrained model, and its first losses."""
    model = new_small(seed)
    losses = list(predicting(model, seed))
    return model, losses[:N_FIRST]


def lesson(seed, name):
    """Return the pairs of a prompt and an answer that a small model is trained on."""
    source, n_prompts = name.split(", ")
    true = parts()["prompts"][: int(n_prompts)]
    if source == "true":
        return true
    said = [(prompt, answer) for (prompt, _), answer in zip(true, teacher(seed)[1], strict=False)]
    return [pair for pair in said if source != "accepted" or verify(*pair)]


def distilled(seed, name, rate):
    """Return a small model trained on a lesson."""
    model, rng, examples = copy.deepcopy(small(seed)[0]), random.Random(seed), lesson(seed, name)

    def loss_at(_):
        sources, said = zip(*rng.sample(examples, BATCH), strict=True)
        ids, taught = asked_and_answered(sources, [[*encoded(answer), EOS] for answer in said])
        logits = model(ids)[0]
        if not name.startswith("soft"):
            return answer_loss(logits, ids, taught)
        with torch.no_grad():
            wanted = teacher(seed)[0](ids)[0]
        return distillation_loss(logits, wanted, taught)

    for _ in stepped(model, loss_at, DISTILLING["steps"], rate):
        pass
    return model


def rate_of(stored, name):
    """Return the learning rate of a lesson."""
    source, n_prompts = name.split(", ")
    return best_rate(stored, "distil", "soft, 2048" if source == "soft" else f"true, {n_prompts}")


def small_and_rewarded(seed, stored, rate):
    """Return the small model trained as the teacher: on the same examples, then the reward."""
    begun = distilled(seed, LESSONS[0], rate_of(stored, LESSONS[0]))
    return rewarding(begun, "verifier", rate, seed)[0]


def distilling_rates(stored, name):
    """Return the validation score of each rate, with the seed that is not reported."""
    rates = answering.REWARDING["rates"] if name == "reward" else DISTILLING["rates"]
    if name == "reward":
        tried = {one: small_and_rewarded(TUNING_SEED, stored, one) for one in rates}
    else:
        tried = {one: distilled(TUNING_SEED, name, one) for one in rates}
    return rounded({str(rate): validated(model) for rate, model in tried.items()})


def of_distillation(seed, name):
    """Return the row of a small model, the teacher, or the teacher before its reward training."""

    def measure(stored):
        told = {}
        if name == "teacher":
            model = teacher(seed)[0]
            passed = [verify(*pair) for pair in lesson(seed, "answers, 2048")]
            told["prompts_right"] = sum(passed) / len(passed)
        elif name == "before the reward":
            model = beginning(seed, rates_of_before()[0])
        elif name == "predicting":
            model, told["first_losses"] = small(seed)
        elif name == "reward":
            model = small_and_rewarded(seed, stored, best_rate(stored, "distil", name))
        else:
            model = distilled(seed, name, rate_of(stored, name))
        return rounded(told | judged(model, teacher(seed)[0]))

    return measure


def rows():
    """Return what is measured: the rates, and then each row of each seed."""
    found = {
        f"rates, steps, {kind}": Row(partial(walking_rates, kind), ("rates", "steps", kind))
        for kind in KINDS
    }

    def add(measure, *place):
        found[", ".join(place)] = Row(measure, place, reads=True)

    for seed in SEEDS:
        add(lambda _, seed=seed: rounded(knowing(seed)[1]), "facts", str(seed))
        for kind, asked in itertools.product(KINDS, WALKING["asked"]):
            add(of_steps(seed, kind, asked), "steps", kind, str(asked), str(seed))
        for name in ("wrong", "alone, longer", *(["steps, longer"] if seed in FEW else [])):
            last = WALKING["asked"][-1]
            add(of_steps(seed, name, last), "steps", name, str(last), str(seed))
    for name in TRIED:
        add(partial(distilling_rates, name=name), "rates", "distil", name)
    for seed in SEEDS:
        for name in ("teacher", "before the reward", "predicting", *LESSONS, "reward"):
            add(of_distillation(seed, name), "distil", name, str(seed))
    return found


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "seeds": SEEDS,
        "walked": WALKING | {"relations": len(RELATIONS), "beings": len(BEINGS)},
        "small": SMALL,
        "distilled": DISTILLING | {"batch": BATCH, "examples": TUNED_ON},
    }


EXPERIMENT = Experiment(
    "When do steps before the answer help, and what does a small model learn from a larger one?",
    RESULTS,
    rows,
    minutes=25,
    constants=constants,
)
