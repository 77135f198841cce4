"""SmolLM2 learns by LoRA to name the largest of three numbers: from examples, then from a reward.

The task has one right answer, which a program checks: ``max(52,50,94)=`` continues with ``94`` and
the end of the line. Only the last layers get trainable matrices, so that the gradient is not
computed further down, and a question is read once for all its answers. Every number is measured on
questions whose three numbers were in no training, in any order. The rates were chosen with a seed
that is not reported. One model serves all seeds, which differ only in the values of the trainable
matrices.
"""

import random
from functools import cache, partial

import torch
from torch import nn

from attn.decoding import greedy, sample
from attn.pretrained import fetched, load
from attn_course.answering import (
    answer_loss,
    group_advantages,
    kl_estimate,
    policy_gradient_loss,
    token_log_probabilities,
)
from attn_course.everyday import everyday
from attn_course.low_rank import adapt
from experiments.induction import rounded
from experiments.runner import DATA, Experiment, Row

RESULTS, SEEDS = DATA / "answering_lora.json", (0, 1, 2)
# A test compares this number of first losses with the recorded training.
N_FIRST = 3
RANK, N_ADAPTED, NAMES = 8, 12, ("q_proj", "k_proj", "v_proj", "out_proj")
N_TEST, N_DRAWN, LONGEST, TEXT = 64, 2, 3, (2, 128)
TUNING = {"examples": 16, "steps": 12, "batch": 8, "rate": 1e-3}
REWARDING = {"steps": 24, "questions": 4, "answers": 8, "rate": 1e-3}
# What each reward is called, and the strength of its KL penalty.
REWARDS = {"verifier": 0.0, "verifier, leash": 0.3, "by chance": 0.0}


@cache
def triples():
    """Return three numbers for each test question, and others for training."""
    rng = random.Random(0)
    found = sorted({tuple(sorted(rng.sample(range(10, 100), 3))) for _ in range(4000)})
    found = [rng.sample(each, 3) for each in rng.sample(found, len(found))]
    return found[:N_TEST], found[N_TEST:]


@cache
def adapted():
    """Return the model with LoRA matrices in its last layers, these matrices, and the tokenizer."""
    model, tokenizer = load(fetched("smollm2", download=False))
    learns = adapt(
        nn.ModuleList(model.requires_grad_(False).stack.layers[-N_ADAPTED:]), RANK, names=NAMES
    )
    return model, learns, tokenizer


def encoded(text):
    return adapted()[2].encode(text)


def questions(asked, name="max"):
    """Return the ids of questions, all of one length because every number has two digits."""
    return torch.tensor([encoded(f"{name}({a},{b},{c})=") for a, b, c in asked])


def answered(number):
    return encoded(f"{number}\n")


@torch.no_grad()
def put(values):
    """Give the matrices these values; return the values they had."""
    before = [p.clone() for p in adapted()[1]]
    for p, value in zip(adapted()[1], values, strict=True):
        p.copy_(value)
    return before


@cache
def untrained(seed):
    """Return initial values, with which the model computes the same as without the matrices."""
    torch.manual_seed(seed)
    return [
        torch.randn(p.shape) * p.shape[1] ** -0.5 if p.shape[0] == RANK else torch.zeros(p.shape)
        for p in adapted()[1]
    ]


def read(ids, n, shared=0):
    """Return each question `n` times, with a cache of all its tokens but the last.

    The first `shared` tokens, which all questions have in common, are read once.
    """
    model = adapted()[0]
    cache, rows = model.new_cache(), torch.arange(len(ids)).repeat_interleave(n)
    if shared:
        model.stack(model.embedding(ids[:1, :shared]), is_causal=True, cache=cache)
        cache.reorder(torch.zeros(len(ids), dtype=torch.long))
    model.stack(model.embedding(ids[:, shared:-1]), is_causal=True, cache=cache)
    cache.reorder(rows)
    return ids[rows], cache


@torch.no_grad()
def answers(ids, n=1, generator=None, shared=0):
    """Return `n` answers to each question: sampled with `generator`, or greedy without one."""
    end, (rows, cache) = encoded("\n")[0], read(ids, n, shared)
    limits = {"end_id": end, "max_new_tokens": LONGEST, "pad_id": end, "cache": cache}
    step = adapted()[0].step
    said = (
        sample(step, rows, generator=generator, **limits)
        if generator
        else greedy(step, rows, **limits)
    )
    said = said[:, ids.shape[1] :].tolist()
    return [row[: row.index(end) + 1] if end in row else row for row in said]


def written(ids, said):
    """Return the logits of answers to questions, their ids, and a mask of the tokens that count."""
    rows, cache = read(ids, len(said) // len(ids))
    longest = max(map(len, said))
    tail = torch.tensor([answer + [0] * (longest - len(answer)) for answer in said])
    ids = torch.cat((rows[:, -1:], tail), dim=1)
    counts = torch.tensor([[False] + [i < len(answer) for i in range(longest)] for answer in said])
    return adapted()[0](ids, cache=cache)[0], ids, counts


def logged(ids, said):
    """Return the log-probability of each token of the answers, and zeros at the padding."""
    logits, ids, counts = written(ids, said)
    return token_log_probabilities(logits, ids) * counts[:, 1:]


def passed(asked, said, verifier=max):
    """Return 1 for each answer that is right in every token, else 0; shape (questions, answers)."""
    n = len(said) // len(asked)
    found = [float(a == answered(verifier(asked[i // n]))) for i, a in enumerate(said)]
    return torch.tensor(found).view(-1, n)


def stepped(loss_at, n_steps, rate):
    """Return an iterator that trains the matrices and yields the loss of each step."""
    learns = adapted()[1]
    optimizer = torch.optim.AdamW(learns, lr=rate, weight_decay=0.0)
    for number in range(n_steps):
        optimizer.param_groups[0]["lr"] = rate * (1 - 0.9 * number / n_steps)
        loss = loss_at(number)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learns, 1.0)
        optimizer.step()
        yield loss.item()


def showing(draw, n_steps):
    """Return an iterator that trains on right answers to the questions that `draw` gives."""

    def loss_at(_):
        asked = draw()
        return answer_loss(*written(questions(asked), [answered(max(each)) for each in asked]))

    return stepped(loss_at, n_steps, TUNING["rate"])


def examples(seed):
    return random.Random(seed).sample(triples()[1], TUNING["examples"])


@cache
def tuned(seed):
    """Return the values of the matrices after tuning on a few examples, and the first losses."""
    put(untrained(seed))
    draw = partial(random.Random(seed).sample, examples(seed), TUNING["batch"])
    losses = list(showing(draw, TUNING["steps"]))
    return put(untrained(seed)), losses[:N_FIRST]


def asking(seed):
    """Return a function that draws the questions of a step."""
    return partial(random.Random(100 + seed).sample, triples()[1], REWARDING["questions"])


def rewarding(seed, kind, reference, told):
    """Return an iterator that trains with a reward; each step adds the share right to `told`."""
    draw, generator = asking(seed), torch.Generator().manual_seed(100 + seed)

    def loss_at(_):
        asked = draw()
        ids = questions(asked)
        said = answers(ids, REWARDING["answers"], generator)
        rewards = passed(asked, said)
        told.append(rewards.mean().item())
        if kind == "by chance":
            rewards = torch.randint(2, rewards.shape, generator=generator).float()
        leash, before = REWARDS[kind], None
        if leash:
            # The reference is evaluated first: the matrices must not change between the forward
            # pass and its gradient.
            now = put(reference)
            with torch.no_grad():
                before = logged(ids, said)
            put(now)
        likely = logged(ids, said)
        loss = policy_gradient_loss(likely.sum(dim=1), group_advantages(rewards).flatten())
        return loss + leash * kl_estimate(likely, before).sum(dim=1).mean() if leash else loss

    return stepped(loss_at, REWARDING["steps"], REWARDING["rate"])


def exam(ids, shared=0):
    """Return the sampled answers to the test questions, and how many are right."""
    asked = triples()[0]
    said = answers(ids, N_DRAWN, torch.Generator().manual_seed(7), shared)
    one_of_three = [any(a == answered(n) for n in asked[i // N_DRAWN]) for i, a in enumerate(said)]
    return said, {
        "drawn": passed(asked, said).mean().item(),
        "greedy": passed(asked, answers(ids, shared=shared)).mean().item(),
        "one_of_three": sum(one_of_three) / len(said),
    }


@torch.no_grad()
def judged(reference):
    """Return the test results, the divergence from a reference, and results on other tasks."""
    asked, model = triples()[0], adapted()[0]
    ids = questions(asked)
    said, found = exam(ids)
    # The divergence and the other task are measured on half of the questions.
    half = N_TEST // 2
    some = ids[:half], said[: N_DRAWN * half : N_DRAWN]
    likely, now = logged(*some), put(reference)
    away = (likely - logged(*some)).sum(dim=1)
    put(now)
    least = answers(questions(asked[:half], "min"))
    text = torch.tensor(encoded(" ".join(pair.source for pair in everyday())))
    text = text[: TEXT[0] * TEXT[1]].view(TEXT)
    return found | {
        "kl": away.mean().item(),
        "text": -token_log_probabilities(model(text)[0], text).mean().item(),
        "min": passed(asked[:half], least, min).mean().item(),
        "max_for_min": passed(asked[:half], least).mean().item(),
    }


def taught(seed, kind):
    """Return the row of a training after the tuning: none, on more examples, or with a reward."""
    start, losses = tuned(seed)
    told, n_steps = [], REWARDING["steps"]
    put(start)
    if kind == "more of the same":
        steps = showing(partial(examples, seed), n_steps)
    elif kind == "answers shown":
        steps = showing(asking(seed), n_steps)
    else:
        steps = rewarding(seed, kind, start, told) if kind in REWARDS else ()
    for _ in steps:
        pass
    return rounded({"losses": losses, "right": told} | judged(start))


def prompted(seed):
    """Return the row of the untrained model with the examples in its prompt."""
    put(untrained(seed))
    given = encoded("".join(f"max({a},{b},{c})={max(a, b, c)}\n" for a, b, c in examples(seed)))
    ids = questions(triples()[0])
    return rounded(exam(torch.cat((torch.tensor([given] * N_TEST), ids), dim=1), len(given))[1])


def as_it_is():
    """Return the row of the model before any training."""
    put(untrained(SEEDS[0]))
    return rounded(judged(untrained(SEEDS[0])))


def rows():
    """Return what is measured: the untrained model, and each way of training with each seed."""
    found = {"as it is": Row(as_it_is, ("as it is",))}
    for seed in SEEDS:
        place = "examples in the prompt", str(seed)
        found[", ".join(place)] = Row(partial(prompted, seed), place)
        for kind in ("examples", *REWARDS, "answers shown", "more of the same"):
            found[f"{kind}, {seed}"] = Row(partial(taught, seed, kind), (kind, str(seed)))
    return found


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "seeds": SEEDS,
        "lora": {"rank": RANK, "layers": N_ADAPTED, "matrices": NAMES},
        "n": {"test": N_TEST, "drawn": N_DRAWN, "longest": LONGEST, "text": TEXT},
        "tuned": TUNING,
        "rewarded": REWARDING,
        "leashes": REWARDS,
    }


EXPERIMENT = Experiment(
    "What does a reward teach a pretrained model by LoRA that a few examples do not?",
    RESULTS,
    rows,
    minutes=19,
    constants=constants,
)
