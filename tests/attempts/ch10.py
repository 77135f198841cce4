# ruff: noqa: B905 (what students write)
"""What students may hand in to the exercises of chapter 10, written from their statements alone."""

import numpy as np


class best_span:
    def right_loop(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

    right_loop.slips = """
    one_word_too_many: i + max_words ==> i + max_words + 1
    one_word_too_few: i + max_words ==> i + max(max_words - 1, 1)
    no_single_words: range(i, min(i + max_words, len(end))) ==> range(i + 1, min(i + max_words, len(end)))
    end_excluded: (start[i] + end[j], i, j) ==> (start[i] + end[j], i, j + 1)
    first_and_length: (start[i] + end[j], i, j) ==> (start[i] + end[j], i, j - i + 1)
    multiplied: + end[j] > ==> * end[j] > && + end ==> * end
    swapped: best[1], best[2] ==> best[2], best[1]
    past_the_end: min(i + max_words, len(end)) ==> i + max_words
    loop_stops_early: len(start) ==> len(start) - max_words && min(i + max_words, len(end)) ==> i + max_words
    counts_from_1: best[1], best[2] ==> best[1] + 1, best[2] + 1
    minimum: -np.inf ==> np.inf && start[i] + end[j] > best[0] ==> start[i] + end[j] < best[0]
    """

    def right_band(start, end, max_words):
        n = len(start)
        band = np.triu(np.ones((n, n), bool)) & ~np.triu(np.ones((n, n), bool), max_words)
        total = np.where(band, np.add.outer(start, end), -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    right_band.slips = """
    zeros_outside: np.where(band, np.add.outer(start, end), -np.inf) ==> (start[:, None] + end) * band
    transposed: np.add.outer(start, end) ==> start + end[:, None]
    """

    def two_argmaxes(start, end, max_words):
        return start.argmax(), end.argmax()

    def end_may_precede(start, end, max_words):
        total = start[:, None] + end
        return np.unravel_index(total.argmax(), total.shape)

    def no_limit(start, end, max_words):
        n = len(start)
        total = np.where(np.triu(np.ones((n, n), bool)), start[:, None] + end, -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    no_limit.slips = """
    lower_triangle: np.triu ==> np.tril
    """

    def zero_as_the_best(start, end, max_words):
        best, span = 0, (0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best:
                    best, span = start[i] + end[j], (i, j)
        return span

    def start_first_then_end(start, end, max_words):
        first = int(start.argmax())
        return first, first + int(end[first : first + max_words].argmax())

    def end_relative_to_the_start(start, end, max_words):
        first = int(start.argmax())
        return first, int(end[first : first + max_words].argmax())

    def end_first_then_start(start, end, max_words):
        last = int(end.argmax())
        low = max(0, last - max_words + 1)
        return low + int(start[low : last + 1].argmax()), last

    def flat_position(start, end, max_words):
        n = len(start)
        band = np.triu(np.ones((n, n), bool)) & ~np.triu(np.ones((n, n), bool), max_words)
        return np.where(band, start[:, None] + end, -np.inf).argmax()

    def returns_the_sum(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                best = max(best, (start[i] + end[j], i, j))
        return best[0], best[1]

    def exactly_max_words(start, end, max_words):
        n = len(start)
        total = [start[i] + end[i + max_words - 1] for i in range(n - max_words + 1)]
        first = int(np.argmax(total))
        return first, first + max_words - 1

    def sums_the_span(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                total = (start[i : j + 1] + end[i : j + 1]).sum()
                if total > best[0]:
                    best = (total, i, j)
        return best[1], best[2]

    def same_position(start, end, max_words):
        best = int((start + end).argmax())
        return best, best

    def repaired_afterwards(start, end, max_words):
        first, last = int(start.argmax()), int(end.argmax())
        if last < first:
            first, last = last, first
        return first, min(last, first + max_words - 1)

    def shortest_first(start, end, max_words):
        best = (-np.inf, 0, 0)
        for length in range(max_words):
            for i in range(len(start) - length):
                if start[i] + end[i + length] > best[0]:
                    best = (start[i] + end[i + length], i, length)
        return best[1], best[2]


class question_match:
    def right_compare(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return found & (context != 0)

    right_compare.slips = r"""
    padding_marked: found = ==> return && \n    return found & (context != 0) ==>
    integers: found & (context != 0) ==> (found & (context != 0)).astype(int)
    inverted: found & (context != 0) ==> ~found & (context != 0)
    ids_returned: found & (context != 0) ==> np.where(found, context, 0)
    positions: found & (context != 0) ==> np.argwhere(found & (context != 0))
    padding_by_minus_1: context != 0 ==> context != -1
    """

    def missing_axes(question, context):
        return (context[:, None] == question[None]).any(-1) & (context != 0)

    def wrong_axis(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(1)
        return found & (question != 0)

    def right_loop(question, context):
        return np.array([np.isin(c, q[q > 0]) for q, c in zip(question, context)])

    def the_other_way(question, context):
        found = (question[:, :, None] == context[:, None, :]).any(-1)
        return found & (question != 0)

    def counts(question, context):
        found = (context[:, :, None] == question[:, None, :]).sum(-1)
        return found * (context != 0)

    def by_position_cut(question, context):
        n = min(question.shape[1], context.shape[1])
        out = np.zeros(context.shape, bool)
        out[:, :n] = question[:, :n] == context[:, :n]
        return out & (context != 0)

    def all_in_place_of_any(question, context):
        found = (context[:, :, None] == question[:, None, :]).all(-1)
        return found & (context != 0)

    def in_operator(question, context):
        return context in question

    in_operator.slips = """
    any_question: context in question ==> np.isin(context, question) & (context != 0)
    padding_marked_in_a_loop: context in question ==> np.array([np.isin(c, q) for q, c in zip(question, context)])
    by_position: context in question ==> (question == context) & (context != 0)
    not_reduced: context in question ==> (context[:, :, None] == question[:, None, :]) & (context != 0)[..., None]
    any_of_everything: context in question ==> bool((context[:, :, None] == question[:, None, :]).any())
    first_question: context in question ==> np.isin(context, question[0][question[0] != 0])
    first_token: context in question ==> (context == question[:, :1]) & (context != 0)
    element_loop: context in question ==> np.array([[t in question for t in row] for row in context]) & (context != 0)
    array_in_rows: context in question ==> np.array([c in q for q, c in zip(question, context)])
    sets_of_rows: context in question ==> np.array([list(set(q) & set(c)) for q, c in zip(question, context)])
    all_batch_axes: context in question ==> (context[:, :, None, None] == question).any((-1, -2)) & (context != 0)
    only_one_row: context in question ==> np.array([t in question[0] and t != 0 for t in context[0]])
    subtracts: context in question ==> ((context[:, :, None] - question[:, None, :]).min(-1) == 0) & (context != 0)
    """

    def set_of_the_batch(question, context):
        words = set(question)
        return np.array([[t in words for t in row] for row in context])

    def padding_of_the_question(question, context):
        found = ((context[:, :, None] == question[:, None, :]) & (question == 0)[:, None]).any(-1)
        return found

    def first_occurrence(question, context):
        out = np.zeros(context.shape, bool)
        for i, (q, c) in enumerate(zip(question, context)):
            for t in q[q != 0]:
                if t in c:
                    out[i, list(c).index(t)] = True
        return out

    def overwritten_in_the_loop(question, context):
        out = np.zeros(context.shape, bool)
        for i in range(len(question)):
            for t in question[i]:
                out[i] = (context[i] == t) & (t != 0)
        return out


class sentence_attention:
    def right_loop(weights, sentence):
        received = weights.mean(axis=(0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def right_bincount(weights, sentence):
        received = np.einsum("lhqk->k", weights) / np.prod(weights.shape[:3])
        return np.bincount(sentence, received) / np.bincount(sentence)

    def rows_in_place_of_columns(weights, sentence):
        given = weights.mean((0, 1)).mean(-1)
        return np.array([given[sentence == s].mean() for s in range(sentence.max() + 1)])

    def both_sums(weights, sentence):
        received = weights.mean((0, 1)).sum(0)
        return np.array([received[sentence == s].sum() for s in range(sentence.max() + 1)])

    def within_the_sentence(weights, sentence):
        mean = weights.mean((0, 1))
        out = []
        for s in range(sentence.max() + 1):
            inside = sentence == s
            out.append(mean[inside][:, inside].mean())
        return np.array(out)

    within_the_sentence.slips = """
    from_outside: mean[inside] ==> mean[~inside]
    """

    def normalised(weights, sentence):
        received = weights.mean((0, 1, 2))
        out = np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])
        return out / out.sum()

    def right_plain(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.bincount(sentence, received) / np.bincount(sentence)

    right_plain.slips = r"""
    divides_by_the_number_of_sentences: np.bincount(sentence) ==> (sentence.max() + 1)
    received: received = ==> return && \n    return np.bincount(sentence, received) / np.bincount(sentence) ==>
    token_by_token: return ==> means = && (sentence) ==> (sentence)\n    return means[sentence]
    divides_by_all_tokens: np.bincount(sentence) ==> len(sentence)
    """

    def fancy_assignment(weights, sentence):
        received = weights.mean((0, 1, 2))
        out = np.zeros(sentence.max() + 1)
        out[sentence] += received
        return out / np.bincount(sentence)

    def right_too(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    right_too.slips = """
    sentence_as_index: received[sentence == s].mean() ==> received[s] && range(sentence.max() + 1) ==> sentence
    only_layers_and_heads: (0, 1, 2) ==> (0, 1)
    sum_over_the_tokens: received[sentence == s].mean() ==> received[sentence == s].sum()
    sum_over_the_queries: weights.mean((0, 1, 2)) ==> weights.mean((0, 1)).sum(0)
    sum_of_everything: weights.mean ==> weights.sum
    last_layer: weights.mean((0, 1, 2)) ==> weights[-1].mean((0, 1))
    first_layer: weights.mean((0, 1, 2)) ==> weights[0].mean((0, 1))
    one_head: weights.mean((0, 1, 2)) ==> weights[:, 0].mean((0, 1))
    first_query: weights.mean((0, 1, 2)) ==> weights.mean((0, 1))[0]
    last_query: weights.mean((0, 1, 2)) ==> weights.mean((0, 1))[-1]
    diagonal: weights.mean((0, 1, 2)) ==> np.diag(weights.mean((0, 1)))
    forgets_the_last: sentence.max() + 1 ==> sentence.max()
    counts_from_1: range(sentence.max() + 1) ==> range(1, sentence.max() + 2)
    maximum: received[sentence == s].mean() ==> received[sentence == s].max()
    maximum_over_heads: weights.mean((0, 1, 2)) ==> weights.max((0, 1)).mean(0)
    for_each_layer: (0, 1, 2) ==> (1, 2) && received[sentence == s].mean() ==> received[:, sentence == s].mean(-1)
    all_but_one_axis: (0, 1, 2) ==> (0, 1) && received[sentence == s].mean() ==> received[:, sentence == s].mean(-1)
    """

    def mean_over_two_axes(weights, sentence):
        received = weights.mean(0).mean(-1).mean(0)
        return np.array([received[sentence == s].mean() for s in np.unique(sentence)])

    def writes_into_the_weights(weights, sentence):
        for i in range(weights.shape[-1]):
            weights[..., i, i] = 0
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def integers(weights, sentence):
        received = weights.mean((0, 1, 2))
        out = np.zeros(sentence.max() + 1, dtype=int)
        for s in range(sentence.max() + 1):
            out[s] = received[sentence == s].mean()
        return out

    def list_compared(weights, sentence):
        received = weights.mean((0, 1, 2))
        return [received[list(sentence) == s].mean() for s in range(sentence.max() + 1)]
