"""What `check` says of over a thousand answers that were written from the statements alone.

What it does not name is listed here with the reason, so that the share that it names is known and does
not shrink unseen. And advice is carried out: whoever does what `check` says passes, or gets fewer
numbers wrong. Each attempt is judged once for both.

Where a hint says what to do in a form that a program can follow, the test follows it: it changes what goes
into an attempt, what comes out of it, or its source. The other hints explain an idea, and following
them means writing something else.
"""

import ast
import fnmatch
import functools
import importlib
import inspect
import re
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import attn_course
from attn_course.exercises.catalogue import load, modules
from attn_course.exercises.check import record_of_chapter, verdict
from attn_course.exercises.compare import close, run, same_kind
from tests.attempts import attempts_of

# The daily test follows the first so many attempts that receive the same hint.
N_FIRST = 5


# Changes of the inputs: each takes the arguments by name and returns others.


def put(**changes):
    """Return a change of the inputs; each keyword gives an argument as a function of all."""

    def change(case):
        return case | {name: make(**case) for name, make in changes.items() if name in case}

    return inward(change)


def inward(change):
    def follow(attempt, names):
        def changed(*arguments):
            case = dict(zip(names, arguments, strict=False))
            return attempt(*change(case).values())

        return changed

    return follow


def exchange(a, b):
    return inward(lambda case: case | {a: case[b], b: case[a]})


def opposite(name):
    return inward(lambda case: case | ({name: ~case[name]} if name in case else {}))


# Changes of the outputs: each takes the results and the arguments and returns other results.


def out(change):
    """Return a change of a single result, as a function of it and of the arguments by name."""

    def follow(attempt, names):
        def changed(*arguments):
            return change(
                np.asarray(attempt(*arguments)), dict(zip(names, arguments, strict=False))
            )

        return changed

    return follow


def outs(change):
    """Return a change of several results, as a function of them and of the arguments by name."""

    def follow(attempt, names):
        def changed(*arguments):
            results = [np.asarray(part) for part in attempt(*arguments)]
            return tuple(change(results, dict(zip(names, arguments, strict=False))))

        return changed

    return follow


reverse = outs(lambda results, case: results[::-1])
transpose = out(lambda result, case: result.mT)
negate = out(lambda result, case: -result)
denied = out(lambda result, case: ~result.astype(bool))
halve = out(lambda result, case: result / 2)


# Changes of the source: each takes the syntax tree of an attempt and returns another.


def rewritten(transformer):
    def follow(attempt, names):
        tree = ast.parse(textwrap.dedent(inspect.getsource(attempt)))
        as_it_was = ast.dump(tree)
        tree = ast.fix_missing_locations(transformer().visit(tree))
        if ast.dump(tree) == as_it_was:
            raise KeyError("nothing in the source is what the advice is about")
        scope = dict(inspect.unwrap(attempt).__globals__)
        exec(compile(tree, "<advice>", "exec"), scope)  # noqa: S102 - code of the tests
        return scope[attempt.__name__]

    return follow


REDUCING = ("sum", "max", "min", "mean", "var", "std", "norm")


class KeepDims(ast.NodeTransformer):
    """Add `keepdims=True` to every reduction along an axis."""

    def visit_Call(self, node):
        self.generic_visit(node)
        named = getattr(node.func, "attr", getattr(node.func, "id", ""))
        method = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") != "np"
        axis = len(node.args) > (0 if method else 1) or any(k.arg == "axis" for k in node.keywords)
        if named in REDUCING and axis and not any(k.arg == "keepdims" for k in node.keywords):
            node.keywords.append(ast.keyword("keepdims", ast.Constant(True)))
        return node


class LastTwo(ast.NodeTransformer):
    """Replace `.T` by `.mT`."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = "mT" if node.attr == "T" else node.attr
        return node


class Largest(ast.NodeTransformer):
    """Replace `mean` and `min` by `max`."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        node.attr = "max" if node.attr in ("mean", "min") else node.attr
        return node


keep = rewritten(KeepDims)
largest = rewritten(Largest)
last_two = rewritten(LastTwo)


def along_the_last(attempt, names):
    """Apply an attempt that works down the columns along the rows."""
    return lambda scores: np.moveaxis(attempt(np.moveaxis(scores, -1, 0)), 0, -1)


def root(array):
    return np.sqrt(array.shape[-1])


def peaks(scores):
    largest = scores.max(axis=-1, keepdims=True)
    return np.where(np.isneginf(largest), 0, largest)


# How to follow the hint of each known mistake, by exercise and id.
KNOWN = {
    "*.mask_inverted": (opposite("mask"), opposite("memory_mask")),
    "*.mask_backwards": opposite("mask"),
    "*.outputs_swapped": reverse,
    "*.answers_exchanged": reverse,
    "teacher_forcing.swapped": reverse,
    "rating_gradients.swapped": reverse,
    "rating_gradients.inverted": opposite("known"),
    "rating_gradients.sign": outs(lambda results, case: [-r for r in results]),
    "rating_gradients.factor_two": outs(lambda results, case: [r / 2 for r in results]),
    "rating_gradients.half": outs(lambda results, case: [2 * r for r in results]),
    "softmax.columns": along_the_last,
    "softmax.overflow": put(scores=lambda scores: scores - peaks(scores)),
    "softmax.global_maximum": put(scores=lambda scores: scores - peaks(scores)),
    "softmax.mean_subtracted": largest,
    "softmax.clipped": put(scores=lambda scores: scores - peaks(scores)),
    "softmax.sign_flipped": put(scores=lambda scores: -scores),
    "softmax.scaled": put(scores=lambda scores: scores * root(scores)),
    "softmax.empty_row": out(lambda w, case: np.where(case["scores"] == -np.inf, 0, w)),
    "softmax.finite_infinity": out(lambda w, case: np.where(case["scores"] == -np.inf, 0, w)),
    "softmax.log_softmax": out(lambda w, case: np.nan_to_num(np.exp(w))),
    "softmax.keepdims_forgotten": keep,
    "layer_norm.keepdims_missing": keep,
    "scaled_dot_product_attention.unscaled": put(query=lambda query, **_: query / root(query)),
    "scaled_dot_product_attention.scaled_by_d_k": put(query=lambda query, **_: query * root(query)),
    "scaled_dot_product_attention.multiplied_by_root": put(
        query=lambda query, **_: query / query.shape[-1]
    ),
    "scaled_dot_product_attention.query_key_swapped": exchange("query", "key"),
    "scaled_dot_product_attention.key_value_swapped": exchange("key", "value"),
    "scaled_dot_product_attention.unbatched_only": last_two,
    "scaled_dot_product_attention.empty_row": outs(
        lambda results, case: [
            np.nan_to_num(np.where(_nothing(case, results[1]), 0, result)) for result in results
        ]
    ),
    "scaled_dot_product_attention.finite_fill": outs(
        lambda results, case: (
            [
                np.where(case["mask"], results[1], 0) @ case["value"],
                np.where(case["mask"], results[1], 0),
            ]
            if "mask" in case
            else results
        )
    ),
    "self_attention.unscaled": put(w_q=lambda w_q, **_: w_q / root(w_q)),
    "self_attention.scaled_twice": put(w_q=lambda w_q, **_: w_q * root(w_q)),
    "self_attention.scaled_by_d_model": put(w_q=lambda x, w_q, **_: w_q * root(x) / root(w_q)),
    "self_attention.projections_swapped": exchange("w_q", "w_k"),
    "self_attention.key_value_swapped": exchange("w_k", "w_v"),
    "self_attention.matrices_transposed": put(
        w_q=lambda w_q, **_: w_q.T, w_k=lambda w_k, **_: w_k.T, w_v=lambda w_v, **_: w_v.T
    ),
    "self_attention.residual_added": outs(
        lambda results, case: [results[0] - case["x"], results[1]]
    ),
    "multi_head_attention.no_root": put(
        w_q=lambda w_q, n_heads, **_: w_q / np.sqrt(w_q.shape[1] // n_heads)
    ),
    "multi_head_attention.root_of_d_model": put(
        w_q=lambda w_q, n_heads, **_: w_q * np.sqrt(n_heads)
    ),
    "multi_head_attention.query_key_exchanged": exchange("w_q", "w_k"),
    "multi_head_attention.key_value_swapped": exchange("w_k", "w_v"),
    "multi_head_attention.output_projection_transposed": put(w_o=lambda w_o, **_: w_o.T),
    "multi_head_attention.input_added": outs(
        lambda results, case: [results[0] - case["x"], results[1]]
    ),
    "multi_head_attention.no_output_projection": outs(
        lambda results, case: [results[0] @ case["w_o"], results[1]]
    ),
    "cross_attention.unscaled": put(w_q=lambda w_q, **_: w_q / root(w_q)),
    "cross_attention.projections_swapped": exchange("w_q", "w_k"),
    "cross_attention.key_value_swapped": exchange("w_k", "w_v"),
    "cross_attention.roles_swapped": exchange("x", "memory"),
    "encoder_layer.unscaled": put(w_q=lambda w_q, **_: w_q / root(w_q)),
    "encoder_layer.query_key_swapped": exchange("w_q", "w_k"),
    "encoder_layer.key_value_swapped": exchange("w_k", "w_v"),
    "attention_pooling.scaled": put(query=lambda query, **_: query * root(query)),
    "attention_pooling.least_similar": put(query=lambda query, **_: -query),
    "attention_pooling.divided_by_n": outs(
        lambda results, case: [results[0] * results[1].shape[-1], results[1]]
    ),
    "layer_norm.gain_and_bias_exchanged": exchange("gain", "bias"),
    "layer_norm.gain_and_bias_dropped": out(lambda z, case: case["gain"] * z + case["bias"]),
    "layer_norm.bias_dropped": out(lambda z, case: z + case["bias"]),
    "layer_norm.gain_dropped": out(
        lambda z, case: case["gain"] * (z - case["bias"]) + case["bias"]
    ),
    "feed_forward.biases_exchanged": exchange("b_1", "b_2"),
    "feed_forward.biases_subtracted": put(b_1=lambda b_1, **_: -b_1, b_2=lambda b_2, **_: -b_2),
    "feed_forward.second_bias_dropped": out(lambda y, case: y + case["b_2"]),
    "feed_forward.residual_added": out(lambda y, case: y - case["x"]),
    "feed_forward.matrices_transposed": put(w_1=lambda w_1, **_: w_1.T, w_2=lambda w_2, **_: w_2.T),
    "causal_mask.marked_as_forbidden": denied,
    "*.numbers_for_the_scores": out(lambda mask, case: mask == 0),
    "*.numbers_for_the_keys": (
        out(lambda mask, case: mask == 0),
        out(lambda mask, case: (mask == 0)[:, None]),
    ),
    "padding_mask.real_as_false": denied,
    "padding_mask.without_the_axis": out(lambda mask, case: mask[:, None, :]),
    "padding_mask.axis_of_the_heads_too": out(lambda mask, case: mask[:, 0]),
    "padding_mask.axis_in_front": out(lambda mask, case: np.moveaxis(mask, 0, 1)),
    "padding_mask.repeated_for_every_query": out(lambda mask, case: mask[:, :1]),
    "padding_mask.one_pad_too_many": put(lengths=lambda lengths, **_: lengths - 1),
    "padding_mask.one_token_too_few": put(lengths=lambda lengths, **_: lengths + 1),
    "reachable.what_does_not_arrive": denied,
    "reachable.arrows_reversed": transpose,
    "reachable.numbers_of_paths": out(lambda mask, case: mask != 0),
    "reachable.one_layer_too_many": put(n_layers=lambda n_layers, **_: n_layers - 1),
    "reachable.one_layer_too_few": put(n_layers=lambda n_layers, **_: n_layers + 1),
    "path_lengths.transposed": transpose,
    "cosine_similarity.cosine_distance": out(lambda result, case: 1 - result),
    "cosine_similarity.swapped": transpose,
    "cosine_similarity.zero_to_one": out(lambda result, case: 2 * result - 1),
    "cosine_similarity.angle": out(lambda result, case: np.cos(result)),
    "alibi_bias.reward": negate,
    "alibi_bias.heads_last": out(lambda bias, case: np.moveaxis(bias, -1, 0)),
    "alibi_bias.keys_by_queries": transpose,
    "sinusoidal_positions.transposed": transpose,
    "rotate.backwards": put(positions=lambda positions, **_: -positions),
    "rotate.one_too_far": put(positions=lambda positions, **_: positions - 1),
    "smoothed_cross_entropy.sign": negate,
    "smoothed_cross_entropy.bits": out(lambda loss, case: loss * np.log(2)),
    "contrastive_loss.sign": negate,
    "contrastive_loss.bits": out(lambda loss, case: loss * np.log(2)),
    "contrastive_loss.not_halved": halve,
    "contrastive_loss.temperature_multiplied": put(
        temperature=lambda temperature, **_: 1 / temperature
    ),
    "contrastive_loss.temperature_rooted": put(temperature=lambda temperature, **_: temperature**2),
    "adam_step.counted_from_zero": put(t=lambda t, **_: t + 1),
    "adam_step.counted_from_two": put(t=lambda t, **_: t - 1),
    "warmup_schedule.counted_from_zero": put(t=lambda t, **_: t + 1),
    "warmup_schedule.one_step_ahead": put(t=lambda t, **_: t - 1),
    "warmup_schedule.width_and_warmup_exchanged": exchange("d_model", "warmup"),
    "top_p_filter.not_renormalised": out(lambda p, case: p / p.sum(axis=-1, keepdims=True)),
    "top_p_filter.complement_of_p": put(p=lambda p, **_: 1 - p),
    "bleu.sides_exchanged": exchange("candidate", "reference"),
    "alignment_error.accuracy": out(lambda rate, case: 1 - rate),
    "best_span.reversed_pair": out(lambda span, case: span[::-1]),
    "best_span.one_too_many": put(max_words=lambda max_words, **_: max_words - 1),
    "best_span.one_too_few": put(max_words=lambda max_words, **_: max_words + 1),
    "question_match.inverted": out(lambda marks, case: ~marks & (case["context"] != 0)),
    "swiglu.gate_exchanged": exchange("w_1", "w_3"),
    "swiglu.residual_added": out(lambda y, case: y - case["x"]),
    "normed_scores.unscaled": put(query_gain=lambda query_gain, **_: query_gain / root(query_gain)),
    "normed_scores.scaled_by_d_k": put(
        query_gain=lambda query_gain, **_: query_gain * root(query_gain)
    ),
    "normed_scores.keys_by_queries": transpose,
    "logit_lens.from_zero": out(lambda rank, case: rank + 1),
    "patch_effect.sign": negate,
}


def _nothing(case, weights):
    """Return which queries may attend to no key, with an axis of length 1 for the keys."""
    return ~np.broadcast_to(case.get("mask", True), weights.shape).any(axis=-1, keepdims=True)


# Sentences that `check` may say of any attempt, as patterns; their groups go to the function.
def _cast(kind):
    def advise(name, outputs, *_):
        def follow(results):
            return [
                r.astype(kind) if o == name else r for o, r in zip(outputs, results, strict=True)
            ]

        return follow

    return advise


def _of(change):
    """Return advice that changes each output that the sentence names."""

    def advise(names, outputs, *groups):
        named = re.findall(r"\w+", names.replace(" and ", " "))

        def follow(results):
            return [
                change(r, *groups) if o in named else r
                for o, r in zip(outputs, results, strict=True)
            ]

        return follow

    return advise


def _as(array, number):
    return array.dtype.type(float(number))


_NAMES = r"(`\w+`(?: and `\w+`)*)"
SAID = {
    r"`(\w+)` has dtype `\w+`; it should be `bool`.*`\.astype\(bool\)`\.(?! would)": _cast(bool),
    r"`(\w+)` has dtype `\w+`; it should be `\w+`.*`\.astype\(int\)`": _cast(int),
    r"Return the comparison, as in `(\w+) == (\S+)`": _of(
        lambda r, number: r == float(number.replace("np.", ""))
    ),
    rf"The numbers of {_NAMES} are the right ones with the opposite sign": _of(lambda r: -r),
    rf"All the numbers of {_NAMES} are (\S+) times the right ones": _of(
        lambda r, by: r / float(by)
    ),
    rf"All the numbers of {_NAMES} are (\S+) too large": _of(lambda r, by: r - _as(r, by)),
    rf"All the numbers of {_NAMES} are (\S+) too small": _of(lambda r, by: r + _as(r, by)),
    rf"{_NAMES} is exactly the opposite": _of(lambda r: ~r),
    rf"You return the logarithm of what is asked for in {_NAMES}": _of(np.exp),
    rf"You return the exponential of what is asked for in {_NAMES}": _of(np.log),
    rf"The numbers of {_NAMES} are the squares of the right ones": _of(np.sqrt),
    rf"The numbers of {_NAMES} are the roots of the right ones": _of(np.square),
    rf"The numbers of {_NAMES} are 1 minus the right ones": _of(lambda r: 1 - r),
    rf"The numbers of {_NAMES} are the inverses of the right ones": _of(lambda r: 1 / r),
    rf"{_NAMES} is the right matrix transposed": _of(lambda r: r.mT),
    r"Each row of `(\w+)` has the right proportions.*Divide each row by its own sum": _of(
        lambda r: r / r.sum(axis=-1, keepdims=True)
    ),
    r"The values are right, but `(\w+)` is a Python list": _of(np.array),
    r"The rows of `(\w+)` fall short of summing to 1": _of(
        lambda r: r / np.where(r.any(-1, keepdims=True), r.sum(axis=-1, keepdims=True), 1)
    ),
}


def follow_what_is_said(message, record):
    """Return how to follow a general sentence, or None if it cannot be followed."""
    if found := re.search(r"You give what comes of exchanging `(\w+)` and `(\w+)`", message):
        return exchange(*found.groups())
    if found := re.search(r"comes of taking True for False in `(\w+)`", message):
        return opposite(found[1])
    if re.search("`keepdims=True` is missing: a `max`", message):
        return keep
    for pattern, advise in SAID.items():
        if found := re.search(pattern, message, re.DOTALL):
            change = advise(found[1], record.outputs, *found.groups()[1:])

            def follow(attempt, names, change=change):
                def changed(*arguments):
                    results = attempt(*arguments)
                    several = len(record.outputs) > 1
                    parts = change([np.asarray(p) for p in (results if several else (results,))])
                    return tuple(parts) if several else parts[0]

                return changed

            return follow
    return None


CHAPTERS = sorted(path.stem for path in (Path(__file__).parent / "attempts").glob("ch*.py"))
WRITTEN = {
    name: found
    for module in (importlib.import_module(f"tests.attempts.{chapter}") for chapter in CHAPTERS)
    for name, found in vars(module).items()
    if isinstance(found, type) and found.__module__ == module.__name__
}


def attempts_at(exercise_id):
    """Yield the attempts at an exercise: those of students, and its known mistakes."""
    yield from attempts_of(WRITTEN.get(exercise_id, object))
    for known in load(exercise_id).misconceptions:
        yield from ((f"{known.id}, function {i}", f) for i, f in enumerate(known.functions))


@functools.cache
def judged(exercise_id):
    """Return each attempt at an exercise with the English result of `check`, by name."""
    record = record_of_chapter(exercise_id)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: (f, verdict(record, f)) for name, f in attempts_at(exercise_id)}


def followable(exercise_id):
    """Yield (name, attempt, result, change, count) of each attempt whose advice can be followed."""
    record = record_of_chapter(exercise_id)
    followed = {}
    for name, (attempt, result) in judged(exercise_id).items():
        if result.status != "failed" or "Your function modifies" in result.message:
            continue
        key = f"{exercise_id}.{result.misconception}"
        known = [does for pattern, does in KNOWN.items() if fnmatch.fnmatch(key, pattern)]
        does = known[0] if result.misconception and known else None
        if not result.misconception:
            does = follow_what_is_said(result.message, record)
        if does:
            followed[key] = followed.get(key, 0) + 1
            yield name, attempt, result, does, followed[key]


def wrong_numbers(record, attempt):
    """Return how many numbers an attempt gets wrong on all inputs: all of them where it raises."""
    count = 0
    for case, right in zip(record.cases, record.expected, strict=True):
        answer = run(attempt, case, record)
        alike = answer.values and len(answer.values) == len(right.values)
        for k, wanted in enumerate(right.values):
            got = answer.values[k] if alike else None
            if got is None or got.shape != wanted.shape or not same_kind(got, wanted):
                count += wanted.size
            else:
                count += int((~close(got, wanted)).sum())
    return count


def gets_further(record, attempt, changed):
    """Return whether an attempt that follows advice passes, or gets fewer numbers wrong."""
    # Numbers come first, because `verdict` explains a failure, which costs fifty comparisons.
    fewer = wrong_numbers(record, changed) < wrong_numbers(record, attempt)
    return fewer or bool(verdict(record, changed))


def who_gets_no_further(exercise_id, places):
    """Return the attempts that their advice does not help, among those with these counts."""
    record = record_of_chapter(exercise_id)
    names = list(max(record.cases, key=len))
    stuck = []
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, attempt, told, does, place in followable(exercise_id):
            if place not in places:
                continue
            ways = does if isinstance(does, tuple) else (does,)
            try:
                changed = [way(attempt, names) for way in ways]
            except (OSError, SyntaxError, KeyError, IndentationError):
                continue  # a lambda in a table has no source of its own
            if not any(gets_further(record, attempt, each) for each in changed):
                stuck.append(f"{name}: {told.misconception}: {told.message[:300]}")
    return stuck


def test_each_way_to_follow_a_hint_is_that_of_a_known_mistake():
    keys = [f"{x}.{known.id}" for x in modules() for known in load(x).misconceptions]
    assert [pattern for pattern in KNOWN if not fnmatch.filter(keys, pattern)] == []


@pytest.fixture(autouse=True)
def english(fresh_settings):
    """The patterns match the English sentences."""
    attn_course.set_language("en")


@pytest.mark.parametrize("exercise_id", modules())
def test_following_the_advice_makes_fewer_numbers_wrong(exercise_id):
    assert who_gets_no_further(exercise_id, range(1, N_FIRST + 1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("exercise_id", modules())
def test_following_the_advice_of_all_other_attempts_makes_fewer_numbers_wrong(exercise_id):
    assert who_gets_no_further(exercise_id, range(N_FIRST + 1, 10**6)) == []


# Which mistakes are named, and which are not.

# The messages of `check` for an unknown mistake: the fact alone, and the input that shows it.
BARE = re.compile(
    r"Not yet\. (?:"
    r"The values of [^.]* are not the expected ones\."
    r"|`[^`]*` has shape `[^`]*`; it should be `[^`]*`\."
    r"|There is NaN in `[^`]*`\."
    r"|Your function returns `[^`]*`; it should return (?:an array|the tuple),? `[^`]*`\."
    r"|Your function raises `[^`]*`(?: at `[^`]*`)?\."
    r") It fails on "
)

# Mistakes that these attempts do not make, although they give the same numbers as the mistake, or
# fail on the same inputs: `check` once told these students something false.
FALSE = {
    "scaled_dot_product_attention.infinity_times_zero": "mean_subtracted",
    "scaled_dot_product_attention.minus_the_mask": "infinity_times_zero",
    "question_match.overwritten_in_the_loop": "all",
}

TWO = "makes two mistakes at once, each of which is named alone"
ODD = (
    "no idea of the subject is behind it, and nothing could be taught that the numbers do not show"
)
# What `check` once said of attempts, and is not true: a second mistake that was not made, a change that
# makes the mistake of which the hint then speaks.
UNTRUE = {
    "scaled_dot_product_attention.zero_scores_and_no_empty_rows": "NaN",
    "softmax.maximum_of_each_column": "down the columns",
    "alignment_error.unions": "a single intersection",
    "group_advantages.not_centred_and_a_number_below": "parts of their sum",
}
UNNAMED = {
    "embed.skips_unknown": TWO,
    "embed.skips_padding": TWO,
    "split_heads.head_means": ODD,
    "sinusoidal_positions.only_half_the_columns": "the shape says it: half the columns",
    "teacher_forcing.inserted_in_rows": "the shape says it: a row more in place of a column",
    "warmup_schedule.product_of_both": ODD,
    "warmup_schedule.cosine": "another schedule altogether",
    "beam_step.tokens_in_each_row_of_the_best": ODD,
    "bleu.nan_for_zero": ODD,
    "alignment_error.rows_only": "another measure altogether",
    "question_match.sets_of_rows": "the shape says it, and depends on the words",
    "normed_scores.gains_exchanged_with_a_mean": ODD,
    "group_advantages.not_centred_and_a_number_below": TWO,
    "accept.if_of_an_array": "the kind of what it returns says it: None in place of the rest",
    "gated_attention.relu": "another nonlinearity; the statement names the sigmoid",
    "patch_effect.first_pair": ODD,
    "patch_effect.regression": "another measure altogether",
}


@pytest.mark.parametrize("exercise_id", WRITTEN)
def test_wrong_answers_are_refused_and_named(exercise_id):
    names = [name for name, _ in attempts_of(WRITTEN[exercise_id])]
    assert len(names) == len(set(names))
    results = {n: told for n, (_, told) in judged(exercise_id).items() if ", function " not in n}
    right = {name for name in results if name.startswith("right")}
    assert {name for name, result in results.items() if result.status == "passed"} == right
    assert len(right) >= 2 and len(results) - len(right) >= 15
    wrong = {f"{exercise_id}.{name}": results[name] for name in results.keys() - right}
    unnamed = {name for name, result in wrong.items() if BARE.match(result.message)}
    assert unnamed == {name for name in UNNAMED if name.startswith(f"{exercise_id}.")}
    told = {name: result.misconception for name, result in wrong.items()}
    assert [name for name, false in FALSE.items() if told.get(name) == false] == []
    untrue = {name: part for name, part in UNTRUE.items() if name in wrong}
    assert [name for name, part in untrue.items() if part in wrong[name].message] == []
