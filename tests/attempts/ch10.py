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

    def right_band(start, end, max_words):
        n = len(start)
        band = np.triu(np.ones((n, n), bool)) & ~np.triu(np.ones((n, n), bool), max_words)
        total = np.where(band, np.add.outer(start, end), -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    def two_argmaxes(start, end, max_words):
        return start.argmax(), end.argmax()

    def end_may_precede(start, end, max_words):
        total = start[:, None] + end
        return np.unravel_index(total.argmax(), total.shape)

    def no_limit(start, end, max_words):
        n = len(start)
        total = np.where(np.triu(np.ones((n, n), bool)), start[:, None] + end, -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    def one_word_too_many(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words + 1, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

    def one_word_too_few(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max(max_words - 1, 1), len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

    def no_single_words(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i + 1, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

    def end_excluded(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j + 1)
        return best[1], best[2]

    def first_and_length(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j - i + 1)
        return best[1], best[2]

    def zero_as_the_best(start, end, max_words):
        best, span = 0, (0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best:
                    best, span = start[i] + end[j], (i, j)
        return span

    def multiplied(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] * end[j] > best[0]:
                    best = (start[i] * end[j], i, j)
        return best[1], best[2]

    def zeros_outside(start, end, max_words):
        n = len(start)
        band = np.triu(np.ones((n, n), bool)) & ~np.triu(np.ones((n, n), bool), max_words)
        total = (start[:, None] + end) * band
        return np.unravel_index(total.argmax(), total.shape)

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

    def swapped(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[2], best[1]

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

    def transposed(start, end, max_words):
        n = len(start)
        band = np.triu(np.ones((n, n), bool)) & ~np.triu(np.ones((n, n), bool), max_words)
        total = np.where(band, start + end[:, None], -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    def lower_triangle(start, end, max_words):
        n = len(start)
        total = np.where(np.tril(np.ones((n, n), bool)), start[:, None] + end, -np.inf)
        return np.unravel_index(total.argmax(), total.shape)

    def exactly_max_words(start, end, max_words):
        n = len(start)
        total = [start[i] + end[i + max_words - 1] for i in range(n - max_words + 1)]
        first = int(np.argmax(total))
        return first, first + max_words - 1

    def past_the_end(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, i + max_words):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

    def loop_stops_early(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start) - max_words):
            for j in range(i, i + max_words):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]

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

    def counts_from_1(start, end, max_words):
        best = (-np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] > best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1] + 1, best[2] + 1

    def minimum(start, end, max_words):
        best = (np.inf, 0, 0)
        for i in range(len(start)):
            for j in range(i, min(i + max_words, len(end))):
                if start[i] + end[j] < best[0]:
                    best = (start[i] + end[j], i, j)
        return best[1], best[2]


class question_match:
    def right_compare(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return found & (context != 0)

    def right_loop(question, context):
        return np.array([np.isin(c, q[q > 0]) for q, c in zip(question, context)])

    def any_question(question, context):
        return np.isin(context, question) & (context != 0)

    def padding_marked(question, context):
        return (context[:, :, None] == question[:, None, :]).any(-1)

    def padding_marked_in_a_loop(question, context):
        return np.array([np.isin(c, q) for q, c in zip(question, context)])

    def the_other_way(question, context):
        found = (question[:, :, None] == context[:, None, :]).any(-1)
        return found & (question != 0)

    def integers(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return (found & (context != 0)).astype(int)

    def counts(question, context):
        found = (context[:, :, None] == question[:, None, :]).sum(-1)
        return found * (context != 0)

    def by_position(question, context):
        return (question == context) & (context != 0)

    def by_position_cut(question, context):
        n = min(question.shape[1], context.shape[1])
        out = np.zeros(context.shape, bool)
        out[:, :n] = question[:, :n] == context[:, :n]
        return out & (context != 0)

    def not_reduced(question, context):
        return (context[:, :, None] == question[:, None, :]) & (context != 0)[..., None]

    def all_in_place_of_any(question, context):
        found = (context[:, :, None] == question[:, None, :]).all(-1)
        return found & (context != 0)

    def wrong_axis(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(1)
        return found & (question != 0)

    def any_of_everything(question, context):
        return bool((context[:, :, None] == question[:, None, :]).any())

    def inverted(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return ~found & (context != 0)

    def first_question(question, context):
        return np.isin(context, question[0][question[0] != 0])

    def first_token(question, context):
        return (context == question[:, :1]) & (context != 0)

    def ids_returned(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return np.where(found, context, 0)

    def positions(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return np.argwhere(found & (context != 0))

    def element_loop(question, context):
        return np.array([[t in question for t in row] for row in context]) & (context != 0)

    def in_operator(question, context):
        return context in question

    def array_in_rows(question, context):
        return np.array([c in q for q, c in zip(question, context)])

    def sets_of_rows(question, context):
        return np.array([list(set(q) & set(c)) for q, c in zip(question, context)])

    def set_of_the_batch(question, context):
        words = set(question)
        return np.array([[t in words for t in row] for row in context])

    def missing_axes(question, context):
        return (context[:, None] == question[None]).any(-1) & (context != 0)

    def padding_by_minus_1(question, context):
        found = (context[:, :, None] == question[:, None, :]).any(-1)
        return found & (context != -1)

    def padding_of_the_question(question, context):
        found = ((context[:, :, None] == question[:, None, :]) & (question == 0)[:, None]).any(-1)
        return found

    def all_batch_axes(question, context):
        return (context[:, :, None, None] == question).any((-1, -2)) & (context != 0)

    def only_one_row(question, context):
        return np.array([t in question[0] and t != 0 for t in context[0]])

    def subtracts(question, context):
        return ((context[:, :, None] - question[:, None, :]).min(-1) == 0) & (context != 0)

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

    def sum_over_the_tokens(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].sum() for s in range(sentence.max() + 1)])

    def sum_over_the_queries(weights, sentence):
        received = weights.mean((0, 1)).sum(0)
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def both_sums(weights, sentence):
        received = weights.mean((0, 1)).sum(0)
        return np.array([received[sentence == s].sum() for s in range(sentence.max() + 1)])

    def sum_of_everything(weights, sentence):
        received = weights.sum((0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def last_layer(weights, sentence):
        received = weights[-1].mean((0, 1))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def first_layer(weights, sentence):
        received = weights[0].mean((0, 1))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def one_head(weights, sentence):
        received = weights[:, 0].mean((0, 1))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def first_query(weights, sentence):
        received = weights.mean((0, 1))[0]
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def last_query(weights, sentence):
        received = weights.mean((0, 1))[-1]
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def diagonal(weights, sentence):
        received = np.diag(weights.mean((0, 1)))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def within_the_sentence(weights, sentence):
        mean = weights.mean((0, 1))
        out = []
        for s in range(sentence.max() + 1):
            inside = sentence == s
            out.append(mean[inside][:, inside].mean())
        return np.array(out)

    def from_outside(weights, sentence):
        mean = weights.mean((0, 1))
        out = []
        for s in range(sentence.max() + 1):
            inside = sentence == s
            out.append(mean[~inside][:, inside].mean())
        return np.array(out)

    def normalised(weights, sentence):
        received = weights.mean((0, 1, 2))
        out = np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])
        return out / out.sum()

    def forgets_the_last(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(sentence.max())])

    def counts_from_1(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].mean() for s in range(1, sentence.max() + 2)])

    def maximum(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[sentence == s].max() for s in range(sentence.max() + 1)])

    def maximum_over_heads(weights, sentence):
        received = weights.max((0, 1)).mean(0)
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def token_by_token(weights, sentence):
        received = weights.mean((0, 1, 2))
        means = np.bincount(sentence, received) / np.bincount(sentence)
        return means[sentence]

    def received(weights, sentence):
        return weights.mean((0, 1, 2))

    def for_each_layer(weights, sentence):
        received = weights.mean((1, 2))
        return np.array([received[:, sentence == s].mean(-1) for s in range(sentence.max() + 1)])

    def divides_by_all_tokens(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.bincount(sentence, received) / len(sentence)

    def divides_by_the_number_of_sentences(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.bincount(sentence, received) / (sentence.max() + 1)

    def fancy_assignment(weights, sentence):
        received = weights.mean((0, 1, 2))
        out = np.zeros(sentence.max() + 1)
        out[sentence] += received
        return out / np.bincount(sentence)

    def only_layers_and_heads(weights, sentence):
        received = weights.mean((0, 1))
        return np.array([received[sentence == s].mean() for s in range(sentence.max() + 1)])

    def all_but_one_axis(weights, sentence):
        received = weights.mean((0, 1))
        return np.array([received[:, sentence == s].mean(-1) for s in range(sentence.max() + 1)])

    def sentence_as_index(weights, sentence):
        received = weights.mean((0, 1, 2))
        return np.array([received[s] for s in sentence])

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
