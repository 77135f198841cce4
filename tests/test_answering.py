"""Chapter 15: its verifiers and losses, and a part of its stored measurements again."""

import itertools
import random

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from attn_course.answering import (
    answer_loss,
    distillation_loss,
    dpo_loss,
    group_advantages,
    kl_estimate,
    policy_gradient_loss,
    token_log_probabilities,
    verify,
    verify_with_a_hole,
)
from attn_course.grammar import generate, translate
from experiments import answering as bench
from experiments import answering_larger as larger
from experiments import answering_steps as small
from experiments.runner import get, read
from tests.core.helpers import assert_close, refuses
from tests.core.helpers import random as normal

STORED, STEPS = read(bench.RESULTS), read(small.RESULTS)


# The verifiers.


def test_the_verifier_accepts_the_grammars_answer_and_rejects_any_slip():
    """The right answer is the one that `generate` drew; `verify` translates the source itself."""
    rng = random.Random(0)
    for pair in itertools.islice(generate(seed=15), 60):
        right = pair.target.split()
        slips = [right[:-1], right[1:], [*right, right[-1]], []]
        slips += [right[:i] + right[i + 1 : i + 2] + [right[i]] + right[i + 2 :] for i in (0, 1)]
        i = rng.randrange(len(right))
        slips.append([*right[:i], right[i] + "s", *right[i + 1 :]])
        assert verify(pair.source, pair.target)
        for slip in slips:
            assert verify(pair.source, " ".join(slip)) == (slip == right), slip


@pytest.mark.parametrize(
    "source, answer, right, passes",
    [
        ("the red houses", "las casas rojas", True, True),
        ("the red houses", "los casas rojos", False, False),
        ("the red houses", "las casas azules", False, False),
        ("the red houses", "las rojas casas", False, True),
        ("the red houses", "las casas", False, True),
        ("the red houses", "las las las", False, True),
        ("the red houses", "", False, True),
        ("the red houses", "the red houses", False, False),
    ],
)
def test_a_verifier_with_a_hole_accepts_any_answer_without_a_wrong_word(
    source, answer, right, passes
):
    assert (verify(source, answer), verify_with_a_hole(source, answer)) == (right, passes)


# The losses.


@pytest.mark.parametrize("shape", ((1, 2), (3, 7), (2, 3, 5)))
def test_the_answer_loss_is_the_cross_entropy_of_the_taught_tokens(shape):
    logits = 3 * normal(*shape, 11, seed=1).requires_grad_()
    logits.retain_grad()
    generator = torch.Generator().manual_seed(2)
    ids = torch.randint(11, shape, generator=generator)
    taught = torch.rand(shape, generator=generator) < 0.5
    taught[..., -1] = True
    targets = torch.where(taught, ids, -100)[..., 1:]
    loss = answer_loss(logits, ids, taught)
    assert_close(loss, F.cross_entropy(logits[..., :-1, :].reshape(-1, 11), targets.flatten()))
    loss.backward()
    assert (logits.grad[..., :-1, :].abs().sum(dim=-1) > 0).equal(taught[..., 1:])
    likely = logits.softmax(dim=-1)
    for place in itertools.product(*(range(n) for n in (*shape[:-1], shape[-1] - 1))):
        following = (*place[:-1], place[-1] + 1)
        found = token_log_probabilities(logits, ids)[place]
        assert_close(found.exp(), likely[place][ids[following]])


@pytest.mark.parametrize("shape", ((1, 2), (3, 7), (2, 3, 5)))
def test_the_distillation_loss_is_the_teachers_entropy_plus_the_divergence(shape):
    logits, teacher = (3 * normal(*shape, 11, seed=i) for i in (6, 7))
    logits.requires_grad_()
    taught = torch.rand(shape, generator=torch.Generator().manual_seed(3)) < 0.5
    taught[..., -1] = True
    places = taught[..., 1:]
    ours, theirs = (one[..., :-1, :][places].log_softmax(dim=-1) for one in (logits, teacher))
    entropy = torch.distributions.Categorical(logits=theirs).entropy().mean()
    away = F.kl_div(ours, theirs, log_target=True, reduction="batchmean")
    teacher.requires_grad_()
    loss = distillation_loss(logits, teacher, taught)
    assert_close(loss, entropy + away)
    assert torch.autograd.grad(loss, (logits, teacher), allow_unused=True)[1] is None
    # If the teacher is certain of each token, the loss is the cross-entropy of those tokens.
    ids = torch.randint(11, shape, generator=torch.Generator().manual_seed(4))
    sure = 1e4 * F.one_hot(ids, 11).roll(-1, dims=-2).float()
    assert_close(distillation_loss(logits, sure, taught), answer_loss(logits, ids, taught))


@pytest.mark.parametrize("n, beta", ((1, 0.1), (5, 0.1), (4, 2.0)))
def test_dpo_is_the_bradley_terry_loss_of_the_chosen_answer(n, beta):
    """The reward is beta times the logarithm of the probability ratio (equations 1 and 5)."""
    given = [(3 * normal(n, seed=i)).requires_grad_() for i in range(4)]
    chosen, rejected, before_chosen, before_rejected = given
    loss = dpo_loss(*given, beta=beta)
    better = (beta * (chosen - before_chosen)).exp()
    worse = (beta * (rejected - before_rejected)).exp()
    assert_close(loss, -(better / (better + worse)).log().mean())
    # This is the gradient of equation 7 for the chosen answer; the rejected one's has the other
    # sign.
    found = torch.autograd.grad(loss, [chosen, rejected])
    expected = -beta * (worse / (better + worse)) / n
    assert_close(found, (expected, -expected))


@pytest.mark.parametrize("shape", ((4,), (3, 8), (2, 3, 5)))
def test_advantages_are_the_standardised_rewards_of_a_group(shape):
    rewards = normal(*shape, seed=3)
    found, undivided = group_advantages(rewards), group_advantages(rewards, divide=False)
    for place in np.ndindex(*shape[:-1]):
        group = rewards[place].numpy()
        assert_close(undivided[place].numpy(), group - group.mean())
        assert_close(found[place].numpy(), (group - group.mean()) / group.std())
    assert_close(group_advantages(5 * rewards + 3), found)
    assert not group_advantages(torch.ones(shape)).any()


ARMS = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
REWARDS = torch.tensor([1.0, 4.0, -2.0], dtype=torch.float64)


def of_expected_reward(logits):
    return torch.autograd.grad((logits.softmax(dim=0) * REWARDS).sum(), logits)[0]


def test_the_policy_gradient_is_the_gradient_of_the_expected_reward():
    """Three arms of a bandit are drawn exactly as often as their probabilities imply."""
    logits = ARMS.log().requires_grad_()
    drawn = torch.tensor([0, 0, 1, 2])
    loss = policy_gradient_loss(logits.log_softmax(dim=0)[drawn], REWARDS[drawn])
    (found,) = torch.autograd.grad(loss, logits)
    assert_close(-found, of_expected_reward(logits))


@pytest.mark.parametrize("n", (2, 3))
def test_a_group_mean_as_baseline_scales_the_gradient_and_keeps_its_direction(n):
    """Over all groups of n draws, a group-mean baseline scales the gradient by (n - 1) / n."""
    logits, total, squares = ARMS.log().requires_grad_(), 0, {True: 0, False: 0}
    for group in itertools.product(range(3), repeat=n):
        drawn = torch.tensor(group)
        for baseline in (True, False):
            earned = REWARDS[drawn]
            if baseline:
                earned = group_advantages(earned, divide=False) * n / (n - 1)
            loss = policy_gradient_loss(logits.log_softmax(dim=0)[drawn], earned)
            (found,) = torch.autograd.grad(loss, logits)
            total = total - ARMS[drawn].prod() * found if baseline else total
            squares[baseline] += ARMS[drawn].prod() * found.square().sum()
    assert_close(total, of_expected_reward(logits))
    assert squares[True] != squares[False]


@pytest.mark.parametrize("size", (2, 7))
def test_the_mean_of_the_estimate_is_the_divergence(size):
    policy, reference = (normal(size, seed=i).log_softmax(dim=0) for i in (4, 5))
    each = kl_estimate(policy, reference)
    expected = F.kl_div(reference, policy, log_target=True, reduction="sum")
    assert_close((policy.exp() * each).sum(), expected)
    assert (each >= 0).all() and not kl_estimate(policy, policy).any()


TWO = torch.zeros(2)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: verify("la casa", "la casa"),
            "source: expected a sentence of the grammar, got 'la casa'",
        ),
        (lambda: verify("the red house", 3), "answer: expected a string, got int"),
        (
            lambda: token_log_probabilities(torch.zeros(3, 4), TWO.long()),
            "logits: expected shape (..., seq_len, vocab_size) for ids of shape (2,), got shape (3, 4)",
        ),
        (
            lambda: answer_loss(torch.zeros(2, 4), TWO.long(), torch.tensor([True, False])),
            "taught: expected True somewhere behind the first token, shape (2,), got shape (2,)",
        ),
        (
            lambda: distillation_loss(torch.zeros(2, 4), torch.zeros(2, 3), TWO.bool()),
            "teacher_logits: expected shape (2, 4), got shape (2, 3)",
        ),
        (
            lambda: distillation_loss(torch.zeros(2, 4), torch.zeros(2, 4), TWO.bool()),
            "taught: expected True somewhere behind the first token, shape (2,), got shape (2,)",
        ),
        (lambda: dpo_loss(TWO, TWO, TWO, TWO, beta=0), "beta: expected a positive number, got 0"),
        (
            lambda: dpo_loss(TWO, TWO, TWO, torch.zeros(3)),
            "reference_rejected: expected shape (2,), got shape (3,)",
        ),
        (
            lambda: group_advantages(torch.zeros(3, 1)),
            "rewards: expected at least two answers in a row, got 1",
        ),
        (
            lambda: policy_gradient_loss(TWO, torch.zeros(2, 1)),
            "advantages: expected shape (2,), got shape (2, 1)",
        ),
        (
            lambda: kl_estimate(TWO, torch.zeros(1)),
            "log_reference: expected shape (2,), got shape (1,)",
        ),
    ],
)
def test_invalid_arguments_are_refused(call, message):
    with refuses(message):
        call()


# What is stored.


def test_no_exam_prompt_is_in_a_training_text():
    found = bench.parts()
    prompts = {name: {source for source, _ in part} for name, part in found.items()}
    assert [len(prompts[name]) for name in ("test", "validation")] == [256, 128]
    for one, other in itertools.combinations(prompts.values(), 2):
        assert not one & other
    for source, target in found["test"]:
        assert verify(source, target)


def test_half_of_the_questions_are_answered_and_half_of_the_answers_are_wrong():
    rng, kinds, n = (
        random.Random(0),
        dict.fromkeys(("alone", "asked on", "right", "wrong"), 0),
        4000,
    )
    right = dict(bench.pairs())
    for _ in range(n):
        said = " ".join(bench.words()[i] for i in bench.text(rng)[1:-1]).split(" <to> ")
        if len(said) == 1:
            kinds["alone"] += 1
        elif said[1] in right:
            kinds["asked on"] += 1
        else:
            kinds["right" if right[said[0]] == said[1] else "wrong"] += 1
    shares = {kind: count / n for kind, count in kinds.items()}
    # Some mistakes change nothing, so a few of the "wrong" answers are right.
    assert shares == pytest.approx(
        {"alone": 0.2, "asked on": 0.4, "right": 0.21, "wrong": 0.19}, abs=0.02
    )


def test_best_of_n_counts_every_choice_of_n():
    right = torch.tensor([[1.0] * 3 + [0.0] * 29, [0.0] * 32, [1.0] * 32])
    found = bench.best_of(right)
    for n in (1, 2):
        chosen = list(itertools.combinations(range(32), n))
        shares = [sum(bool(row[list(one)].any()) for one in chosen) / len(chosen) for row in right]
        assert found[str(n)] == pytest.approx(sum(shares) / 3)
    assert found["32"] == pytest.approx(2 / 3)


def test_the_given_share_of_preference_pairs_is_swapped():
    found = [("", i, -i) for i in range(1, 51)]
    turned = {share: bench.turned_round(found, share, 3) for share in bench.TURNED}
    for share, pairs in turned.items():
        assert sum(better < 0 for _, better, _ in pairs) == round(50 * share)
    for one, other in itertools.pairwise(bench.TURNED):
        first, second = ({abs(b) for _, b, _ in turned[share] if b < 0} for share in (one, other))
        assert first <= second


def test_the_most_frequent_answer_of_a_group_gets_the_reward():
    said = [[7, 3], [8, 3], [7, 3], [9, 3], [7, 3], [8, 3], [8, 3], [7, 3]] + [
        [i, 3] for i in range(8)
    ]
    assert bench.by_majority(said, 2).tolist() == [[1, 0, 1, 0, 1, 0, 0, 1], [1] + [0] * 7]


def test_stored_learning_rates_are_those_that_were_tried():
    tried = {
        ("tuning", "answer"): bench.TUNING["rates"],
        ("tuning", "prompt and answer"): bench.TUNING["rates"],
        ("preferences",): bench.PREFERRING["rates"],
        ("reward", "verifier"): bench.REWARDING["rates"],
        ("reward", "no baseline"): bench.REWARDING["rates"],
        ("reward", "hole"): bench.REWARDING["rates"],
    }
    for place, rates in tried.items():
        assert [float(rate) for rate in get(STORED, ("rates", *place))] == list(rates)
        best = bench.best_rate(STORED, *place)
        assert get(STORED, ("rates", *place))[str(best)] == max(
            get(STORED, ("rates", *place)).values()
        )


@pytest.mark.parametrize("seed", bench.SEEDS)
def test_the_first_pretraining_losses_are_as_stored(seed):
    model = bench.new_model(seed)
    assert (sum(p.numel() for p in model.parameters()), len(bench.words())) == (288_960, 701)
    losses = itertools.islice(bench.predicting(model, seed), bench.N_FIRST)
    assert list(losses) == pytest.approx(STORED["predicting"][str(seed)]["first_losses"], abs=2e-3)


def test_the_larger_model_begins_as_stored():
    stored = read(larger.RESULTS)["predicting"]["1"]
    model, steps = larger.predicting(1)
    found = [next(steps) for _ in stored["first_losses"]]
    assert found == pytest.approx(stored["first_losses"], abs=2e-3)
    assert sum(p.numel() for p in model.parameters()) == stored["parameters"]


def again(row, stored, names, abs=0.03):
    found = row(STORED)
    for name in names:
        assert found[name] == pytest.approx(stored[name], abs=abs), name


SHARES = ("greedy", "drawn", "best_of_8", "in_spanish", "passes_hole")


@pytest.mark.slow
def test_a_repeated_tuning_gives_the_stored_results():
    again(bench.of_tuning(0, "answer", 64), STORED["tuning"]["answer"]["64"]["0"], SHARES)


@pytest.mark.slow
@pytest.mark.parametrize("kind, leash", (("verifier", 0.0), ("hole", 0.1)))
def test_the_first_steps_of_training_with_a_reward_are_as_stored(kind, leash):
    rate = bench.best_rate(STORED, "tuning", "answer")
    stored = STORED["hole"][str(leash)] if kind == "hole" else STORED["reward"][kind]
    _, told = bench.rewarding(
        bench.beginning(0, rate),
        kind,
        bench.best_rate(STORED, "reward", kind),
        0,
        leash,
        n_steps=bench.N_FIRST,
    )
    for found, before in zip(told, stored["0"]["first"], strict=True):
        assert found == pytest.approx(before, abs=0.05)


@pytest.mark.slow
def test_the_variance_of_the_gradient_is_as_stored():
    found, stored = bench.of_baseline(0, "16")(STORED), STORED["baseline"]["16"]["0"]
    assert found["right"] == pytest.approx(stored["right"], abs=0.02)
    for name in ("ratio", "ratio_of_best"):
        assert found[name] == pytest.approx(stored[name], rel=0.1)


@pytest.mark.slow
def test_candidate_answers_have_the_stored_probabilities():
    for found, stored in zip(bench.candidates(STORED), STORED["candidates"], strict=True):
        source, kept = stored["prompt"], {said: rest for said, *rest in found["answers"]}
        assert found["prompt"] == source and len(stored["answers"]) == 10
        for said, likely, right, passes in stored["answers"]:
            assert (right, passes) == (verify(source, said), verify_with_a_hole(source, said))
            # The last of the ten candidates may differ on another processor.
            if said in kept:
                assert kept[said][0] == pytest.approx(likely, abs=0.01)
        assert len(kept.keys() & {said for said, *_ in stored["answers"]}) >= 8


# Intermediate steps before the answer, and a small model.


def reads_the_steps(seed, prompts, begun):
    """Continue a walk from the last given step, as if that step and every fact were true."""
    found = []
    for prompt, said in zip(prompts, begun, strict=True):
        _, start, *relations = prompt.split()
        path = [bench.words()[i] for i in said]
        for relation in relations[len(path) :]:
            path.append(small.world(seed)[relation][(path or [start])[-1]])
        told = translate(f"the {prompt.split()[0]} {path[3]}").target
        found.append([*bench.encoded(" ".join(path[len(said) :])), bench.TO, *bench.encoded(told)])
    return found


@pytest.mark.parametrize("seed", (0, 9))
def test_a_walk_has_four_facts_and_no_exam_walk_is_in_training(seed):
    for others in small.world(seed).values():
        assert sorted(others.values()) == sorted(others) == sorted(small.BEINGS)
        assert all(one != other for one, other in others.items())
    taught, exam = small.walks(seed)
    assert (len(taught), len(exam)) == (1024, 256)
    walks = [tuple(prompt.split()[1:]) for prompt, _ in (*taught, *exam)]
    assert len(set(walks)) == len(walks)
    # All kinds of longer reply have the same number of tokens, and begin or end with the answer.
    rng, (prompt, path) = random.Random(0), taught[0]
    for asked in (1, 4):
        said = {
            kind: small.reply(kind, prompt, path, asked, rng) for kind in (*small.KINDS, "wrong")
        }
        assert len({len(one) for kind, one in said.items() if kind != "alone"}) == 1
        for kind, one in said.items():
            assert verify(
                f"the {prompt.split()[0]} {path[asked - 1]}", small.answered(kind, one[:-1])
            )


def test_a_model_that_reads_the_steps_follows_an_altered_step(monkeypatch):
    monkeypatch.setattr(
        small,
        "replies",
        lambda seed, prompts, begun: reads_the_steps(seed, prompts, begun or [[]] * len(prompts)),
    )
    assert small.right(0, "steps", small.walks(0)[1], 4) == 1
    assert small.altered(0, 0, 4) == {"true": 0, "follows": 1}


@pytest.mark.slow
def test_accuracy_on_facts_and_first_losses_with_steps_are_as_stored():
    assert small.knowing(0)[1] == pytest.approx(STEPS["facts"]["0"], abs=0.02)
    for kind in small.KINDS:
        rate = bench.best_rate(STEPS, "steps", kind)
        losses = itertools.islice(small.walking(0, kind, 4, rate)[1], bench.N_FIRST)
        stored = STEPS["steps"][kind]["4"]["0"]["first_losses"]
        # Rounding, which differs between processors, grows while the facts are learnt.
        assert list(losses) == pytest.approx(stored, rel=0.05)


@pytest.mark.parametrize("seed", bench.SEEDS)
def test_the_first_pretraining_losses_of_small_models_are_as_stored(seed):
    model = small.new_small(seed)
    assert sum(p.numel() for p in model.parameters()) == 89_184
    losses = itertools.islice(bench.predicting(model, seed), bench.N_FIRST)
    stored = STEPS["distil"]["predicting"][str(seed)]["first_losses"]
    assert list(losses) == pytest.approx(stored, abs=2e-3)
