"""Correct solutions of chapter 15's exercises, each written in another way."""

import numpy as np
import torch
from torch.nn import functional as F

from attn_course import answering
from attn_course.exercises.catalogue import load


def dpo_torch(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    given = (policy_chosen, policy_rejected, reference_chosen, reference_rejected)
    pairs = torch.from_numpy(np.stack(given))
    return torch.stack([answering.dpo_loss(*pair, beta=float(beta)) for pair in pairs.T])


def dpo_odds(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    odds = np.exp(policy_chosen - policy_rejected) / np.exp(reference_chosen - reference_rejected)
    return np.log(1 + odds**-beta)


def dpo_logaddexp(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    chosen = beta * (policy_chosen - reference_chosen)
    rejected = beta * (policy_rejected - reference_rejected)
    return np.logaddexp(chosen, rejected) - chosen


def advantages_rows(rewards):
    rows = []
    for row in rewards.tolist():
        mean = sum(row) / len(row)
        deviation = (sum((x - mean) ** 2 for x in row) / len(row)) ** 0.5
        rows.append([(x - mean) / deviation if deviation > 1e-12 else 0.0 for x in row])
    return np.array(rows)


def advantages_torch(rewards):
    rewards = torch.from_numpy(rewards)
    return F.layer_norm(rewards, rewards.shape[-1:], eps=1e-16).numpy()


def advantages_transposed(rewards):
    centred = rewards.T - rewards.mean(axis=1)
    squares = (centred**2).mean(axis=0)
    return (centred / np.sqrt(np.where(squares < 1e-20, 1, squares))).T


def gradient_autograd(logits, actions, rewards, baseline):
    leaf = torch.tensor(logits, requires_grad=True)
    logged = torch.log_softmax(leaf, dim=-1)[torch.as_tensor(actions)]
    gained = torch.as_tensor(rewards) - float(baseline)
    answering.policy_gradient_loss(logged, gained).backward()
    return -leaf.grad


def gradient_counts(logits, actions, rewards, baseline):
    policy = np.exp(logits) / np.exp(logits).sum()
    hot = (actions[:, None] == np.arange(len(logits))).astype(float)
    return (rewards - baseline) @ (hot - policy) / len(actions)


def gradient_each(logits, actions, rewards, baseline):
    policy = np.exp(logits) / np.exp(logits).sum()
    parts = []
    for a, r in zip(actions, rewards, strict=True):
        slope = -policy.copy()
        slope[a] += 1
        parts.append((r - baseline) * slope)
    return np.mean(parts, axis=0)


CORRECT = [
    ("dpo_loss", load("dpo_loss").oracle),
    ("dpo_loss", dpo_torch),
    ("dpo_loss", dpo_odds),
    ("dpo_loss", dpo_logaddexp),
    ("group_advantages", load("group_advantages").oracle),
    ("group_advantages", advantages_rows),
    ("group_advantages", advantages_torch),
    ("group_advantages", advantages_transposed),
    ("policy_gradient", load("policy_gradient").oracle),
    ("policy_gradient", gradient_autograd),
    ("policy_gradient", gradient_counts),
    ("policy_gradient", gradient_each),
]
