"""The tools and interventions of chapter 13, and a small part of its stored results again."""

import json
from collections import Counter

import numpy as np
import pytest
import torch

from attn.transformer import DecoderOnly, TransformerConfig
from attn_course import contrasts, interpret
from experiments import interpret as bench
from experiments import (
    interpret_contexts,
    interpret_first_token,
    interpret_lens,
    interpret_looking,
    interpret_patching,
    interpret_probes,
)
from tests.core.other_device import DEVICE, OtherDevice

STORED = json.loads(bench.RESULTS.read_text("utf-8"))


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


@pytest.fixture
def tiny():
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=11,
        d_model=12,
        n_heads=3,
        n_layers=2,
        d_ff=16,
        dropout=0.0,
        norm="pre",
        normalization="rms",
        activation="swiglu",
        bias=False,
        positions="rotary",
        n_kv_heads=1,
    )
    return DecoderOnly(config).double().eval()


CLEAN, CORRUPTED = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1, 7, 3, 4]])


def test_continuing_from_every_layer_gives_the_same_logits(tiny):
    expected = tiny(CLEAN)[0][:, -1]
    x = interpret.streams(tiny, CLEAN)
    assert x.shape == (3, 1, 4, 12)
    for layer in range(3):
        torch.testing.assert_close(interpret.go_on(tiny, x[layer], layer), expected)
    torch.testing.assert_close(interpret.read_off(tiny, x[-1]), tiny(CLEAN)[0])


def test_patches_at_the_entrance_and_at_the_end_have_known_effects(tiny):
    clean, corrupted = (interpret.streams(tiny, ids)[:, 0] for ids in (CLEAN, CORRUPTED))
    found = interpret.patch_streams(tiny, clean, corrupted, lambda logits: logits[:, 5])
    as_clean, as_corrupted = (tiny(ids)[0][0, -1, 5] for ids in (CLEAN, CORRUPTED))
    # A patch at the entrance matters only at the second word, where the texts differ; a patch at
    # the end matters only in the last vector, which is read.
    expected = torch.stack([as_corrupted, as_clean, as_corrupted, as_corrupted])
    torch.testing.assert_close(found[0], expected)
    torch.testing.assert_close(found[-1], torch.stack([*[as_corrupted] * 3, as_clean]))
    # The texts are the same up to the first word, so a patch there changes nothing.
    torch.testing.assert_close(found[:, 0], as_corrupted.expand(3))


def test_a_stream_may_be_on_another_device(tiny):
    model = tiny.float()
    expected = interpret.streams(model, CLEAN)[:, 0]
    patched = interpret.patch_streams(model, expected, expected + 1, lambda logits: logits[:, 5])
    with OtherDevice():
        found = interpret.streams(model.to(DEVICE), CLEAN.to(DEVICE))[:, 0]
        torch.testing.assert_close(found.cpu(), expected)
        found = interpret.patch_streams(model, found, found + 1, lambda logits: logits[:, 5])
        torch.testing.assert_close(found.cpu(), patched)


def test_a_patched_head_adds_its_own_rows_of_the_output_projection(tiny):
    corrupted = interpret.streams(tiny, CORRUPTED)[:, 0]
    heads = [interpret.gathered(tiny, ids)[:, 0] for ids in (CLEAN, CORRUPTED)]
    found = interpret.patch_heads(tiny, corrupted, heads[0], lambda logits: logits[:, 5])
    last, head = tiny.stack.layers[1], 2
    rows = last.self_attention.out_proj.weight[:, 4 * head : 4 * head + 4]
    attended = last.self_attention(last.norm_1(corrupted[1]), is_causal=True)[0][-1]
    attended = attended + rows @ (heads[0][1, -1, head] - heads[1][1, -1, head])
    x = corrupted[1, -1] + attended
    x = x + last.feed_forward(last.norm_2(x))
    torch.testing.assert_close(found[1, head], tiny.output(tiny.stack.norm(x))[5])
    assert not torch.allclose(found[1, head], tiny(CORRUPTED)[0][0, -1, 5])


def test_patching_all_heads_gives_the_clean_logits(tiny):
    corrupted = interpret.streams(tiny, CORRUPTED)[:, 0]
    heads = interpret.gathered(tiny, CLEAN)[:, 0]

    def patched(group):
        return interpret_patching.patch_group(tiny, corrupted, heads, lambda x: x[:, 5], group)

    one_by_one = interpret.patch_heads(tiny, corrupted, heads, lambda x: x[:, 5])
    torch.testing.assert_close(patched([(0, 2)]), one_by_one[0, 2])
    # The last word is the same in both texts, so all differences reach its stream through the
    # heads.
    everything = [(layer, head) for layer in range(2) for head in range(3)]
    torch.testing.assert_close(patched(everything), tiny(CLEAN)[0][0, -1, 5])


def test_heads_are_changed_only_within_the_context(tiny):
    before = tiny(CLEAN)[0]
    with pytest.raises(RuntimeError), interpret.heads_changed(tiny, 1, torch.zeros_like):
        assert not torch.allclose(tiny(CLEAN)[0], before)
        raise RuntimeError
    assert torch.equal(tiny(CLEAN)[0], before)


@pytest.mark.parametrize("kind", [contrasts.agreement, contrasts.pronouns])
def test_pairs_differ_in_one_word(kind):
    pairs = kind()
    assert len(set(pairs)) == 20
    for pair in pairs:
        texts = pair.clean.split(), pair.corrupted.split()
        assert [a == b for a, b in zip(*texts, strict=True)].count(False) == 1
        assert pair.due != pair.other


def test_the_number_of_the_nearby_noun_is_independent_of_the_verb():
    plural = {pair[4] for pair in contrasts.chases()}
    both = Counter((p.due, p.clean.split()[-1] in plural) for p in contrasts.agreement())
    assert both == dict.fromkeys([(w, n) for w in (" was", " were") for n in (False, True)], 5)


def test_a_probe_finds_a_direction_and_memorises_random_labels():
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(300, 40, generator=draws)
    signs, luck = (torch.randn(300, generator=draws).sign() for _ in range(2))
    x[:, 3] = 2 * signs + 0.1 * x[:, 3]
    probe = interpret_probes.fitted(x[:200], signs[:200])
    assert interpret_probes.right(x[200:], signs[200:], probe).all()
    by_heart = interpret_probes.fitted(x[:200], luck[:200])
    assert interpret_probes.right(x[:200], luck[:200], by_heart).double().mean() > 0.6
    assert 0.35 < interpret_probes.right(x[200:], luck[200:], by_heart).double().mean() < 0.65
    # On the other side of the plane, the probe gives the opposite label, as certainly.
    turned = interpret_probes.moved(x[200:], probe, None)
    assert interpret_probes.right(turned, -signs[200:], probe).all()


def test_the_interval_of_a_mean_is_that_of_its_standard_error():
    samples = np.random.default_rng(1).normal(3, 2, size=(400, 2))
    mean, low, high = bench.interval(samples)
    np.testing.assert_allclose(mean, samples.mean(axis=0))
    np.testing.assert_allclose(high - low, 2 * 1.96 * 2 / 20, rtol=0.15)


def test_only_a_masked_token_itself_attends_to_it():
    seen = interpret_first_token.hidden(4, 1)
    assert seen[:, 1].tolist() == [False, True, False, False]
    assert seen[:, [0, 2, 3]].all()


def test_a_vector_leans_to_the_meaning_of_the_most_similar_vectors():
    ends = torch.eye(2)
    found = torch.stack([ends[side].expand(3, 1, 2) for side in (0, 1)]).clone()
    assert (interpret_contexts.leanings(found) == 1).all()
    found[0, 0] = ends[1]  # a vector of the first meaning that looks like the second
    assert (interpret_contexts.leanings(found)[:, :, 0] > 0).tolist() == [
        [False, True, True],
        [True] * 3,
    ]


def test_the_stored_results_support_the_chapter():
    heads = np.array(STORED["patching"]["agreement"]["heads"])[0]
    assert sorted(map(tuple, np.argwhere(heads > 0.05).tolist())) == [(26, 0), (27, 7), (27, 8)]
    together = STORED["patching"]["agreement"]["together"]
    assert sorted(map(tuple, together["heads"])) == [(26, 0), (27, 7), (27, 8)]
    for half in STORED["patching"]["agreement"]["halves"]:
        assert {*np.argsort(-np.ravel(half))[:3]} == {26 * 9, 27 * 9 + 7, 27 * 9 + 8}
    assert np.array(STORED["patching"]["pronouns"]["streams"]).shape == (3, 31, 7)
    # A subject's vector is the same in all its texts, so a probe can memorise its random label.
    assert all(row["control"][0] == 1 for row in STORED["probes"]["trained"]["subject"])
    halves = STORED["patching"]["pronouns"]["halves"]
    first = [{*np.argsort(-np.ravel(half))[:3].tolist()} for half in halves]
    assert first == [{26 * 9 + 2, 25 * 9 + 2, 27 * 9 + 5}] * 2
    assert set(STORED) == set(bench.QUESTIONS)


@pytest.fixture(scope="module")
def one_thread():
    torch.set_num_threads(1)


@pytest.mark.slow
def test_scores_and_ranks_are_as_stored(smollm2):
    model, tokenizer = smollm2
    for kind, pairs in (("agreement", contrasts.agreement()), ("pronouns", contrasts.pronouns())):
        clean, corrupted, due, other = contrasts.ids_of(tokenizer, pairs)
        assert len({len(ids) for ids in (*clean, *corrupted)}) == 1
        logits = model(torch.tensor([clean[0], corrupted[0]]))[0][:, -1]
        lead = logits[:, due[0]] - logits[:, other[0]]
        assert lead.tolist() == pytest.approx(STORED["patching"][kind]["ends"][0], abs=0.02)
    told = STORED["lens"]["facts"][7]
    found = interpret_lens.ranks(model, tokenizer.encode(told["prompt"]))
    assert np.allclose(found, told["ranks"], rtol=0.02, atol=1)


@pytest.mark.slow
def test_attention_and_effects_of_heads_are_as_stored(smollm2):
    model, _ = smollm2
    ids, score = interpret_looking.asked()
    told = STORED["looking"]["agreement"]
    looks = interpret_looking.looks(model, ids)
    assert np.allclose(looks, told["looks"], atol=2e-3)
    chosen, means = interpret_looking.CHOOSING, interpret.gathered(model, ids).mean(dim=(1, 2))
    head = divmod(int(np.argmax(np.array(told["matters"])[0])), 9)
    whole, cut = (
        score(interpret_looking.without(model, ids[chosen], group, means), chosen)
        for group in ([], [head])
    )
    fall = (whole - cut).mean()
    assert float(fall) == pytest.approx(np.array(told["matters"])[0][head], abs=0.01)


@pytest.mark.slow
def test_the_leanings_of_a_words_vectors_are_as_stored(needed, one_thread, monkeypatch):
    needed("minilm")
    monkeypatch.setattr(
        interpret_contexts, "SENTENCES", {"bank": interpret_contexts.SENTENCES["bank"]}
    )
    told = {}
    interpret_contexts.measure(told, lambda told: None)
    stored = STORED["contexts"]["bank"]
    for way in ("whole", "blind", "control"):
        assert told["bank"][way]["right"][-1] == stored[way]["right"][-1]
        np.testing.assert_allclose(told["bank"][way]["leaning"], stored[way]["leaning"], atol=2e-3)
    np.testing.assert_allclose(told["bank"]["cost"], stored["cost"], atol=2e-3)
