"""The stored results of chapter 12: the code that measures them, and a small part of each again.

The pieces are those of `attn_course`: LoRA, speculative decoding, a window with sinks, the task.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch

from attn.decoding import greedy
from attn.positions import rotary
from attn.transformer import DecoderOnly, TransformerConfig
from attn_course import tasks
from attn_course.low_rank import LowRank, adapt, merge
from attn_course.speculative import Probabilities, drawn, speculative
from attn_course.streaming import SinkWindow
from experiments import (
    modern,
    modern_changes,
    modern_context,
    modern_few_shot,
    modern_lora,
    modern_needle,
    modern_sinks,
    modern_speculative,
    modern_speed,
    modern_tasks,
)
from experiments import modern_training as training
from tests.core.other_device import DEVICE, OtherDevice

STORED = modern.stored()


def tiny(seed, vocab_size=3, n_layers=1, **choices):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "n_heads": 2, "d_ff": 16, "dropout": 0.0, "positions": "rotary"}
    config = TransformerConfig(vocab_size=vocab_size, n_layers=n_layers, **sizes | choices)
    return DecoderOnly(config).double().eval()


# LoRA.


def test_lora_changes_no_logits_at_first_and_trains_only_its_matrices():
    model, ids = tiny(0, n_layers=2), torch.tensor([[0, 1, 2, 1]])
    before, weights = model(ids)[0], {n: p.clone() for n, p in model.named_parameters()}
    learns = adapt(model, rank=2, alpha=4.0)
    for parameter in learns:
        parameter.data = parameter.data.double()
    torch.testing.assert_close(model(ids)[0], before)
    # Each of the two layers has two matrices of 2 by 8 for queries and two for values.
    assert sum(p.numel() for p in learns) == 2 * 2 * 2 * 16
    optimizer = torch.optim.SGD(learns, lr=1.0)
    for _ in range(2):  # in the first step only the matrix that starts at 0 moves
        optimizer.zero_grad()
        model(ids)[0].square().sum().backward()
        optimizer.step()
    after = model(ids)[0]
    assert not torch.allclose(after, before, atol=1e-3)
    kept = {
        n.replace("linear.", ""): p
        for n, p in model.named_parameters()
        if not n.endswith((".up", ".down"))
    }
    assert set(kept) == set(weights)
    assert all(torch.equal(kept[name], weights[name]) for name in weights)
    merge(model)
    assert not any(isinstance(module, LowRank) for module in model.modules())
    assert [n for n, _ in model.named_parameters()] == list(weights)
    torch.testing.assert_close(model(ids)[0], after)


def test_the_product_of_lora_is_multiplied_by_its_scale():
    layer = LowRank(torch.nn.Linear(3, 2, bias=False), rank=2, alpha=0.5)
    layer.linear.weight.zero_()
    layer.down.data = torch.tensor([[1.0, 2, 3], [0, 0, 2]])
    layer.up.data = torch.tensor([[1.0, 0], [-1, 1]])
    # The first matrix gives 6 and 2, and the second 6 and -4; the scale is a quarter.
    assert layer(torch.ones(3)).tolist() == [1.5, -1.0]


def test_merging_a_layer_does_not_change_shared_weights():
    config = TransformerConfig(vocab_size=7, d_model=8, n_heads=2, n_layers=1, norm="pre")
    model, ids = DecoderOnly(config).double().eval(), torch.tensor([[3, 1, 4]])
    assert model.output.weight is model.embedding.tokens.weight
    adapt(model, rank=2, names=("q_proj", "output"))
    layers = [module for module in model.modules() if isinstance(module, LowRank)]
    for layer in layers:
        torch.nn.init.normal_(layer.up)
    before = model(ids)[0]
    for layer in layers:
        layer.merged()
    torch.testing.assert_close(model(ids)[0], before)
    merge(model)
    torch.testing.assert_close(model(ids)[0], before)


def test_missing_layers_cannot_be_adapted():
    with pytest.raises(ValueError, match="^names: expected those of linear layers of the model"):
        adapt(tiny(0), rank=2, names=("query",))


# Speculative decoding.


class Choices:
    """Make the choices of a list; after its end, choose the first token of nonzero probability."""

    def __init__(self, made):
        self.made, self.taken, self.probability, self.others = list(made), 0, 1.0, []

    def __call__(self, probabilities):
        if self.taken == len(self.made):
            first, *others = probabilities.nonzero().flatten().tolist()
            self.others += [[*self.made, other] for other in others]
            self.made.append(first)
        choice = self.made[self.taken]
        self.taken += 1
        self.probability *= float(probabilities[choice])
        return choice


def outcomes(write):
    """Return every outcome of a function that makes random choices, with its probability."""
    found, paths = Counter(), [[]]
    while paths:
        choices = Choices(paths.pop())
        found[write(choices)] += choices.probability
        paths += choices.others
    return found


@pytest.mark.parametrize("ahead", [1, 2, 3])
def test_speculative_decoding_keeps_the_targets_distribution(ahead):
    target, draft, prompt, n = tiny(0, n_layers=2), tiny(1), torch.tensor([1, 2]), 3

    def write(choose):
        readers = Probabilities(target, temperature=0.7), Probabilities(draft)
        written = speculative(*readers, prompt, ahead=ahead, max_new_tokens=n, choose=choose)
        return tuple(written.ids.tolist())

    found = outcomes(write)
    with torch.no_grad():
        for new in itertools.product(range(3), repeat=n):
            ids = torch.tensor([*prompt, *new])
            each = (target(ids[None])[0][0] / 0.7).softmax(dim=-1)
            wanted = math.prod(float(each[len(prompt) - 1 + i, new[i]]) for i in range(n))
            assert found[tuple(ids.tolist())] == pytest.approx(wanted, abs=1e-12)
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("ahead", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_at_temperature_0_speculative_decoding_is_greedy(ahead, seed):
    target, draft = tiny(seed, 20, 2), tiny(seed + 10, 20)
    # The draft is often right, since otherwise nothing would be accepted.
    for ours, theirs in zip(draft.parameters(), target.parameters(), strict=False):
        if ours.shape == theirs.shape:
            ours.data = theirs.data.clone()
    prompt = torch.tensor([3, 1, 4])
    written = speculative(
        Probabilities(target, 0),
        Probabilities(draft, 0),
        prompt,
        ahead=ahead,
        max_new_tokens=30,
        choose=lambda probabilities: int(probabilities.argmax()),
    )
    alone = greedy(target.step, prompt[None], end_id=None, max_new_tokens=30)
    assert written.ids.tolist() == alone[0].tolist()
    # Each pass of the target writes the accepted tokens and one token of its own.
    assert written.n_accepted + written.n_passes == 30


def test_models_may_be_on_another_device_than_the_random_numbers():
    prompt, generator = torch.tensor([3, 1]), torch.Generator()
    options = {"ahead": 2, "max_new_tokens": 4, "choose": drawn(generator.manual_seed(0))}
    models = [tiny(seed, 20).float() for seed in (0, 1)]
    expected = speculative(*map(Probabilities, models), prompt, **options)
    generator.manual_seed(0)
    with OtherDevice():
        readers = [Probabilities(model.to(DEVICE)) for model in models]
        found = speculative(*readers, prompt.to(DEVICE), **options)
        assert found.ids.device == DEVICE and found.ids.tolist() == expected.ids.tolist()


def test_a_draft_that_is_the_target_is_always_accepted():
    model = tiny(0, 20, 2)
    generator = torch.Generator().manual_seed(0)
    written = speculative(
        Probabilities(model),
        Probabilities(model),
        torch.tensor([3]),
        ahead=4,
        max_new_tokens=25,
        choose=lambda p: int(torch.multinomial(p, 1, generator=generator)),
    )
    assert written.n_passes == 5 and written.n_accepted == written.n_proposed == 20


def test_the_cache_drops_rejected_tokens_and_reads_none_twice():
    model = tiny(0, 20, 2)
    reader = Probabilities(model)
    reader(torch.tensor([3, 1, 4, 1]), 1)
    again = reader(torch.tensor([3, 1, 5, 9, 2]), 2)
    assert reader.n_calls == 2 and reader.n_read == 4 + 3
    with torch.no_grad():
        whole = model(torch.tensor([[3, 1, 5, 9, 2]]))[0][0, -2:].softmax(dim=-1)
    torch.testing.assert_close(again, whole)
    # Ids that the caller overwrites later are read again.
    ids = torch.tensor([3, 1, 5])
    reader(ids, 1)
    ids[1] = 2
    torch.testing.assert_close(reader(ids, 1), Probabilities(model)(ids, 1))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"ahead": 0}, "ahead: expected at least 1, got 0"),
        ({"max_new_tokens": 0}, "max_new_tokens: expected at least 1, got 0"),
        ({"prompt": torch.zeros(0, dtype=torch.int64)}, "prompt: expected shape"),
    ],
)
def test_speculative_decoding_refuses_invalid_arguments(change, message):
    reader = Probabilities(tiny(0))
    given = {"prompt": torch.tensor([1]), "ahead": 1, "max_new_tokens": 1, "choose": int} | change
    with pytest.raises(ValueError, match=f"^{message}"):
        speculative(reader, reader, **given)


# A window with sinks.


@pytest.mark.parametrize("window, n_sinks", [(3, 0), (3, 1), (2, 2), (20, 1)])
def test_a_window_with_sinks_equals_a_cache_of_that_size(window, n_sinks):
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 2, 9, 4, dtype=torch.float64)
    places = torch.arange(9)
    found, _ = SinkWindow(window, n_sinks)(
        rotary(query, places), rotary(key, places), value, is_causal=True
    )
    for place in range(9):
        # The positions that the cache keeps, counted within the cache; the query attends from its
        # end.
        kept = [i for i in range(place + 1) if i < n_sinks or i > place - window]
        inside = torch.arange(len(kept))
        keys = rotary(key[:, kept], inside)
        one = rotary(query[:, [place]], inside[-1:])
        weights = (one @ keys.mT / 2).softmax(dim=-1)
        torch.testing.assert_close(found[:, [place]], weights @ value[:, kept])


# The task.


def test_training_and_test_opinions_differ_and_labels_are_balanced():
    for language in tasks.LANGUAGES:
        parts = [tasks.opinions(part, language) for part in ("to_learn_from", "to_be_asked")]
        texts = [opinion.text for part in parts for opinion in part]
        assert len(set(texts)) == len(texts) == 100
        for part in parts:
            assert set(Counter(o.label for o in part).values()) == {len(part) // 2}


def test_drawn_examples_are_balanced_and_not_in_the_test():
    asked = set(tasks.opinions("to_be_asked", "en"))
    for n, draw in itertools.product((2, 4, 8), range(3)):
        examples = modern_few_shot.drawn(n, draw, "en")
        assert Counter(o.label for o in examples) == dict.fromkeys(tasks.LABELS, n // 2)
        assert not asked & set(examples)
        exchanged = modern_few_shot.drawn(n, draw, "en", exchanged=True)
        assert all(
            a.text == b.text and a.label != b.label
            for a, b in zip(examples, exchanged, strict=True)
        )


# What is stored.


def test_the_stored_results_are_complete():
    assert list(STORED) == list(modern.QUESTIONS)
    changes = {row["id"]: row for row in STORED["changes"]["rows"]}
    assert list(changes) == list(modern_changes.configs())
    assert all(len(row["seeds"]) == len(modern_changes.SEEDS) for row in changes.values())
    assert changes["paper"]["cpu_share"] == 1.0
    controls = {row["id"]: len(row["seeds"]) for row in STORED["changes"]["controls"]}
    assert controls == dict.fromkeys(modern_changes.CONTROLS, len(modern_changes.SEEDS))
    context = STORED["context"]
    n_buckets = len(modern_context.EDGES) - 1
    for row in context["rows"]:
        assert np.shape(row["seeds"]) == (len(modern_context.SEEDS), n_buckets)
    assert [row["sinks"] for row in STORED["sinks"]["perplexity"]] == ["all", 0, 1, 4]
    rows = [
        (r["language"], r["examples"], r["exchanged"], r["draw"])
        for r in STORED["few_shot"]["rows"]
    ]
    assert rows == list(modern_few_shot.queue())
    assert list(STORED["lora"]["tasks"]) == list(modern_lora.TASKS)
    for form, (_, _, seeds) in modern_lora.TASKS.items():
        assert [row["seed"] for row in STORED["lora"]["tasks"][form]["seeds"]] == list(seeds)
    speculated = STORED["speculative"]
    assert [row["layers"] for row in speculated["smollm2"]] == list(modern_speculative.KEPT_LAYERS)
    greedily = [
        r
        for r in (*speculated["trained_here"]["rows"], *speculated["smollm2"])
        if r["temperature"] == 0
    ]
    assert all(row["same_as_greedy"] for row in greedily)


def test_each_step_of_the_ladder_changes_one_setting_and_the_last_is_a_llama():
    configs = list(modern_changes.configs().values())
    swiglu = {"activation", "d_ff"}  # with the inner size that keeps the number of parameters
    for before, after in itertools.pairwise(configs):
        changed = {name for name in vars(before) if getattr(before, name) != getattr(after, name)}
        assert len(changed) == 1 or changed == swiglu
    llama = configs[-1]
    assert (llama.norm, llama.normalization, llama.activation, llama.bias) == (
        "pre",
        "rms",
        "swiglu",
        False,
    )
    assert (llama.positions, llama.tie_embeddings, llama.scale_embeddings) == ("rotary", True, True)
    rows = {row["id"]: row for row in STORED["changes"]["rows"]}
    assert rows["swiglu"]["parameters"] == rows["no_biases"]["parameters"]
    described = {
        name: modern_changes.described(name, config)
        for name, config in modern_changes.configs().items()
    }
    assert all(rows[name].items() >= said.items() for name, said in described.items())


# A part of each measurement is done again.


@pytest.fixture(scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.mark.slow
def test_the_first_losses_of_the_ladder_are_as_stored(needed, one_thread):
    needed("tatoeba")
    _, text, _ = training.sentences()
    rows = {row["id"]: row for row in STORED["changes"]["rows"]}
    for name, seed in (("paper", 0), ("tied", 1)):
        config, rate = modern_changes.configs()[name], rows[name]["learning_rate"]
        run = training.begun(config, rate, modern_changes.STEPS, seed)
        training.go(run, training.Windows(text, modern_changes.LENGTH, seed), training.N_FIRST)
        np.testing.assert_allclose(run.history.losses, rows[name]["first_losses"][seed], atol=0.002)


@pytest.mark.slow
def test_the_first_losses_on_the_prose_are_as_stored(one_thread):
    text, asked, digest = modern_context.material()
    run, batches = modern_context.begun(text, 0)
    model = training.go(run, batches, training.N_FIRST)
    stored = STORED["context"]["first_losses"][0]
    if digest == STORED["context"]["setting"]["digest"]:
        np.testing.assert_allclose(run.history.losses, stored, atol=0.002)
    # If the prose was edited, each batch holds other words, and their mean loss differs a little.
    assert np.mean(run.history.losses) == pytest.approx(np.mean(stored), abs=0.15)
    # If no token is beyond the window, all ways agree except those that rotate positions
    # differently.
    ways = dict(itertools.islice(modern_context.ways(model, text, 0), 5))
    first = {
        name: modern_context.perplexities_of(way, asked, (0, 128, 512), 2)[0]
        for name, way in ways.items()
    }
    assert first["as_trained"] == first["window"] == first["window_and_sinks"]


@pytest.mark.slow
def test_retrieval_of_a_number_is_as_stored(smollm2):
    model, tokenizer = smollm2
    rows, ways = STORED["needle"]["rows"], modern_needle.ways(model)
    distances = list(modern_needle.FARTHEST)
    assert STORED["needle"]["setting"]["farthest"] == distances
    some = (0, 4096, 12288)
    for name, row in rows.items():
        found = modern_needle.answered(ways[name], tokenizer, 1, some)
        right = modern_needle.drawn(1)[1][0]
        for (said, loss), last in zip(found, some, strict=True):
            i = distances.index(last)
            assert (said == right) == row["right"][1][i]
            assert loss == pytest.approx(row["loss"][1][i], abs=0.02)
    assert not any(np.any(row["of_another"]) for row in rows.values())
    behind = STORED["needle"]["behind_the_number"]["yarn"]
    found = modern_needle.answered(ways["yarn"], tokenizer, 1, (2048,), jump=1)
    assert next(found)[1] == pytest.approx(behind["loss"][1][0], abs=0.02)
    # Without a gap in the positions, the text can be read at once and without a cache.
    sentences, (number, *_) = modern_needle.drawn(1)
    ids = torch.tensor(tokenizer.encode(" ".join(sentences) + f" {number}"))
    with torch.inference_mode():
        logits = ways["yarn"](ids[None, :-1])[0][0, -modern_needle.N_DIGITS :]
    loss = torch.nn.functional.cross_entropy(logits, ids[-modern_needle.N_DIGITS :])
    assert float(loss) == pytest.approx(rows["yarn"]["loss"][1][0], abs=0.02)


@pytest.mark.slow
def test_the_attention_to_the_first_token_is_as_stored(smollm2):
    setting, stored = STORED["sinks"]["setting"], STORED["sinks"]["shares"]
    # The chapter may have been edited, and a later window then begins at another word. The first
    # window keeps its beginning. Single layers depend on the words, but their mean hardly does.
    assert setting["starts"][0] == 0
    found = modern_sinks.shares(smollm2[0], modern_sinks.text()[: setting["watched"]])
    for name in ("first", "second"):
        np.testing.assert_allclose(found[name], stored[name][0], atol=0.2)
        assert np.mean(found[name]) == pytest.approx(np.mean(stored[name][0]), abs=0.08)
    assert np.mean(found["first"][12:]) > 20 * setting["uniform"]


@pytest.mark.slow
def test_answers_are_as_stored_also_with_the_examples_cached(smollm2):
    row = next(r for r in STORED["few_shot"]["rows"] if r["language"] == "en" and not r["examples"])
    found = modern_tasks.asked(*smollm2, "en")
    for name in ("right", "said_positive"):
        assert abs(found[name] - row[name]) <= 1
    model, tokenizer = smollm2
    examples = modern_few_shot.drawn(2, 0, "en")
    texts = [o.text for o in tasks.opinions("to_be_asked", "en")[:3]]
    first, second = modern_tasks.label_ids(tokenizer, "en")
    with torch.inference_mode():
        for text, found in zip(
            texts, modern_tasks.leanings(model, tokenizer, texts, "en", examples), strict=True
        ):
            ids = torch.tensor([tokenizer.encode(tasks.prompt(examples, text, "en"))])
            logits = model(ids)[0][0, -1]
            assert found == pytest.approx(float(logits[first] - logits[second]), abs=1e-3)


@pytest.mark.slow
def test_the_first_losses_with_lora_are_as_stored(smollm2):
    model, tokenizer = smollm2
    adapted, learns = modern_lora.begun(model, 0)
    losses = modern_lora.train(adapted, learns, tokenizer, "colours", 0, modern_lora.N_FIRST)
    stored = STORED["lora"]["tasks"]["colours"]["seeds"][0]["first_losses"]
    np.testing.assert_allclose(losses, stored, atol=0.01)
    assert sum(p.numel() for p in learns) == STORED["lora"]["setting"]["trained"]


@pytest.mark.slow
def test_the_sizes_stored_with_the_speeds_are_the_models(smollm2):
    told, model = STORED["speed"], smollm2[0]
    assert told["parameters"] == sum(p.numel() for p in model.parameters())
    cache = model.new_cache()
    with torch.inference_mode():
        model(torch.zeros(1, 5, dtype=torch.int64), cache=cache)
    kept = sum(kept.key.nbytes + kept.value.nbytes for kept in cache.self_attention)
    assert kept / 5 == told["cache_bytes_per_token"]
    assert told["prompt_len"] == modern_speed.PROMPT


@pytest.mark.slow
def test_drafts_of_smollm2_without_its_last_layers_are_accepted_as_stored(smollm2):
    model, tokenizer = smollm2
    layers = modern_speculative.KEPT_LAYERS[-1]
    prompt = torch.tensor(tokenizer.encode(modern_speculative.PROMPTS[0]))
    found = modern_speculative.written(
        model,
        modern_speculative.without_last(model, layers),
        [prompt],
        modern_speculative.SMALL_AHEAD,
        modern_speculative.N_SMALL,
        temperature=0,
    )
    assert found["same_as_greedy"]
    assert found["by_prompt"] == STORED["speculative"]["smollm2"][-1]["by_prompt"][:1]
