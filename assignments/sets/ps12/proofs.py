"""Test submissions for problem set 12: right answers in many ways, and wrong ones.

Each is the text of a cell. A wrong answer is a right one with a slip, so that it is wrong in
one way only, and has nothing in common with the code of the known mistakes.
`tests.test_assignments.proofs.Answers` says what each table holds.
"""

HACK = "shortest_hack"
SOUND = "sound_verifier"
SPREAD = "baseline_variance"
LEASH = "longest_leash"
MENDED = "mended_step"

CORRECT = {
    HACK: {
        "levels": """
def shortest_hack(move, pays, true_move, right):
    level = {(0, 0): []}
    for _ in range(len(pays) * len(right)):
        for (s, t), said in level.items():
            if pays[s] and not right[t]:
                return np.array(said + [0])
        after = {}
        for (s, t), said in level.items():
            for w in range(1, move.shape[1]):
                after.setdefault((move[s, w], true_move[t, w]), said + [w])
        level = after
    return np.array([-1])
""",
        "distances": """
def shortest_hack(move, pays, true_move, right):
    words = range(1, move.shape[1])
    never = len(pays) * len(right)
    left = np.where(np.outer(pays, ~right), 0, never)
    for _ in range(never):
        onward = [left[move[:, w]][:, true_move[:, w]] for w in words]
        left = np.minimum(left, 1 + np.min(onward, axis=0))
    s, t, answer = 0, 0, []
    if left[s, t] == never:
        return np.array([-1])
    for _ in range(left[s, t]):
        w = [w for w in words if left[move[s, w], true_move[t, w]] < left[s, t]][0]
        answer.append(w)
        s, t = move[s, w], true_move[t, w]
    return np.array([*answer, 0])
""",
        "best of each pair": """
def shortest_hack(move, pays, true_move, right):
    pairs = [(s, t) for s in range(len(pays)) for t in range(len(right))]
    best = {(s, t): [0] for s, t in pairs if pays[s] and not right[t]}
    for _ in pairs:
        for s, t in pairs:
            for w in range(1, move.shape[1]):
                rest = best.get((move[s, w], true_move[t, w]))
                if rest:
                    here = [w, *rest]
                    best[s, t] = min(here, best.get((s, t), here), key=lambda said: (len(said), said))
    return np.array(best.get((0, 0), [-1]))
""",
    },
    SOUND: {
        "rows": """
def sound_verifier(allowed, gender, answers):
    right = []
    for row in answers.tolist():
        said = row[: row.index(0)] if 0 in row else []
        fits = len(said) == len(allowed) and all(slot[w] for slot, w in zip(allowed, said))
        genders = {gender[w] for w in said}
        right.append(fits and len(genders - {0}) < 2)
    return np.array(right)
""",
        "arrays": """
def sound_verifier(allowed, gender, answers):
    n = len(allowed)
    if answers.shape[1] == n:
        return np.zeros(len(answers), dtype=bool)
    said = answers[:, :n]
    fits = allowed[np.arange(n), said].all(axis=1)
    one, other = ((gender[said] == g).any(axis=1) for g in (1, 2))
    return fits & (answers[:, n] == 0) & ~(one & other)
""",
        "all that are right": """
import itertools

def sound_verifier(allowed, gender, answers):
    right = set()
    for words in itertools.product(*map(np.flatnonzero, allowed)):
        if not {1, 2} <= set(gender[list(words)].tolist()):
            right.add((*words, 0))
    n = len(allowed) + 1
    return np.array([tuple(row[:n]) in right for row in answers])
""",
    },
    SPREAD: {
        "formula": """
def baseline_variance(logits, chance, baseline):
    p = np.exp(logits - logits.max())
    p = p / p.sum()
    gradient = p * (chance - (p * chance).sum())
    size = 1 - 2 * p + (p * p).sum()
    square = chance * (1 - baseline) ** 2 + (1 - chance) * baseline**2
    variance = (p * size * square).sum() - (gradient * gradient).sum()
    weight = p * size
    return gradient, variance, (weight * chance).sum() / weight.sum()
""",
        "every outcome": """
def baseline_variance(logits, chance, baseline):
    p = np.exp(logits - max(logits))
    p = p / sum(p)
    often, estimates, top, bottom = [], [], 0.0, 0.0
    for a, row in enumerate(np.eye(len(p)) - p):
        for reward in (0, 1):
            q = p[a] * (chance[a] if reward else 1 - chance[a])
            often.append(q)
            estimates.append((reward - baseline) * row)
            top, bottom = top + q * reward * (row @ row), bottom + q * (row @ row)
    often, estimates = np.array(often), np.array(estimates)
    gradient = often @ estimates
    away = estimates - gradient
    return gradient, (often[:, None] * away * away).sum(), top / bottom
""",
        "parabola": """
def baseline_variance(logits, chance, baseline):
    p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    scores = np.eye(len(p)) - p
    gradient = (p * chance) @ scores
    a, b, c = ((p * w * scores.T**2).sum() for w in (1, -2 * chance, chance))
    variance = a * baseline**2 + b * baseline + c - gradient @ gradient
    return gradient, variance, -b / (2 * a)
""",
    },
    LEASH: {
        "factor": """
def longest_leash(reference, paid, right, limit):
    hacked, cash = reference[paid & ~right].sum(), reference[paid].sum()
    if hacked < limit * cash:
        beta, weights = 0.0, reference * paid
    else:
        factor = limit * (1 - cash) / (hacked - limit * cash)
        beta, weights = 1 / np.log(factor), reference * np.where(paid, factor, 1)
    policy = weights / weights.sum()
    some = policy > 0
    return beta, policy, (policy[some] * np.log(policy[some] / reference[some])).sum()
""",
        "shares": """
def longest_leash(reference, paid, right, limit):
    before = (reference * paid).sum()
    after = min(1.0, limit * before / (reference * paid * ~right).sum())
    policy = reference * np.where(paid, after / before, (1 - after) / (1 - before))
    if after == 1:
        return 0.0, policy, -np.log(before)
    unpaid = np.log((1 - after) / (1 - before))
    gained = np.log(after / before) - unpaid
    return 1 / gained, policy, after * gained + unpaid
""",
        "loops": """
def longest_leash(reference, paid, right, limit):
    hack = cash = rest = 0.0
    for p, pays, true in zip(reference, paid, right):
        cash, rest = (cash + p, rest) if pays else (cash, rest + p)
        hack = hack + p if pays and not true else hack
    room = hack - limit * cash
    grown, kept = (limit * rest, room) if room > 0 else (cash, 0.0)
    total = grown * cash + kept * rest
    policy = np.array([p * (grown if pays else kept) / total for p, pays in zip(reference, paid)])
    away = sum(q * np.log(q / p) for q, p in zip(policy, reference) if q)
    return 1 / np.log(grown / kept) if kept else 0.0, policy, away
""",
    },
    MENDED: {
        "reward": """
def mended_step(logits, reference, answers, rewards, beta, rate):
    earned = rewards - beta * (logits - np.log(reference))[answers]
    n = len(answers)
    advantage = earned - (earned.sum() - earned) / (n - 1)
    gradient = np.zeros(len(logits))
    np.add.at(gradient, answers, advantage)
    return logits + rate * gradient / n
""",
        "pairs": """
def mended_step(logits, reference, answers, rewards, beta, rate):
    n, rows = len(answers), np.eye(len(logits))[answers]
    earned = rewards - beta * (rows @ logits - np.log(rows @ reference))
    gained = earned[:, None] - earned
    moved = rows[:, None] - rows
    return logits + rate * (gained[..., None] * moved).sum(axis=(0, 1)) / (2 * n * (n - 1))
""",
        "loop": """
def mended_step(logits, reference, answers, rewards, beta, rate):
    earned = [r - beta * (logits[a] - np.log(reference[a])) for a, r in zip(answers, rewards)]
    moved = np.array(logits)
    for i, a in enumerate(answers):
        others = [e for j, e in enumerate(earned) if j != i]
        moved[a] += rate * (earned[i] - np.mean(others)) / len(earned)
    return moved
""",
    },
}

P = "    p = np.exp(logits - logits.max())\n    p = p / p.sum()\n"

# One slip a line: a table that is read down its columns.
SLIPS = {
    HACK: (
        "levels",
        [
            ("paid", "paid_whether_right_or_not", "pays[s] and not right[t]", "pays[s]"),
            ("unpaid", "right_but_unpaid", "pays[s] and not right[t]", "right[t] and not pays[s]"),
            ("neither", "neither_paid_nor_right", "pays[s] and not", "not pays[s] and not"),
            ("differ", "any_difference", "pays[s] and not right[t]", "pays[s] != right[t]"),
            ("first word first", "not_the_shortest",
             [("    level = {(0, 0): []}\n", "    stack, seen = [(0, 0, [])], set()\n"),
              (("    for _ in range(len(pays) * len(right)):\n        for (s, t), said in level.items():\n"
               "            if pays[s] and not right[t]:\n                return np.array(said + [0])\n"
               "        after = {}\n        for (s, t), said in level.items():\n"
               "            for w in range(1, move.shape[1]):\n"
               "                after.setdefault((move[s, w], true_move[t, w]), said + [w])\n"
               "        level = after\n"),
               ("    while stack:\n        s, t, said = stack.pop()\n"
               "        if pays[s] and not right[t]:\n            return np.array(said + [0])\n"
               "        if (s, t) not in seen:\n            seen.add((s, t))\n"
               "            for w in range(move.shape[1] - 1, 0, -1):\n"
               "                stack.append((move[s, w], true_move[t, w], said + [w]))\n"))]),
            ("last words first", "last_of_the_shortest", "range(1, move.shape[1])",
             "range(move.shape[1] - 1, 0, -1)"),
            ("by state", "one_state_remembered",
             [("    level = {(0", "    seen = {0}\n    level = {(0"),
              ("                after.setdefault((move[s, w], true_move[t, w]), said + [w])",
               ("                if move[s, w] not in seen:\n"
               "                    seen.add(move[s, w])\n"
               "                    after[move[s, w], true_move[t, w]] = said + [w]"))]),
            ("by true state", "one_state_remembered",
             [("    level = {(0", "    seen = {0}\n    level = {(0"),
              ("                after.setdefault((move[s, w], true_move[t, w]), said + [w])",
               ("                if true_move[t, w] not in seen:\n"
               "                    seen.add(true_move[t, w])\n"
               "                    after[move[s, w], true_move[t, w]] = said + [w]"))]),
            ("does not read", "truth_left_behind", "(move[s, w], true_move[t, w])", "(move[s, w], t)"),
            ("one table", "one_table_for_both", "true_move[t, w]", "move[t % len(pays), w] % len(right)"),
            ("something said", "silence_not_tried", "pays[s] and", "said and pays[s] and"),
            ("three words", "gives_up_early", "range(len(pays) * len(right))", "range(4)"),
            ("two words", "gives_up_early", "range(len(pays) * len(right))", "range(3)"),
            ("silence for none", "says_silence_for_none", "[-1]", "[0]"),
            ("without end", "end_missing", "said + [0]", "said or [0]"),
            ("turned", "read_backwards", "said + [0]", "said[::-1] + [0]"),
            ("states", "states_for_words", "said + [w]", "said + [move[s, w]]"),
            ("zero too", "end_used_as_a_word", "range(1, ", "range("),
            ("ends twice", None, "said + [0]", "said + [0, 0]"),
            ("writes into the moves", None, "    level = {(0", "    move += 1\n    move %= len(pays)\n    level = {(0"),
        ],
    ),
    SOUND: (
        "rows",
        [
            ("any place", "no_wrong_word", "fits = len(said) == len(allowed) and all(slot[w] for slot, w in zip(allowed, said))",
             "fits = 0 in row and all(allowed[:, w].any() for w in said)"),
            ("any order", "any_order",
             [("def sound", "import itertools\n\ndef sound"),
              ("all(slot[w] for slot, w in zip(allowed, said))",
               "any(all(map(lambda slot, w: slot[w], allowed, order)) for order in itertools.permutations(said))")]),
            ("halfway", "what_is_said_is_right", "len(said) == len(allowed)",
             "0 in row and len(said) <= len(allowed)"),
            ("talks on", "beginning_alone", "len(said) == len(allowed)", "len(said) >= len(allowed)"),
            ("zipped", "as_far_as_both_go", "len(said) == len(allowed)", "0 in row"),
            ("counted", "length_alone", " and all(slot[w] for slot, w in zip(allowed, said))", ""),
            ("no agreement", "agreement_forgotten", " and len(genders - {0}) < 2", ""),
            ("neighbours", "other_agreement", "len(genders - {0}) < 2",
             "all({gender[a], gender[b]} != {1, 2} for a, b in zip(said, said[1:]))"),
            ("third", "no_gender_is_a_third", "genders - {0}", "genders"),
            ("first word", "one_translation", "all(slot[w] for slot, w", "all(w == slot.argmax() for slot, w"),
            ("last word", "one_translation", "all(slot[w] for slot, w",
             "all(w == np.flatnonzero(slot)[-1] for slot, w"),
            ("no end", "end_not_asked_for", "else []", "else row"),
            ("zeros out", "ends_taken_out", "row[: row.index(0)]", "[w for w in row if w]"),
            ("empty behind", "nothing_behind_the_end", "right.append(fits and",
             "right.append(fits and not any(row[len(said) :]) and"),
            ("last zero", "last_end", "row[: row.index(0)]",
             "row[: len(row) - 1 - row[::-1].index(0)]"),
            ("agrees behind", "agreement_behind_the_end", "for w in said}", "for w in row}"),
            ("not", "wrong_ones_marked", "return np.array(right)", "return ~np.array(right)"),
            ("one too few", None, "== len(allowed)", "== len(allowed) - 1"),
            ("writes into the answers", None, "    right = []", "    right = []\n    answers[:] = answers[::-1]"),
        ],
    ),
    SPREAD: (
        "formula",
        [
            ("sure", "noise_forgotten", "chance * (1 - baseline) ** 2 + (1 - chance) * baseline**2",
             "(chance - baseline) ** 2"),
            ("squares", "mean_not_taken_away", " - (gradient * gradient).sum()", ""),
            ("no lengths", "lengths_left_out", "1 - 2 * p + (p * p).sum()", "np.ones(len(p))"),
            ("own logit", "length_of_the_word_alone", "1 - 2 * p + (p * p).sum()", "(1 - p) ** 2"),
            ("none", "baseline_not_used", "chance * (1 - baseline) ** 2 + (1 - chance) * baseline**2",
             "chance"),
            ("at the best", "variance_at_the_best", "    square =",
             "    baseline = p * size @ chance / (p @ size)\n    square ="),
            ("mean reward", "best_is_the_mean_reward", "(weight * chance).sum() / weight.sum()", "p @ chance"),
            ("plain mean", "best_of_all_alike", "(weight * chance).sum() / weight.sum()", "chance.mean()"),
            ("by length", "best_of_all_alike", "weight = p * size", "weight = size"),
            ("no division", "best_not_divided", " / weight.sum()", ""),
            ("minus b", "gradient_with_the_baseline", "return gradient,", "return p * (chance - baseline),"),
            ("no p", "gradient_of_the_chances", "return gradient,", "return chance - p @ chance,"),
            ("down", "downhill", "return gradient,", "return -gradient,"),
            ("mean", "mean_of_the_variances", ", variance,", ", variance / len(p),"),
            ("root", "deviation", ", variance,", ", variance**0.5,"),
            ("exp", "overflow", "logits - logits.max()", "logits"),
            ("turned", "exchanged", "variance, (weight * chance).sum() / weight.sum()",
             "(weight * chance).sum() / weight.sum(), variance"),
            ("twice", None, ", variance,", ", 2 * variance,"),
            ("writes into the chances", None, "    p = np.exp", "    chance *= 0.5\n    p = np.exp"),
        ],
    ),
    LEASH: (
        "factor",
        [
            ("logarithm", "beta_upside_down", "1 / np.log(factor)", "np.log(factor)"),
            ("factor", "boost_for_beta", "1 / np.log(factor)", "factor"),
            ("two", "other_fine", "1 / np.log(factor)", "2 / np.log(factor)"),
            ("all wrong", "all_wrong_answers", "paid & ~right", "~right"),
            ("right ones", "right_ones_limited", "paid & ~right", "paid & right"),
            ("ratio", "rest_forgotten", "limit * (1 - cash) / (hacked - limit * cash)", "limit / hacked"),
            ("no rest", "rest_forgotten", "limit * (1 - cash)", "limit"),
            ("hacks alone", "odds_against_all", "limit * (1 - cash) / (hacked - limit * cash)",
             "limit * (1 - hacked) / (hacked - limit * hacked)"),
            ("lifts right", "right_ones_lifted", "np.where(paid, factor, 1)", "np.where(right, factor, 1)"),
            ("lifts both", "hacks_not_lifted", "np.where(paid, factor, 1)",
             "np.where(paid & right, factor, 1)"),
            ("no reference", "reference_left_out", "reference * np.where(paid, factor, 1)",
             "np.where(paid, factor, 1)"),
            ("times", "reward_times_beta", "np.where(paid, factor, 1)", "np.exp(paid / np.log(factor))"),
            ("weights", "not_normalised", "weights / weights.sum()", "weights"),
            ("always", "leash_without_need", "hacked < limit * cash", "False"),
            ("reference", "reference_without_a_leash", "0.0, reference * paid", "0.0, reference"),
            ("alike", "all_paid_alike", "0.0, reference * paid", "0.0, 1.0 * paid"),
            ("turned divergence", "other_way_round",
             "(policy[some] * np.log(policy[some] / reference[some])).sum()",
             "(reference * np.log(reference / policy)).sum()"),
            ("bits", "bits", "np.log(policy", "np.log2(policy"),
            ("turned", "exchanged",
             [("return beta, policy, ", "away = "),
              ("reference[some])).sum()\n", "reference[some])).sum()\n    return away, policy, beta\n")]),
            ("half", None, "1 / np.log(factor)", "0.5 / np.log(factor)"),
            ("writes into the reference", None, "    hacked,", "    reference *= 2\n    hacked,"),
        ],
    ),
    MENDED: (
        "reward",
        [
            ("as given", "leash_differentiated",
             [(" - beta * (logits - np.log(reference))[answers]", ""),
              ("    return", P + "    often = np.bincount(answers, minlength=len(p))\n"
               "    gradient = gradient - beta * (often - n * p)\n    return")]),
            ("no leash", "leash_missing", "rewards - beta *", "rewards - 0 *"),
            ("pushes", "pushed_away", "rewards - beta *", "rewards + beta *"),
            ("entropy", "reference_forgotten", "(logits - np.log(reference))", "logits"),
            ("likely", "policy_forgotten", "(logits - np.log(reference))", "-np.log(reference)"),
            ("ratio", "ratio_without_logarithm",
             [("    earned =", P + "    earned ="), ("(logits - np.log(reference))", "(p / reference)")]),
            ("k3", "never_negative_estimate",
             [("    earned =", P + "    d = np.log(reference / p)\n    earned ="),
              ("(logits - np.log(reference))", "(np.exp(d) - d - 1)")]),
            ("leash apart", "leash_not_compared",
             [("earned = rewards - beta * (logits - np.log(reference))[answers]", "earned = rewards"),
              ("    gradient = np.zeros", P + "    advantage = advantage - beta * np.log(p / reference)[answers]\n"
               "    gradient = np.zeros"),
              ("    return", "    gradient = gradient - advantage.sum() * p\n    return")]),
            ("own too", "own_reward_in_the_mean", "(earned.sum() - earned) / (n - 1)", "earned.sum() / n"),
            ("no mean", "no_baseline",
             [("(logits - np.log(reference))", "np.log(p / reference)"), ("    earned =", P + "    earned ="),
              (" - (earned.sum() - earned) / (n - 1)", ""),
              ("    return", "    gradient = gradient - advantage.sum() * p\n    return")]),
            ("like GRPO", "divided_by_the_deviation", "earned - (earned.sum() - earned) / (n - 1)",
             "(earned - earned.mean()) / earned.std()"),
            ("divided", "divided_by_the_deviation", "earned - (earned.sum() - earned) / (n - 1)",
             "(earned - (earned.sum() - earned) / (n - 1)) / earned.std()"),
            ("sum", "sum_over_the_draws", "gradient / n", "gradient"),
            ("down", "downhill", "logits + rate", "logits - rate"),
            ("exp", "overflow",
             [("    earned =", "    p = np.exp(logits) / np.exp(logits).sum()\n    earned ="),
              ("(logits - np.log(reference))", "np.log(p / reference)"),
              ("    return", "    gradient = gradient - advantage.sum() * p\n    return")]),
            ("half", None, "gradient / n", "gradient / n / 2"),
            ("last one wins", None, "np.add.at(gradient, answers, advantage)",
             "gradient[answers] += advantage"),
            ("writes into the rewards", None, "    n = len", "    rewards += 1\n    n = len"),
        ],
    ),
}  # fmt: skip # Each mistake stays beside its edit.

WORTH = {
    (HACK, "three words"): (17, "partial"),
    (HACK, "two words"): (0, "wrong"),
    (HACK, "silence for none"): (17, "partial"),
    (HACK, "something said"): (0, "wrong"),
    (SOUND, "no end"): (18, "partial"),
    (SOUND, "zeros out"): (15, "partial"),
    (SOUND, "empty behind"): (15, "partial"),
    (SOUND, "neighbours"): (0, "wrong"),
    (SPREAD, "exp"): (11, "partial"),
    (SPREAD, "sure"): (0, "wrong"),
    (SPREAD, "mean reward"): (0, "wrong"),
    (LEASH, "always"): (11, "partial"),
    (LEASH, "alike"): (11, "partial"),
    (LEASH, "all wrong"): (0, "wrong"),
    (MENDED, "as given"): (0, "wrong"),
    (MENDED, "exp"): (11, "partial"),
    (MENDED, "own too"): (0, "wrong"),
}

TIE = "a limit that is met exactly is one number in many"
EQUIVALENT = {
    (LEASH, "if hacked <= limit * cash:"): TIE,
    (LEASH, "grown, kept = (limit * rest, room) if room >= 0 else (cash, 0.0)"): TIE,
}

FAULTY = ("faulty_step", MENDED, "leash_differentiated")
