"""A small language model is trained to answer, step by step, and each step is measured.

The model is first pretrained on text in which half of the translations are wrong and a question is
followed by another question more often than by an answer. It then learns to answer with the
translation: from examples, from preference pairs, and from a reward. Every number is measured on
prompts that no training has seen. Learning rates are those that did best with a seed that is not
reported. The weights of the first pretrained model are stored beside
``notebooks/data/answering.json``, in ``answering.safetensors``.

=============  ==============================================================================
`tuning`       fine-tuning on 16 to 1,024 examples, with the loss of the prompt and without
`preferences`  DPO on pairs that the verifier made, of which some are swapped
`baseline`     the variance of the policy gradient, with the group's mean as baseline and without
`reward`       GRPO with the verifier, with controls, and fine-tuning on the answers it accepts
`hole`         GRPO with a verifier that has a hole, with KL penalties of several strengths
=============  ==============================================================================
"""

import copy
import math
import random
from collections import Counter
from functools import cache, partial

import torch
from safetensors.torch import load_file, save

from attn.decoding import greedy, sample
from attn.io import write_whole
from attn.masks import padding_mask
from attn.transformer import DecoderOnly, TransformerConfig
from attn.transformer.quantised import dequantise, quantise
from attn_course.answering import (
    answer_loss,
    dpo_loss,
    group_advantages,
    kl_estimate,
    policy_gradient_loss,
    token_log_probabilities,
    verify,
    verify_with_a_hole,
)
from attn_course.grammar import sentences
from attn_course.grammar.choice import Dice, Impossible
from attn_course.grammar.lexicon import lexicon
from attn_course.grammar.phrases import to_pair
from experiments.induction import rounded
from experiments.runner import DATA, Experiment, Row, get

RESULTS, WEIGHTS = DATA / "answering.json", DATA / "answering.safetensors"
SEEDS, TUNING_SEED = (0, 1, 2, 3, 4), 9
# Controls with a large effect, and the measurements that cost most for what they tell, have fewer
# seeds.
FEW = SEEDS[:3]
# A test compares this number of first losses with the recorded training.
N_FIRST = 3
PAD, BOS, TO, EOS = range(4)
SIZES = {
    "d_model": 96,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 384,
    "dropout": 0.0,
    "norm": "pre",
    "normalization": "rms",
    "positions": "rotary",
    "bias": False,
}
N_DERIVED, N_TEST, N_VALIDATION, N_PROMPTS, N_DRAWN = 40_000, 256, 128, 2048, 8
# An answer of the grammar has at most seven words, followed by the end token.
LONGEST = 9
PREDICTING = {"steps": 900, "batch": 64, "rate": 4e-3}
EXAMPLES, TUNED_ON = (16, 64, 256, 1024), 256
TUNING = {"steps": 60, "batch": 32, "rates": (5e-4, 1e-3, 2e-3)}
PREFERRING = {"steps": 60, "batch": 32, "rates": (3e-5, 1e-4, 3e-4), "beta": 0.1, "prompts": 1024}
TURNED = (0.0, 0.1, 0.3, 0.5)
REWARDING = {"steps": 100, "prompts": 16, "rates": (6e-4, 1.2e-3, 2.4e-3)}
LEASHES_WITH_A_HOLE, LEASHES = (0.0, 0.1, 0.3), (0.0, 0.3)
VARIANCE = {"batches": 24, "prompts": 8}
N_BEST = (1, 2, 4, 8, 16, 32)
CANDIDATES = ("two hot beaches", "the hot milk")


@cache
def pairs():
    """Return all phrases with their translations, shuffled."""
    dice, found = Dice(0), {}
    for number in range(N_DERIVED):
        frame = (sentences.thing, sentences.quality)[number % 2]
        try:
            pair = to_pair(frame(dice), frame.__name__)
        except Impossible:
            continue
        if len(pair.source.split()) <= 6 and len(pair.target.split()) <= 7:
            found[pair.source] = pair.target
    found = sorted(found.items())
    random.Random(0).shuffle(found)
    return found


@cache
def parts():
    """Return the pairs of each part; no prompt is in two parts."""
    sizes = {"test": N_TEST, "validation": N_VALIDATION, "prompts": N_PROMPTS, "text": None}
    left, found = list(pairs()), {}
    for name, size in sizes.items():
        found[name], left = left[:size], left[size:] if size else []
    return found


@cache
def words():
    """Return the vocabulary of the model, in the order of the ids."""
    said = {word for pair in pairs() for text in pair for word in text.split()}
    return ["<pad>", "<bos>", "<to>", "<eos>", *sorted(said)]


@cache
def numbers():
    return {word: number for number, word in enumerate(words())}


def encoded(text):
    return [numbers()[word] for word in text.split()]


def decoded(answer):
    """Return the text of an answer, without the end token."""
    return " ".join(words()[i] for i in answer if i != EOS)


@cache
def other_forms():
    """Return, for each Spanish word that changes with gender or number, its other forms."""
    found = {}
    lex = lexicon()
    for entry in (*lex.adjectives, *lex.determiners, *lex.nouns):
        forms = {form for form in entry.spanish if form in numbers()}
        for form in forms:
            found.setdefault(form, set()).update(forms - {form})
    return {form: sorted(others) for form, others in found.items() if others}


def spoiled(answer, rng):
    """Return an answer with mistakes: one or two words in another form, or from another phrase."""
    said = answer.split()
    can = [i for i, word in enumerate(said) if word in other_forms()]
    if can and rng.random() < 0.5:
        for i in rng.sample(can, min(len(can), rng.choice((1, 2)))):
            said[i] = rng.choice(other_forms()[said[i]])
        return " ".join(said)
    other = rng.choice(parts()["text"])[1].split()
    for _ in range(rng.choice((1, 2))):
        said[rng.randrange(len(said))] = rng.choice(other)
    return " ".join(said)


def text(rng):
    """Return a pretraining text: a phrase, questions in a row, or a question and an answer."""
    pair, kind = rng.choice(parts()["text"]), rng.random()
    if kind < 0.2:
        return [BOS, *encoded(pair[rng.randrange(2)]), EOS]
    asked = [BOS, *encoded(pair[0])]
    if kind < 0.6:
        for _ in range(rng.choice((1, 2))):
            asked += [TO, *encoded(rng.choice(parts()["text"])[0])]
        return [*asked, EOS]
    return [*asked, TO, *encoded(pair[1] if kind < 0.8 else spoiled(pair[1], rng)), EOS]


def padded(rows):
    """Return rows of ids as one tensor, padded at the end."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def asked_and_answered(asked, answers):
    """Return prompts with their answers as ids, and a mask of the tokens of the answers."""
    prompts = [[BOS, *encoded(source), TO] for source in asked]
    ids = padded([prompt + answer for prompt, answer in zip(prompts, answers, strict=True)])
    starts = torch.tensor([len(prompt) for prompt in prompts])
    ends = starts + torch.tensor([len(answer) for answer in answers])
    places = torch.arange(ids.shape[1])
    return ids, (places >= starts[:, None]) & (places < ends[:, None])


def stepped(model, loss_at, n_steps, rate, warmup=10, last=0.1):
    """Return an iterator that trains a model and yields the loss of each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.98), weight_decay=0.0)
    for number in range(n_steps):
        for group in optimizer.param_groups:
            fallen = 1 - (1 - last) * number / n_steps
            group["lr"] = rate * fallen * min(1, (number + 1) / warmup)
        loss = loss_at(number)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


def new_model(seed):
    torch.manual_seed(seed)
    return DecoderOnly(TransformerConfig(len(words()), **SIZES))


def predicting(model, seed, rate=PREDICTING["rate"]):
    """Return an iterator that pretrains the model and yields the loss of each step."""
    rng = random.Random(seed)

    def loss_at(_):
        ids = padded([text(rng) for _ in range(PREDICTING["batch"])])
        return answer_loss(model(ids)[0], ids, ids != PAD)

    return stepped(model, loss_at, PREDICTING["steps"], rate, 100, 0.05)


@cache
def predicted(seed):
    """Return a pretrained model, with its weights rounded to bytes, and its losses."""
    model = new_model(seed)
    losses = list(predicting(model, seed))
    packed = quantise(model.state_dict())
    model.load_state_dict(dequantise(packed))
    if seed == SEEDS[0] and not WEIGHTS.exists():
        write_whole(WEIGHTS, save(packed))
    return model, losses


@cache
def base(seed):
    """Return the pretrained model; the one of the first seed is read from its file."""
    if seed != SEEDS[0] or not WEIGHTS.exists():
        return predicted(seed)[0]
    model = new_model(seed)
    model.load_state_dict(dequantise(load_file(WEIGHTS)))
    return model


def tuned(model, examples, rate, seed, with_prompt=False):
    """Return a copy of the model, fine-tuned on pairs of a prompt and an answer."""
    model, rng = copy.deepcopy(model), random.Random(seed)

    def loss_at(_):
        drawn = rng.sample(examples, min(TUNING["batch"], len(examples)))
        sources, answers = zip(*drawn, strict=True)
        ids, taught = asked_and_answered(sources, [[*encoded(a), EOS] for a in answers])
        return answer_loss(model(ids)[0], ids, ids != PAD if with_prompt else taught)

    for _ in stepped(model, loss_at, TUNING["steps"], rate):
        pass
    return model


@cache
def beginning(seed, rate):
    """Return the fine-tuned model with which every later step begins."""
    return tuned(base(seed), parts()["prompts"][:TUNED_ON], rate, seed)


@torch.no_grad()
def answers(model, asked, n=1, generator=None, temperature=1.0):
    """Return `n` answers to each prompt: sampled with `generator`, or greedy without one."""
    rows = [[BOS, *encoded(source), TO] for source in asked for _ in range(n)]
    lengths = [len(row) for row in rows]
    ids = padded([row[::-1] for row in rows]).flip(-1)
    step = partial(model.step, mask=padding_mask(lengths, ids.shape[1]).flip(-1))
    limits = {"end_id": EOS, "max_new_tokens": LONGEST, "pad_id": PAD, "cache": model.new_cache()}
    if generator:
        said = sample(step, ids, temperature=temperature, generator=generator, **limits)
    else:
        said = greedy(step, ids, **limits)
    found = said[:, ids.shape[1] :].tolist()
    return [row[: row.index(EOS) + 1] if EOS in row else row for row in found]


def rewarded(verifier, asked, said):
    """Return 1 for each answer that ends and that the verifier accepts, else 0; (prompts, n)."""
    n = len(said) // len(asked)
    passed = [
        float(answer[-1] == EOS and verifier(asked[i // n], decoded(answer)))
        for i, answer in enumerate(said)
    ]
    return torch.tensor(passed).view(len(asked), n)


def log_probabilities(model, ids, taught):
    """Return the log-probability of each token of an answer, and zero at other tokens."""
    return token_log_probabilities(model(ids)[0], ids) * taught[:, 1:]


@torch.no_grad()
def judged(model, reference, n_drawn=N_DRAWN, temperature=1.0):
    """Return how a model answers the test prompts, in shares and means."""
    asked = [source for source, _ in parts()["test"]]
    generator = torch.Generator().manual_seed(7)
    said = answers(model, asked, n_drawn, generator, temperature)
    ids, taught = asked_and_answered([s for s in asked for _ in range(n_drawn)], said)
    logits = model(ids)[0][:, :-1].log_softmax(dim=-1)
    against = reference(ids)[0][:, :-1].log_softmax(dim=-1)
    here = taught[:, 1:]
    right = rewarded(verify, asked, said)
    spanish = {numbers()[word] for _, target in pairs() for word in target.split()} | {EOS}
    return {
        "greedy": rewarded(verify, asked, answers(model, asked)).mean().item(),
        "drawn": right.mean().item(),
        "best_of_8": right[:, :8].amax(dim=1).mean().item(),
        "in_spanish": sum(a[-1] == EOS and len(a) > 1 and {*a} <= spanish for a in said)
        / len(said),
        "nothing": sum(answer == [EOS] for answer in said) / len(said),
        "passes_hole": rewarded(verify_with_a_hole, asked, said).mean().item(),
        "entropy": (-(logits.exp() * logits).sum(dim=-1) * here).sum(dim=1).mean().item(),
        "kl": ((logits.exp() * (logits - against)).sum(dim=-1) * here).sum(dim=1).mean().item(),
        "words": here.sum(dim=1).double().mean().item() - 1,
    }


def best_of(right):
    """Return an unbiased share of prompts with a right answer among n (Chen et al., 2021)."""
    n_drawn, found = right.shape[1], right.sum(dim=1).int().tolist()
    return {
        str(n): sum(1 - math.comb(n_drawn - r, n) / math.comb(n_drawn, n) for r in found)
        / len(found)
        for n in N_BEST
    }


# Tuning.


def validated(model, verifier=verify):
    """Return the share accepted on validation prompts: the mean of sampled and greedy answers."""
    asked = [source for source, _ in parts()["validation"]]
    drawn = answers(model, asked, N_DRAWN, torch.Generator().manual_seed(8))
    passed = [rewarded(verifier, asked, said).mean() for said in (drawn, answers(model, asked))]
    return sum(passed).item() / 2


def tuning_rates():
    """Return the score of each rate of tuning, without the loss of the prompt and with it."""
    examples = parts()["prompts"][:TUNED_ON]
    found = {}
    for name in ("answer", "prompt and answer"):
        found[name] = {
            str(rate): validated(
                tuned(base(TUNING_SEED), examples, rate, TUNING_SEED, name != "answer")
            )
            for rate in TUNING["rates"]
        }
    return rounded(found)


def best_rate(stored, *place):
    """Return the learning rate with the best score, from the row that tried them."""
    tried = get(stored, ("rates", *place))
    return float(max(tried, key=tried.get))


def of_prediction(seed):
    model, losses = predicted(seed)
    return rounded({"first_losses": losses[:N_FIRST]} | judged(model, model))


def of_tuning(seed, name, n_examples):
    """Return the row of a fine-tuning; some are controls."""

    def measure(stored):
        with_prompt = name == "prompt and answer"
        rate = best_rate(stored, "tuning", "prompt and answer" if with_prompt else "answer")
        examples = parts()["prompts"][:n_examples]
        if name == "answers of others":
            # Each prompt gets the answer to the next prompt: Spanish, but on another subject.
            targets = [target for _, target in examples[1:] + examples[:1]]
            examples = list(zip([source for source, _ in examples], targets, strict=True))
        model = new_model(seed) if name == "not pretrained" else base(seed)
        return rounded(judged(tuned(model, examples, rate, seed, with_prompt), base(seed)))

    return measure


# Preferences.


@cache
def preferences(seed, rate, held_out=False):
    """Return the preferences of the tuned model."""
    return preferences_of(beginning(seed, rate), seed, held_out)


def preferences_of(model, seed, held_out=False):
    """Return prompts, each with a right and a wrong answer sampled from a model."""
    n = PREFERRING["prompts"]
    drawn = parts()["prompts"][n : n + N_TEST] if held_out else parts()["prompts"][:n]
    asked = [source for source, _ in drawn]
    said = answers(model, asked, N_DRAWN, torch.Generator().manual_seed(200 + seed))
    found = []
    for i, passed in enumerate(rewarded(verify, asked, said).bool().tolist()):
        group = said[i * N_DRAWN : (i + 1) * N_DRAWN]
        if any(passed) and not all(passed):
            found.append((asked[i], group[passed.index(True)], group[passed.index(False)]))
    return found


def turned_round(found, share, seed):
    """Return the pairs, a share of them with the right and the wrong answer swapped."""
    order = list(range(len(found)))
    random.Random(seed).shuffle(order)
    turned = set(order[: round(share * len(order))])
    return [(s, b, a) if i in turned else (s, a, b) for i, (s, a, b) in enumerate(found)]


def preferring(reference, found, rate, seed):
    """Return a copy of the reference trained with DPO, and the first losses."""
    model, rng = copy.deepcopy(reference), random.Random(seed)

    def loss_at(_):
        drawn = rng.sample(found, min(PREFERRING["batch"], len(found)))
        sources, better, worse = zip(*drawn, strict=True)
        logged = []
        for said in (better, worse):
            ids, taught = asked_and_answered(sources, said)
            with torch.no_grad():
                before = log_probabilities(reference, ids, taught).sum(dim=1)
            logged.append((log_probabilities(model, ids, taught).sum(dim=1), before))
        (chosen, chosen_before), (rejected, rejected_before) = logged
        return dpo_loss(chosen, rejected, chosen_before, rejected_before, PREFERRING["beta"])

    losses = list(stepped(model, loss_at, PREFERRING["steps"], rate))
    return model, losses[:N_FIRST]


@torch.no_grad()
def of_known(model, found):
    """Return the mean log-probability of right and of wrong answers, and how often right leads."""
    sources, right, wrong = zip(*found, strict=True)
    logged = []
    for said in (right, wrong):
        ids, taught = asked_and_answered(sources, said)
        logged.append(log_probabilities(model, ids, taught).sum(dim=1))
    leads = (logged[0] > logged[1]).double().mean().item()
    return {"right": logged[0].mean().item(), "wrong": logged[1].mean().item(), "leads": leads}


def preference_rates(stored):
    rate = best_rate(stored, "tuning", "answer")
    reference, found = beginning(TUNING_SEED, rate), preferences(TUNING_SEED, rate)
    return rounded(
        {
            str(one): validated(preferring(reference, found, one, TUNING_SEED)[0])
            for one in PREFERRING["rates"]
        }
    )


def of_preferences(seed, share):
    """Return the row of a DPO training; without a share, of fine-tuning on the better answers."""

    def measure(stored):
        tuning_rate = best_rate(stored, "tuning", "answer")
        reference, found = beginning(seed, tuning_rate), preferences(seed, tuning_rate)
        others = preferences(seed, tuning_rate, held_out=True)
        told = {"pairs": len(found), "before": of_known(reference, others)}
        if share is None:
            examples = [(source, decoded(better)) for source, better, _ in found]
            model = tuned(reference, examples, tuning_rate, seed)
        else:
            rate, noisy = best_rate(stored, "preferences"), turned_round(found, share, seed)
            model, told["first_losses"] = preferring(reference, noisy, rate, seed)
        return rounded(told | {"after": of_known(model, others)} | judged(model, reference))

    return measure


# Rewards.


def by_majority(said, n_prompts):
    """Return 1 for each answer that is the most frequent of its group; no verifier is used."""
    found = []
    for i in range(n_prompts):
        group = [tuple(answer) for answer in said[i * N_DRAWN : (i + 1) * N_DRAWN]]
        most = Counter(group).most_common(1)[0][0]
        found.append([float(answer == most) for answer in group])
    return torch.tensor(found)


def rewarding(reference, kind, rate, seed, leash=0.0, watched=None, n_steps=None):
    """Train a copy of the reference with a reward; return it and the record of each step.

    `kind` selects the reward. "verifier" and "hole" reward what their verifier accepts; "majority"
    rewards the most frequent answer of a group; "by chance" gives the verifier's rewards to answers
    at random. "no baseline" does not subtract the group's mean from the verifier's rewards; "mean
    alone" subtracts it and does not divide by the deviation. `watched` is called before each step.
    """
    model, rng = copy.deepcopy(reference), random.Random(300 + seed)
    generator, told = torch.Generator().manual_seed(300 + seed), []
    verifier = verify_with_a_hole if kind == "hole" else verify

    def loss_at(number):
        if watched:
            watched(number, model)
        asked = [source for source, _ in rng.sample(parts()["prompts"], REWARDING["prompts"])]
        said = answers(model, asked, N_DRAWN, generator)
        verified = rewards = rewarded(verifier, asked, said)
        if kind == "majority":
            rewards = by_majority(said, len(asked))
        if kind == "by chance":
            order = torch.randperm(rewards.numel(), generator=generator)
            rewards = rewards.flatten()[order].view_as(rewards)
        divide = kind != "mean alone"
        earned = rewards if kind == "no baseline" else group_advantages(rewards, divide=divide)
        ids, taught = asked_and_answered([s for s in asked for _ in range(N_DRAWN)], said)
        logged = log_probabilities(model, ids, taught)
        with torch.no_grad():
            before = log_probabilities(reference, ids, taught)
        away = kl_estimate(logged, before).sum(dim=1).mean()
        told.append((verified.mean().item(), -logged.sum(dim=1).mean().item(), away.item()))
        return policy_gradient_loss(logged.sum(dim=1), earned.flatten()) + leash * away

    # The schedule spans all steps, so that a test can run the first ones alone.
    steps = stepped(model, loss_at, REWARDING["steps"], rate)
    for _ in range(n_steps or REWARDING["steps"]):
        next(steps)
    return model, told


def reward_rates(stored, kind):
    reference = beginning(TUNING_SEED, best_rate(stored, "tuning", "answer"))
    return rounded(
        {
            str(rate): validated(
                rewarding(reference, kind, rate, TUNING_SEED)[0],
                verify_with_a_hole if kind == "hole" else verify,
            )
            for rate in REWARDING["rates"]
        }
    )


def curve(told, width=10):
    """Return the means of the recorded values over every `width` steps."""
    columns = torch.tensor(told).view(-1, width, 3).mean(dim=1).T.tolist()
    return dict(zip(("reward", "entropy", "kl"), columns, strict=True))


@cache
def taught_by_reward(seed, kind, leash, tuning_rate, rate):
    return rewarding(beginning(seed, tuning_rate), kind, rate, seed, leash)


def of_reward(seed, kind, leash=0.0, rate_of="verifier"):
    """Return the row of a training with a reward, at the rate that was best for `rate_of`."""

    def measure(stored):
        tuning_rate = best_rate(stored, "tuning", "answer")
        rate = best_rate(stored, "reward", rate_of)
        model, told = taught_by_reward(seed, kind, leash, tuning_rate, rate)
        found = judged(model, beginning(seed, tuning_rate))
        return rounded({"curve": curve(told), "first": told[:N_FIRST]} | found)

    return measure


def of_tuning_on_passed(seed):
    """Return the row of fine-tuning on the right answers among as many samples as GRPO draws."""

    def measure(stored):
        tuning_rate = best_rate(stored, "tuning", "answer")
        reference, rng = beginning(seed, tuning_rate), random.Random(300 + seed)
        generator, found = torch.Generator().manual_seed(300 + seed), []
        for _ in range(REWARDING["steps"]):
            asked = [source for source, _ in rng.sample(parts()["prompts"], REWARDING["prompts"])]
            said = answers(reference, asked, N_DRAWN, generator)
            passed = rewarded(verify, asked, said).flatten().tolist()
            found += [
                (asked[i // N_DRAWN], decoded(answer)) for i, answer in enumerate(said) if passed[i]
            ]
        model = tuned(reference, found, tuning_rate, seed)
        return rounded({"examples": len(found)} | judged(model, reference))

    return measure


def of_draws(seed, name):
    """Return how many prompts have a right answer among n, before or after the reward training."""

    def measure(stored):
        tuning_rate = best_rate(stored, "tuning", "answer")
        model = beginning(seed, tuning_rate)
        if name.startswith("after"):
            rate = best_rate(stored, "reward", "verifier")
            model, _ = taught_by_reward(seed, "verifier", 0.0, tuning_rate, rate)
        asked = [source for source, _ in parts()["test"]]
        generator = torch.Generator().manual_seed(6)
        colder = 0.6 if name.endswith("colder") else 1.0
        right = rewarded(verify, asked, answers(model, asked, max(N_BEST), generator, colder))
        return rounded(best_of(right))

    return measure


# The baseline.


def gradient(loss, model):
    found = torch.autograd.grad(loss, list(model.parameters()), retain_graph=True)
    return torch.cat([one.flatten() for one in found])


def gradient_variance(model, seed, batches=None):
    """Return the variance of the gradient of the same draws, with each kind of baseline.

    With the mean of the other answers of the group as the baseline, or a constant, the gradient has
    the same expectation as with none. `best` is the constant with the least variance.
    """
    rng, generator = random.Random(400 + seed), torch.Generator().manual_seed(400 + seed)
    found, passed = {"none": [], "others": [], "one": []}, []
    for _ in range(batches or VARIANCE["batches"]):
        asked = [source for source, _ in rng.sample(parts()["prompts"], VARIANCE["prompts"])]
        said = answers(model, asked, N_DRAWN, generator)
        rewards = rewarded(verify, asked, said)
        ids, taught = asked_and_answered([s for s in asked for _ in range(N_DRAWN)], said)
        logged = log_probabilities(model, ids, taught).sum(dim=1)
        others = group_advantages(rewards, divide=False) * N_DRAWN / (N_DRAWN - 1)
        # With the baseline 1, a right answer contributes nothing and a wrong one -1.
        for name, earned in (("none", rewards), ("others", others), ("one", rewards - 1)):
            found[name].append(gradient(policy_gradient_loss(logged, earned.flatten()), model))
        passed.append(rewards.mean().item())
    found = {name: torch.stack(each).double() for name, each in found.items()}
    variance = {name: each.var(dim=0).sum().item() for name, each in found.items()}
    # The gradient with a constant baseline b is linear in b, so its variance is a parabola, which
    # the values at 0, 1/2 and 1 determine.
    half = ((found["none"] + found["one"]) / 2).var(dim=0).sum().item()
    bend = 2 * (variance["none"] + variance["one"] - 2 * half)
    best = (bend + variance["none"] - variance["one"]) / (2 * bend)
    return {
        "right": sum(passed) / len(passed),
        "variance": variance | {"half": half},
        "ratio": variance["others"] / variance["none"],
        "best": best,
        "ratio_of_best": 1 - bend * best**2 / variance["none"],
    }


def of_baseline(seed, name):
    """Return the row of a model tuned on few or many examples, or trained with the reward."""

    def measure(stored):
        tuning_rate = best_rate(stored, "tuning", "answer")
        if name == "rewarded":
            rate = best_rate(stored, "reward", "verifier")
            model, _ = taught_by_reward(seed, "verifier", 0.0, tuning_rate, rate)
        else:
            model = tuned(base(seed), parts()["prompts"][: int(name)], tuning_rate, seed)
        return rounded(gradient_variance(model, seed))

    return measure


# For the story.


@torch.no_grad()
def ranked(model, source, seed=5):
    """Return the answers that a model samples for a prompt, and the empty one, by probability."""
    generator = torch.Generator().manual_seed(seed)
    said = {tuple(answer) for answer in answers(model, [source] * 512, 4, generator)} | {(EOS,)}
    said = sorted(said)
    ids, taught = asked_and_answered([source] * len(said), [list(answer) for answer in said])
    likely = log_probabilities(model, ids, taught).sum(dim=1).exp().tolist()
    return sorted(zip(likely, said, strict=True), reverse=True)


def candidates(stored, n=10, n_passing=4):
    """Return the most probable answers to two prompts after tuning, and what both verifiers say.

    At most `n_passing` of them pass the verifier with a hole. `before` are the answers of the
    pretrained model to the same prompt.
    """
    model, told = beginning(SEEDS[0], best_rate(stored, "tuning", "answer")), []
    for source in CANDIDATES:
        found = [(p, decoded(said)) for p, said in ranked(model, source) if said[-1] == EOS]
        passing = [one for one in found if verify_with_a_hole(source, one[1])][:n_passing]
        others = [one for one in found if one not in passing][: n - len(passing)]
        kept = sorted((*passing, *others), reverse=True)
        judged_by = [(verify(source, said), verify_with_a_hole(source, said)) for _, said in kept]
        told.append(
            {
                "prompt": source,
                "covered": sum(p for p, _ in kept),
                "answers": [
                    [said, round(p, 5), *map(float, passed)]
                    for (p, said), passed in zip(kept, judged_by, strict=True)
                ],
                "before": [[decoded(said), p] for p, said in ranked(base(SEEDS[0]), source)[:5]],
            }
        )
    return told


def replay(stored):
    """Return the answers to three prompts before the training with each reward and during it."""
    asked = [*CANDIDATES, parts()["test"][0][0]]
    reference, told = beginning(SEEDS[0], best_rate(stored, "tuning", "answer")), []

    def watch(stage, step, model):
        said = answers(model, asked, 4, torch.Generator().manual_seed(11))
        drawn = [[decoded(answer) for answer in said[4 * i : 4 * i + 4]] for i in range(len(asked))]
        told.append({"stage": stage, "step": step, "drawn": drawn})

    watch("predicting", 0, base(SEEDS[0]))
    for kind in ("verifier", "hole"):

        def watched(number, model, kind=kind):
            if number % 10 == 0:
                watch(kind, number, model)

        rate = best_rate(stored, "reward", kind)
        model, _ = rewarding(reference, kind, rate, SEEDS[0], watched=watched)
        watch(kind, REWARDING["steps"], model)
    return {"prompts": asked, "answers": told}


def rows():
    """Return what is measured: the rates, and then each row of each seed."""
    found = {
        "rates, tuning": Row(tuning_rates, ("rates", "tuning")),
        "rates, preferences": Row(preference_rates, ("rates", "preferences"), reads=True),
    }
    for kind in ("verifier", "no baseline", "hole"):
        found[f"rates, reward, {kind}"] = Row(
            partial(reward_rates, kind=kind), ("rates", "reward", kind), reads=True
        )

    def add(measure, *place, reads=True):
        found[", ".join(place)] = Row(measure, place, reads=reads)

    for seed in SEEDS:
        one = str(seed)
        add(partial(of_prediction, seed), "predicting", one, reads=False)
        for n in EXAMPLES:
            for name in ("answer", "prompt and answer"):
                add(of_tuning(seed, name, n), "tuning", name, str(n), one)
        add(of_tuning(seed, "answers of others", TUNED_ON), "tuning", "answers of others", one)
        add(of_tuning(seed, "not pretrained", EXAMPLES[-1]), "tuning", "not pretrained", one)
        for share in (*TURNED, None):
            name = "better answers alone" if share is None else str(share)
            add(of_preferences(seed, share), "preferences", name, one)
        add(of_reward(seed, "verifier"), "reward", "verifier", one)
        add(of_tuning_on_passed(seed), "reward", "tuned on what is right", one)
        for name in ("before", "before, colder", "after", "after, colder"):
            add(of_draws(seed, name), "draws", name, one)
        if seed in FEW:
            for name in (*map(str, EXAMPLES), "rewarded"):
                add(of_baseline(seed, name), "baseline", name, one)
        for leash in LEASHES_WITH_A_HOLE:
            add(of_reward(seed, "hole", leash, "hole"), "hole", str(leash), one)
        for leash in LEASHES if seed in FEW else ():
            add(of_reward(seed, "verifier", leash, "hole"), "leash", str(leash), one)
        if seed == SEEDS[0]:
            add(candidates, "candidates")
            add(replay, "replay")
    for kinds, seeds in ((("majority", "by chance"), FEW), (("mean alone", "no baseline"), SEEDS)):
        for seed in seeds:
            for kind in kinds:
                add(of_reward(seed, kind), "reward", kind, str(seed))
    return found


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "seeds": SEEDS,
        "sizes": SIZES,
        "n": {"test": N_TEST, "validation": N_VALIDATION, "prompts": N_PROMPTS, "drawn": N_DRAWN},
        "predicted": PREDICTING,
        "tuned": TUNING | {"examples": TUNED_ON},
        "preferred": PREFERRING,
        "rewarded": REWARDING,
        "variance": VARIANCE,
    }


EXPERIMENT = Experiment(
    "What does each step teach a small language model that is to answer: examples, pairs, a reward?",
    RESULTS,
    rows,
    minutes=35,
    constants=constants,
)
