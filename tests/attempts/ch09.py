# ruff: noqa: B905, F841 (what students write)
"""What students may hand in to the exercises of chapter 09, written from their statements alone."""

from collections import Counter

import numpy as np


class beam_step:
    def right_sort(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        best = np.argsort(-total, axis=None, kind="stable")[:beam_width]
        parents, tokens = np.unravel_index(best, total.shape)
        return parents, tokens, total[parents, tokens]

    def right_list(log_probabilities, scores, beam_width):
        n, v = log_probabilities.shape
        found = [(scores[i] + log_probabilities[i, w], i, w) for i in range(n) for w in range(v)]
        found.sort(key=lambda f: -f[0])
        values, parents, tokens = zip(*found[:beam_width])
        return np.array(parents), np.array(tokens), np.array(values)

    def forgets_the_scores(log_probabilities, scores, beam_width):
        best = np.argsort(-log_probabilities, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, log_probabilities.shape)
        return parents, tokens, log_probabilities[parents, tokens]

    forgets_the_scores.slips = """
    scores_added_at_the_end: log_probabilities[parents, tokens] ==> log_probabilities[parents, tokens] + scores[parents]
    """

    def not_sorted(log_probabilities, scores, beam_width):
        total = (log_probabilities + scores[:, None]).ravel()
        best = np.argpartition(-total, beam_width - 1)[:beam_width]
        best = np.sort(best)
        return best // log_probabilities.shape[1], best % log_probabilities.shape[1], total[best]

    def one_for_each_hypothesis(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        tokens = total.argmax(1)
        values = total.max(1)
        order = np.argsort(-values)[:beam_width]
        return order, tokens[order], values[order]

    def best_parent_only(log_probabilities, scores, beam_width):
        parent = scores.argmax()
        tokens = np.argsort(-log_probabilities[parent])[:beam_width]
        values = scores[parent] + log_probabilities[parent, tokens]
        return np.full(beam_width, parent), tokens, values

    def right_plain(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        best = np.argsort(-total, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, total.shape)
        return parents, tokens, total[parents, tokens]

    right_plain.slips = """
    swapped: parents, tokens, total[parents, tokens] ==> tokens, parents, total[parents, tokens]
    scores_along_the_tokens: scores[:, None] ==> scores
    scores_first: parents, tokens, total[parents, tokens] ==> total[parents, tokens], parents, tokens
    probabilities: total[parents, tokens] ==> np.exp(total[parents, tokens])
    old_scores: total[parents, tokens] ==> scores[parents]
    last_probability: total[parents, tokens] ==> log_probabilities[parents, tokens]
    all_of_them: np.argsort(-total, axis=None)[:beam_width] ==> np.argsort(-total, axis=None)
    multiplies: log_probabilities + scores[:, None] ==> log_probabilities * scores[:, None]
    worst_first: -total ==> total && :beam_width ==> -beam_width:
    the_worst: -total ==> total
    length_normalised: log_probabilities + scores[:, None] ==> (log_probabilities + scores[:, None]) / 2
    """

    def divided_by_the_number_of_rows(log_probabilities, scores, beam_width):
        total = (log_probabilities + scores[:, None]).ravel()
        best = np.argsort(-total)[:beam_width]
        n = len(log_probabilities)
        return best // n, best % n, total[best]

    def divided_by_the_width(log_probabilities, scores, beam_width):
        total = (log_probabilities + scores[:, None]).ravel()
        best = np.argsort(-total)[:beam_width]
        return best // beam_width, best % beam_width, total[best]

    divided_by_the_width.slips = r"""
    flat_ids: best // beam_width ==> best // log_probabilities.shape[1] && best % beam_width ==> best
    true_division: return ==> v = log_probabilities.shape[1]\n    return && // beam_width ==> / v && beam_width, ==> v,
    """

    def exponent_of_logs(log_probabilities, scores, beam_width):
        total = np.exp(log_probabilities) + scores[:, None]
        best = np.argsort(-total, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, total.shape)
        return parents, tokens, total[parents, tokens]

    def added_as_probabilities(log_probabilities, scores, beam_width):
        total = np.exp(log_probabilities) + np.exp(scores)[:, None]
        best = np.argsort(-total, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, total.shape)
        return parents, tokens, np.log(total[parents, tokens])

    def only_the_best(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        parent, token = np.unravel_index(total.argmax(), total.shape)
        return parent, token, total[parent, token]

    def sorted_by_rows(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        tokens = np.argsort(-total, axis=1)[:, :beam_width]
        parents = np.arange(len(scores))[:, None] + 0 * tokens
        return parents, tokens, np.take_along_axis(total, tokens, 1)

    def adds_in_place(log_probabilities, scores, beam_width):
        log_probabilities += scores[:, None]
        best = np.argsort(-log_probabilities, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, log_probabilities.shape)
        return parents, tokens, log_probabilities[parents, tokens]

    def softmaxed_again(log_probabilities, scores, beam_width):
        p = np.exp(log_probabilities) / np.exp(log_probabilities).sum()
        total = np.log(p) + scores[:, None]
        best = np.argsort(-total, axis=None)[:beam_width]
        parents, tokens = np.unravel_index(best, total.shape)
        return parents, tokens, total[parents, tokens]

    def list_argsort(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        best = sorted(total)[:beam_width]
        return best, best, best

    def tokens_in_each_row_of_the_best(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        parents = np.argsort(-total.max(1))[:beam_width]
        tokens = np.argsort(-total.max(0))[:beam_width]
        return parents, tokens, np.sort(total.ravel())[::-1][:beam_width]

    def reversed_tuple_of_argwhere(log_probabilities, scores, beam_width):
        total = log_probabilities + scores[:, None]
        least = np.sort(total, axis=None)[-beam_width]
        parents, tokens = np.where(total >= least)
        return parents, tokens, total[parents, tokens]


def _softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class top_p_filter:
    def all_that_reach_p_alone(logits, p):
        probs = _softmax(logits)
        keep = probs >= np.minimum(p, probs.max(axis=-1, keepdims=True))
        kept = probs * keep
        return kept / kept.sum(axis=-1, keepdims=True)

    def right_log_sum_exp(logits, p):
        chances = np.exp(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True))
        order = np.argsort(-chances, axis=-1)
        total = np.cumsum(np.take_along_axis(chances, order, -1), axis=-1)
        kept = np.concatenate([np.ones_like(total[..., :1]), total[..., :-1] < p], axis=-1)
        chances = chances * np.take_along_axis(kept, np.argsort(order, -1), -1)
        return chances / chances.sum(axis=-1, keepdims=True)

    def right_sorted(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1, kind="stable")
        ranked = np.take_along_axis(probabilities, order, -1)
        before = np.cumsum(ranked, -1) - ranked
        kept = np.where(before < p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return out / out.sum(-1, keepdims=True)

    def right_loop(logits, p):
        flat = logits.reshape(-1, logits.shape[-1])
        out = np.zeros(flat.shape)
        for i, row in enumerate(flat):
            e = np.exp(row - row.max())
            e = e / e.sum()
            total = 0.0
            for j in sorted(range(len(e)), key=lambda j: -e[j]):
                out[i, j] = e[j]
                total += e[j]
                if total >= p:
                    break
            out[i] /= total
        return out.reshape(logits.shape)

    def excludes_the_one_that_crosses(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        kept = np.where(np.cumsum(ranked, -1) <= p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return np.nan_to_num(out / out.sum(-1, keepdims=True))

    excludes_the_one_that_crosses.slips = """
    keeps_the_tail: np.cumsum(ranked, -1) <= p ==> np.cumsum(ranked, -1) - ranked >= p
    filtered_by_1_minus_p: np.cumsum(ranked, -1) <= p ==> np.cumsum(ranked, -1) - ranked < 1 - p
    """

    def one_too_many(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        before = np.cumsum(ranked, -1) - ranked
        keep = before < p
        keep = np.concatenate([np.ones_like(keep[..., :1]), keep[..., :-1]], -1)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, np.where(keep, ranked, 0), -1)
        return out / out.sum(-1, keepdims=True)

    def right_plain(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        kept = np.where(np.cumsum(ranked, -1) - ranked < p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return out / out.sum(-1, keepdims=True)

    right_plain.slips = """
    not_normalised: out / out.sum(-1, keepdims=True) ==> out
    strictly_below: np.cumsum(ranked, -1) - ranked ==> np.cumsum(ranked, -1)
    ascending: -probabilities ==> probabilities
    softmax_again: out / out.sum(-1, keepdims=True) ==> _softmax(out)
    normalises_the_whole_batch: out.sum(-1, keepdims=True) ==> out.sum()
    no_keepdims: out.sum(-1, keepdims=True) ==> out.sum(-1)
    """

    def in_sorted_order(logits, p):
        probabilities = _softmax(logits)
        ranked = -np.sort(-probabilities, -1)
        kept = np.where(np.cumsum(ranked, -1) - ranked < p, ranked, 0)
        return kept / kept.sum(-1, keepdims=True)

    def threshold(logits, p):
        probabilities = _softmax(logits)
        kept = np.where(probabilities >= p, probabilities, 0)
        return kept / kept.sum(-1, keepdims=True)

    threshold.slips = r"""
    unsorted: kept = ==> before = np.cumsum(probabilities, -1) - probabilities\n    kept = && probabilities >= ==> before <
    """

    def min_p(logits, p):
        probabilities = _softmax(logits)
        top = probabilities.max(-1, keepdims=True)
        kept = np.where(probabilities >= p * top, probabilities, 0)
        return kept / kept.sum(-1, keepdims=True)

    def top_k(logits, p):
        probabilities = _softmax(logits)
        k = max(1, int(p * logits.shape[-1]))
        least = np.sort(probabilities, -1)[..., -k, None]
        kept = np.where(probabilities >= least, probabilities, 0)
        return kept / kept.sum(-1, keepdims=True)

    def order_applied_not_undone(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        kept = np.where(np.cumsum(ranked, -1) - ranked < p, ranked, 0)
        out = np.take_along_axis(kept, order, -1)
        return out / out.sum(-1, keepdims=True)

    def flat_index(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities)
        ranked = probabilities[order]
        kept = np.where(np.cumsum(ranked) - ranked < p, ranked, 0)
        out = np.zeros(logits.shape)
        out[order] = kept
        return out / out.sum()

    def no_softmax(logits, p):
        order = np.argsort(-logits, axis=-1)
        ranked = np.take_along_axis(logits, order, -1)
        kept = np.where(np.cumsum(ranked, -1) - ranked < p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return out / out.sum(-1, keepdims=True)

    def returns_mask(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        keep = np.zeros(logits.shape, bool)
        np.put_along_axis(keep, order, np.cumsum(ranked, -1) - ranked < p, -1)
        return keep

    returns_mask.slips = r"""
    softmax_of_masked_zero: return keep ==> return _softmax(np.where(keep, logits, 0))
    returns_logits: return keep ==> return np.where(keep, logits, -np.inf)
    uniform_in_the_nucleus: , bool ==> && keep\n ==> keep / keep.sum(-1, keepdims=True)\n
    """

    def cumsum_without_axis(logits, p):
        probabilities = _softmax(logits)
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        total = np.cumsum(ranked).reshape(ranked.shape)
        kept = np.where(total - ranked < p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return out / out.sum(-1, keepdims=True)

    def softmax_over_the_batch(logits, p):
        e = np.exp(logits - logits.max())
        probabilities = e / e.sum()
        order = np.argsort(-probabilities, axis=-1)
        ranked = np.take_along_axis(probabilities, order, -1)
        kept = np.where(np.cumsum(ranked, -1) - ranked < p, ranked, 0)
        out = np.zeros(logits.shape)
        np.put_along_axis(out, order, kept, -1)
        return out / out.sum(-1, keepdims=True)

    def sampled(logits, p):
        probabilities = _softmax(logits)
        return (probabilities == probabilities.max(-1, keepdims=True)).astype(float)

    def while_loop_over_one_row(logits, p):
        e = np.exp(logits - max(logits))
        e = e / e.sum()
        out = np.zeros(len(e))
        while out.sum() < p:
            j = e.argmax()
            out[j] = e[j]
            e[j] = 0
        return out / out.sum()


def _grams(words, n):
    words = [int(w) for w in words]
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _precisions(candidate, reference, max_n):
    out = []
    for n in range(1, max_n + 1):
        mine, theirs = _grams(candidate, n), _grams(reference, n)
        out.append(sum((mine & theirs).values()) / sum(mine.values()))
    return np.array(out)


def _penalty(candidate, reference):
    c, r = len(candidate), len(reference)
    return 1.0 if c >= r else float(np.exp(1 - r / c))


class bleu:
    def right_counter(candidate, reference, max_n):
        p = _precisions(candidate, reference, max_n)
        penalty = _penalty(candidate, reference)
        score = penalty * np.prod(p) ** (1 / max_n) if p.all() else 0.0
        return p, penalty, score

    def right_windows(candidate, reference, max_n):
        p = np.zeros(max_n)
        for n in range(1, max_n + 1):
            a = np.lib.stride_tricks.sliding_window_view(candidate, n)
            if len(reference) < n:
                continue
            b = np.lib.stride_tricks.sliding_window_view(reference, n)
            same = (a[:, None] == b[None]).all(-1)
            rows, counts = np.unique(a, axis=0, return_counts=True)
            there = (rows[:, None] == b[None]).all(-1).sum(1)
            p[n - 1] = np.minimum(counts, there).sum() / len(a)
        penalty = np.minimum(1.0, np.exp(1 - len(reference) / len(candidate)))
        with np.errstate(divide="ignore"):
            return p, penalty, penalty * np.exp(np.log(p).mean())

    def not_clipped(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            theirs = _grams(reference, n)
            mine = [tuple(candidate[i : i + n].tolist()) for i in range(len(candidate) - n + 1)]
            p.append(sum(g in theirs for g in mine) / len(mine))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def sets(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            mine, theirs = set(_grams(candidate, n)), set(_grams(reference, n))
            p.append(len(mine & theirs) / len(mine))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def recall(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            mine, theirs = _grams(candidate, n), _grams(reference, n)
            p.append(sum((mine & theirs).values()) / max(1, sum(theirs.values())))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    recall.slips = """
    divides_by_the_length: max(1, sum(theirs.values())) ==> len(candidate)
    """

    def right_plain(candidate, reference, max_n):
        p = _precisions(candidate, reference, max_n)
        penalty = _penalty(candidate, reference)
        return p, penalty, penalty * np.prod(p) ** (1 / max_n)

    right_plain.slips = r"""
    fourth_root: 1 / max_n ==> 0.25
    arithmetic_mean: penalty * np.prod(p) ** (1 / max_n) ==> penalty * p.mean() if p.all() else 0.0
    product_without_root: np.prod(p) ** (1 / max_n) ==> np.prod(p)
    penalty_not_applied: penalty = ==> return p, && \n    return p, penalty, penalty * ==> ,
    from_0_to_100: penalty * np.prod(p) ** (1 / max_n) ==> 100 * penalty * np.prod(p) ** (1 / max_n)
    only_the_score: penalty = ==> return && \n    return p, penalty, penalty ==>
    wrong_order: p, penalty, penalty * np.prod(p) ** (1 / max_n) ==> penalty * np.prod(p) ** (1 / max_n), penalty, p
    always_four: _precisions(candidate, reference, max_n) ==> _precisions(candidate, reference, 4) && 1 / max_n ==> 0.25
    zero_precision_skipped: np.prod(p) ** (1 / max_n) ==> np.exp(np.log(p[p > 0]).mean())
    smoothed: np.prod(p) ** (1 / max_n) ==> np.exp(np.log(np.maximum(p, 1e-3)).mean())
    nan_for_zero: np.prod(p) ** (1 / max_n) ==> np.exp((p * np.log(p)).sum() / p.sum())
    sum_of_logs: np.prod(p) ** (1 / max_n) ==> np.exp(np.log(p).sum())
    log_2: np.prod(p) ** (1 / max_n) ==> np.exp(np.log2(p).mean())
    penalty_as_ratio: _penalty(candidate, reference) ==> min(1.0, len(candidate) / len(reference))
    no_penalty: penalty = _penalty(candidate, reference)\n    return ==> return && penalty, penalty * ==> 1.0,
    """

    def penalty_inverted(candidate, reference, max_n):
        p = _precisions(candidate, reference, max_n)
        c, r = len(candidate), len(reference)
        penalty = 1.0 if c <= r else np.exp(1 - c / r)
        return p, penalty, penalty * np.prod(p) ** (1 / max_n)

    penalty_inverted.slips = """
    penalty_fraction_upside_down: c <= r ==> c >= r
    """

    def penalty_without_limit(candidate, reference, max_n):
        p = _precisions(candidate, reference, max_n)
        penalty = np.exp(1 - len(reference) / len(candidate))
        return p, penalty, penalty * np.prod(p) ** (1 / max_n)

    def range_without_the_last(candidate, reference, max_n):
        p = _precisions(candidate, reference, max_n - 1)
        penalty = _penalty(candidate, reference)
        return p, penalty, penalty * np.prod(p) ** (1 / max(1, max_n - 1))

    def one_window_short(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            mine = Counter(tuple(candidate[i : i + n].tolist()) for i in range(len(candidate) - n))
            theirs = Counter(
                tuple(reference[i : i + n].tolist()) for i in range(len(reference) - n)
            )
            p.append(sum((mine & theirs).values()) / max(1, sum(mine.values())))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def windows_past_the_end(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            mine = Counter(tuple(candidate[i : i + n].tolist()) for i in range(len(candidate)))
            theirs = Counter(tuple(reference[i : i + n].tolist()) for i in range(len(reference)))
            p.append(sum((mine & theirs).values()) / sum(mine.values()))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def matches_by_position(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            m = len(candidate) - n + 1
            hits = [
                (candidate[i : i + n].tolist() == reference[i : i + n].tolist()) for i in range(m)
            ]
            p.append(sum(hits) / m)
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def arrays_as_keys(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            mine = Counter(candidate[i : i + n] for i in range(len(candidate) - n + 1))
            theirs = Counter(reference[i : i + n] for i in range(len(reference) - n + 1))
            p.append(sum((mine & theirs).values()) / sum(mine.values()))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def digits_joined(candidate, reference, max_n):
        p = []
        for n in range(1, max_n + 1):
            text = "".join(str(w) for w in reference)
            mine = ["".join(map(str, candidate[i : i + n])) for i in range(len(candidate) - n + 1)]
            p.append(sum(min(c, text.count(g)) for g, c in Counter(mine).items()) / len(mine))
        penalty = _penalty(candidate, reference)
        return np.array(p), penalty, penalty * np.prod(p) ** (1 / max_n)

    def candidate_and_reference_exchanged(candidate, reference, max_n):
        p = _precisions(reference, candidate, max_n)
        penalty = _penalty(reference, candidate)
        return p, penalty, penalty * np.prod(p) ** (1 / max_n)


class alignment_error:
    def right_boolean(predicted, sure, possible):
        a_s = (predicted & sure).sum()
        a_p = (predicted & (sure | possible)).sum()
        return 1 - (a_s + a_p) / (predicted.sum() + sure.sum())

    def right_numbers(predicted, sure, possible):
        a, s = predicted.astype(int).ravel(), sure.astype(int).ravel()
        p = possible.astype(int).ravel()
        return float(1 - (2 * a @ s + a @ p) / (a.sum() + s.sum()))

    def right_plain(predicted, sure, possible):
        hits = (predicted & sure).sum() + (predicted & (sure | possible)).sum()
        return 1 - hits / (predicted.sum() + sure.sum())

    right_plain.slips = """
    not_subtracted: 1 - hits / (predicted.sum() + sure.sum()) ==> hits / (predicted.sum() + sure.sum())
    possible_without_sure: sure | possible ==> possible
    unions: predicted & ==> predicted |
    booleans_added_below: predicted.sum() + sure.sum() ==> (predicted + sure).sum()
    precedence: 1 - hits / (predicted.sum() + sure.sum()) ==> 1 - hits / predicted.sum() + sure.sum()
    percent: 1 - hits / (predicted.sum() + sure.sum()) ==> 100 * (1 - hits / (predicted.sum() + sure.sum()))
    whole_division: hits / (predicted.sum() + sure.sum()) ==> hits // (predicted.sum() + sure.sum())
    exclusive: sure | possible ==> sure ^ ~possible
    """

    def mean_over_sentences(predicted, sure, possible):
        rates = []
        for a, s, p in zip(predicted, sure, possible):
            hits = (a & s).sum() + (a & (s | p)).sum()
            rates.append(1 - hits / (a.sum() + s.sum()))
        return np.mean(rates)

    def each_sentence(predicted, sure, possible):
        hits = (predicted & sure).sum((1, 2)) + (predicted & (sure | possible)).sum((1, 2))
        return 1 - hits / (predicted.sum((1, 2)) + sure.sum((1, 2)))

    def possible_in_the_total(predicted, sure, possible):
        every = sure | possible
        hits = (predicted & sure).sum() + (predicted & every).sum()
        return 1 - hits / (predicted.sum() + every.sum())

    def f_score(predicted, sure, possible):
        precision = (predicted & (sure | possible)).sum() / predicted.sum()
        recall = (predicted & sure).sum() / sure.sum()
        return 1 - 2 * precision * recall / (precision + recall)

    def one_intersection(predicted, sure, possible):
        return 1 - (predicted & (sure | possible)).sum() / (predicted.sum() + sure.sum())

    one_intersection.slips = r"""
    only_sure: (predicted & (sure | possible)).sum() ==> 2 * (predicted & sure).sum()
    jaccard: sure | possible ==> sure && predicted.sum() + sure.sum() ==> (predicted | sure).sum()
    precision: predicted.sum() + sure.sum() ==> predicted.sum()
    recall: sure | possible ==> sure && predicted.sum() + sure.sum() ==> sure.sum()
    cells: 1 - (predicted & (sure | possible)).sum() / (predicted.sum() + sure.sum()) ==> (predicted != sure).mean()
    rows_only: return 1 - ==> hit = && sum() / (predicted.sum() + sure.sum()) ==> any(-1)\n    return 1 - hit.mean()
    """

    def missing_parenthesis(predicted, sure, possible):
        a_s, a_p = (predicted & sure).sum(), (predicted & (sure | possible)).sum()
        return 1 - a_s + a_p / (predicted.sum() + sure.sum())

    def mean_in_place_of_sum(predicted, sure, possible):
        hits = (predicted & sure).mean() + (predicted & (sure | possible)).mean()
        return 1 - hits / (predicted.sum() + sure.sum())

    def len_in_place_of_sum(predicted, sure, possible):
        hits = len(predicted & sure) + len(predicted & (sure | possible))
        return 1 - hits / (len(predicted) + len(sure))

    def booleans_added(predicted, sure, possible):
        hits = ((predicted & sure) + (predicted & (sure | possible))).sum()
        return 1 - hits / (predicted.sum() + sure.sum())

    def and_keyword(predicted, sure, possible):
        hits = (predicted and sure).sum() + (predicted and (sure or possible)).sum()
        return 1 - hits / (predicted.sum() + sure.sum())

    def boolean_difference(predicted, sure, possible):
        wrong = predicted - (sure | possible)
        return wrong.sum() / predicted.sum()

    def sure_is_everything(predicted, sure, possible):
        sure = sure | possible
        return 1 - 2 * (predicted & sure).sum() / (predicted.sum() + sure.sum())

    def sums_the_first_axis(predicted, sure, possible):
        hits = (predicted & sure).sum(0) + (predicted & (sure | possible)).sum(0)
        return 1 - hits / (predicted.sum(0) + sure.sum(0))

    def writes_into_possible(predicted, sure, possible):
        possible |= sure
        hits = (predicted & sure).sum() + (predicted & possible).sum()
        return 1 - hits / (predicted.sum() + sure.sum())

    def unpacks_two_axes(predicted, sure, possible):
        rows, columns = predicted.shape
        hits = 0
        for i in range(rows):
            for j in range(columns):
                hits += 2 * (predicted[i, j] and sure[i, j]) + (predicted[i, j] and possible[i, j])
        return 1 - hits / (predicted.sum() + sure.sum())
