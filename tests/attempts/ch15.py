# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 15, written from their statements alone."""

import numpy as np


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


class dpo_loss:
    def right_softplus(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        better = policy_chosen - reference_chosen
        worse = policy_rejected - reference_rejected
        return np.log1p(np.exp(-beta * (better - worse)))

    def right_softmax_of_two(
        policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta
    ):
        a = np.exp(beta * (policy_chosen - reference_chosen))
        b = np.exp(beta * (policy_rejected - reference_rejected))
        return -np.log(a / (a + b))

    def right_loop(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        losses = []
        for pc, pr, rc, rr in zip(
            policy_chosen, policy_rejected, reference_chosen, reference_rejected
        ):
            losses.append(-np.log(_sigmoid(beta * ((pc - pr) - (rc - rr)))))
        return np.array(losses)

    def right_plain(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = beta * ((policy_chosen - reference_chosen) - (policy_rejected - reference_rejected))
        return -np.log(_sigmoid(z))

    right_plain.slips = """
    one_number: -np.log(_sigmoid(z)) ==> -np.log(_sigmoid(z)).mean()
    no_minus: -np.log(_sigmoid(z)) ==> np.log(_sigmoid(z))
    no_logarithm: -np.log(_sigmoid(z)) ==> -_sigmoid(z)
    one_less: -np.log(_sigmoid(z)) ==> 1 - _sigmoid(z)
    no_sigmoid: -np.log(_sigmoid(z)) ==> -z
    reference_added: policy_chosen - ==> policy_chosen + && policy_rejected - ==> policy_rejected +
    bits: np.log ==> np.log2
    """

    def no_reference(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        return -np.log(_sigmoid(beta * (policy_chosen - policy_rejected)))

    def beta_on_one_side(
        policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta
    ):
        z = beta * (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
        return -np.log(_sigmoid(z))

    def no_beta(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = policy_chosen - reference_chosen - (policy_rejected - reference_rejected)
        return -np.log(_sigmoid(z))

    def swapped(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = beta * (policy_rejected - reference_rejected - policy_chosen + reference_chosen)
        return -np.log(_sigmoid(z))

    def quotients(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = beta * (policy_chosen / reference_chosen - policy_rejected / reference_rejected)
        return -np.log(_sigmoid(z))

    def logarithm_of_logarithms(
        policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta
    ):
        z = np.log(policy_chosen / reference_chosen) - np.log(policy_rejected / reference_rejected)
        return -np.log(_sigmoid(beta * z))

    def probabilities(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        a = np.exp(policy_chosen) - np.exp(reference_chosen)
        b = np.exp(policy_rejected) - np.exp(reference_rejected)
        return -np.log(_sigmoid(beta * (a - b)))

    def sum_of_both(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = beta * ((policy_chosen - reference_chosen) + (policy_rejected - reference_rejected))
        return -np.log(_sigmoid(z))

    def chosen_alone(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        return -np.log(_sigmoid(beta * (policy_chosen - reference_chosen)))

    def beta_divides(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = ((policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)) / beta
        return -np.log(_sigmoid(z))

    def beta_outside(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
        z = (policy_chosen - reference_chosen) - (policy_rejected - reference_rejected)
        return -beta * np.log(_sigmoid(z))


class group_advantages:
    def right_where(rewards):
        d = rewards - rewards.mean(axis=1, keepdims=True)
        s = rewards.std(axis=1, keepdims=True)
        return np.where(s > 0, d / np.where(s > 0, s, 1), 0.0)

    def right_loop(rewards):
        out = np.zeros(rewards.shape)
        for i, row in enumerate(rewards):
            if row.max() > row.min():
                out[i] = (row - row.mean()) / np.sqrt(((row - row.mean()) ** 2).mean())
        return out

    def right_tiny(rewards):
        d = rewards - rewards.mean(-1)[:, None]
        return d / (rewards.std(-1)[:, None] + 1e-10)

    def right_nan_to_num(rewards):
        with np.errstate(all="ignore"):
            d = rewards - np.mean(rewards, axis=1, keepdims=True)
            return np.nan_to_num(d / np.std(rewards, axis=1, keepdims=True), posinf=0, neginf=0)

    def divides_by_zero(rewards):
        with np.errstate(all="ignore"):
            d = rewards - rewards.mean(axis=1, keepdims=True)
            return d / rewards.std(axis=1, keepdims=True)

    def whole_batch(rewards):
        return (rewards - rewards.mean()) / rewards.std()

    whole_batch.slips = """
    not_divided: (rewards - rewards.mean()) / rewards.std() ==> rewards - rewards.mean(axis=1, keepdims=True)
    own_mean_common_deviation: rewards.mean() ==> rewards.mean(axis=1, keepdims=True)
    shares: (rewards - rewards.mean()) / rewards.std() ==> rewards / rewards.sum(axis=1, keepdims=True)
    not_centred_and_a_number_below: (rewards - rewards.mean()) / rewards.std() ==> rewards / (rewards.std(axis=1, keepdims=True) + 0.01)
    """

    def columns(rewards):
        d = rewards - rewards.mean(axis=0)
        s = rewards.std(axis=0)
        return np.where(s > 1e-12, d / np.where(s > 1e-12, s, 1), 0)

    def variance(rewards):
        d = rewards - rewards.mean(axis=1, keepdims=True)
        v = rewards.var(axis=1, keepdims=True)
        return np.where(v > 1e-12, d / np.where(v > 1e-12, v, 1), 0)

    def with_epsilon(rewards):
        d = rewards - rewards.mean(axis=1, keepdims=True)
        return d / (rewards.std(axis=1, keepdims=True) + 1e-2)

    with_epsilon.slips = """
    sample: rewards.std(axis=1, keepdims=True) + 1e-2 ==> np.maximum(rewards.std(axis=1, ddof=1, keepdims=True), 1e-9)
    with_usual_epsilon: rewards.std(axis=1, keepdims=True) + 1e-2 ==> rewards.std(axis=1, keepdims=True) + 1e-4
    """

    def turned(rewards):
        d = rewards.mean(axis=1, keepdims=True) - rewards
        return d / np.maximum(rewards.std(axis=1, keepdims=True), 1e-9)

    def not_centred(rewards):
        s = rewards.std(axis=1, keepdims=True)
        return np.where(s > 1e-12, rewards / np.where(s > 1e-12, s, 1), 0)

    def below_the_best(rewards):
        d = rewards - rewards.max(axis=1, keepdims=True)
        return d / np.maximum(rewards.std(axis=1, keepdims=True), 1e-9)

    def median(rewards):
        d = rewards - np.median(rewards, axis=1, keepdims=True)
        s = rewards.std(axis=1, keepdims=True)
        return np.where(s > 1e-12, d / np.where(s > 1e-12, s, 1), 0)

    def against_the_others(rewards):
        n = rewards.shape[1]
        others = (rewards.sum(axis=1, keepdims=True) - rewards) / (n - 1)
        return rewards - others


class policy_gradient:
    def right_eye(logits, actions, rewards, baseline):
        p = _softmax(logits)
        return ((rewards - baseline)[:, None] * (np.eye(len(p))[actions] - p)).mean(0)

    right_eye.slips = r"""
    no_baseline: rewards - baseline ==> rewards
    baseline_of_its_own: rewards - baseline ==> rewards - rewards.mean()
    descends: np.eye(len(p))[actions] - p ==> p - np.eye(len(p))[actions]
    baseline_added: rewards - baseline ==> rewards + baseline
    summed: mean ==> sum
    over_answers: return ==> total = && mean(0) ==> sum(0)\n    return total / len(logits)
    without_rewards: (rewards - baseline)[:, None] * (np.eye(len(p))[actions] - p) ==> np.eye(len(p))[actions] - p
    stepped: return ==> return logits +
    """

    def right_loop(logits, actions, rewards, baseline):
        p, g = _softmax(logits), np.zeros(len(logits))
        for a, r in zip(actions, rewards):
            for j in range(len(p)):
                g[j] += (r - baseline) * ((j == a) - p[j])
        return g / len(actions)

    def right_add_at(logits, actions, rewards, baseline):
        adv, g = rewards - baseline, np.zeros_like(logits)
        np.add.at(g, actions, adv)
        return (g - adv.sum() * _softmax(logits)) / len(rewards)

    def right_bincount(logits, actions, rewards, baseline):
        adv = (rewards - baseline) / len(rewards)
        return np.bincount(actions, adv, len(logits)) - adv.sum() * _softmax(logits)

    def standardised(logits, actions, rewards, baseline):
        p, adv = _softmax(logits), rewards - baseline
        return ((adv / rewards.std())[:, None] * (np.eye(len(p))[actions] - p)).mean(0)

    def one_hot_alone(logits, actions, rewards, baseline):
        return ((rewards - baseline)[:, None] * np.eye(len(logits))[actions]).mean(0)

    def logits_for_probabilities(logits, actions, rewards, baseline):
        return ((rewards - baseline)[:, None] * (np.eye(len(logits))[actions] - logits)).mean(0)

    def of_the_probability(logits, actions, rewards, baseline):
        p, g = _softmax(logits), np.zeros(len(logits))
        for a, r in zip(actions, rewards):
            g += (r - baseline) * p[a] * (np.eye(len(p))[a] - p)
        return g / len(actions)

    of_the_probability.slips = """
    the_drawn_alone: g += (r - baseline) * p[a] * (np.eye(len(p))[a] - p) ==> g[a] += (r - baseline) * (1 - p[a])
    one_over_p: g += (r - baseline) * p[a] * (np.eye(len(p))[a] - p) ==> g[a] += (r - baseline) / p[a]
    """

    def lost_repeats(logits, actions, rewards, baseline):
        adv, g = rewards - baseline, np.zeros(len(logits))
        g[actions] += adv
        return (g - adv.sum() * _softmax(logits)) / len(adv)

    def each_draw(logits, actions, rewards, baseline):
        p = _softmax(logits)
        return (rewards - baseline)[:, None] * (np.eye(len(p))[actions] - p)

    def means_first(logits, actions, rewards, baseline):
        p = _softmax(logits)
        return (rewards.mean() - baseline) * (np.eye(len(p))[actions] - p).mean(0)
