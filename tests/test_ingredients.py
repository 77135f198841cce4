"""The variants of the translators' training: what each changes, and how it is measured."""

import random
from dataclasses import replace
from functools import partial

import pytest
import torch

from attn.applications.translation import Translator
from attn.decoding import greedy
from attn.tokenizer import BytePairTokenizer
from attn.transformer import TransformerConfig
from attn_course.everyday import everyday
from experiments import ingredients

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32}


@pytest.fixture
def few(monkeypatch):
    """Return everyday pairs, which take the place of the corpus; training takes four steps."""
    pairs = everyday()
    monkeypatch.setattr(ingredients, "corpus", lambda: {"validation": pairs[:20]})
    monkeypatch.setattr(ingredients.directions, "familiar", lambda _: [("I have 3 cats.", "3")])
    monkeypatch.setattr(ingredients, "RECIPE", replace(ingredients.RECIPE, vocab_size=400))
    return pairs[20:]


@pytest.mark.parametrize("name", ["mixture", "pointer", "dropout", "both"])
def test_a_variant_is_trained_and_measured(few, name):
    variant = replace(ingredients.VARIANTS[name], pairs=lambda: {"train": few})
    training = replace(ingredients.TRAINING, steps=4, warmup_steps=1, batch_tokens=700)
    told = ingredients.tried(variant, 0, training=training, sizes=SMALL)
    assert told["seconds"] >= 0 and 8000 < told["parameters"] < 20_000
    scores = [told[part] for part in ("validation", "typing errors", "joined")]
    assert all(0 <= score <= 100 for both in scores for score in both)
    assert told["neighbours"][1] == 100 and told["numbers"][1] == 1
    assert ("turned" in told) == (name == "both")


def test_the_pointer_copies_and_its_probabilities_sum_to_one():
    torch.manual_seed(0)
    sizes = {**SMALL, "norm": "pre", "positions": "rotary"}
    model = ingredients.Pointer(TransformerConfig(30, **sizes)).eval()
    src, mask = torch.tensor([[5, 6, 7, 0], [8, 9, 10, 11]]), torch.ones(2, 1, 4, dtype=torch.bool)
    mask[0, 0, 3] = False
    memory, _ = model.encode(src, mask)
    step, start = partial(model.step, memory=memory, src_mask=mask), torch.full((2, 1), 2)
    cached = greedy(step, start, end_id=None, max_new_tokens=6, cache=model.new_cache())
    log_p, _ = model(src, cached[:, :-1], src_mask=mask)
    assert torch.equal(log_p.argmax(dim=-1), cached[:, 1:])
    torch.testing.assert_close(log_p.exp().sum(dim=-1), torch.ones(2, 6))
    # If the gate is open, only tokens of the source have a probability.
    torch.nn.init.constant_(model.gate.bias, 50.0)
    log_p, _ = model(src, cached[:, :-1], src_mask=mask)
    for row, own in enumerate(([5, 6, 7], [8, 9, 10, 11])):
        torch.testing.assert_close(log_p[row, :, own].exp().sum(dim=-1), torch.ones(6))


def test_a_wider_encoder_and_a_thinner_decoder_have_as_many_parameters():
    config = TransformerConfig(300, **ingredients.RECIPE.sizes)
    models = (ingredients.VARIANTS[name].model(config) for name in ("mixture", "wide"))
    usual, wide = (sum(p.numel() for p in model.parameters()) for model in models)
    assert usual == wide


def test_bpe_dropout_cuts_the_same_text_into_more_pieces(monkeypatch):
    texts = [pair.target for pair in everyday()]
    tokenizer = BytePairTokenizer.train(texts, 600)
    ids = [tokenizer.encode(text) for text in texts]
    cut = [*map(ingredients.bpe_dropout(tokenizer, random.Random(0)), ids)]
    assert [tokenizer.decode(one) for one in cut] == texts
    assert 1.05 < sum(map(len, cut)) / sum(map(len, ids)) < 1.5
    monkeypatch.setattr(ingredients, "DROPPED", 0.0)
    assert [*map(ingredients.bpe_dropout(tokenizer, random.Random(0)), ids)] == ids


def test_the_pairs_of_a_variant(few):
    both = ingredients.both_directions(few)
    assert both[: len(few)] == few and both[-1].source == f"¶ {few[-1].target}"
    joined = ingredients.joined(few)
    assert len(joined) == len(few) + ingredients.N_JOINED
    first, second = joined[-1].source, joined[-1].target
    assert any(f"{a.source} " in first and f"{a.target} " in second for a in few)
    noisy = ingredients.noisy(few)
    changed = [(a, b) for a, b in zip(few, noisy, strict=True) if a != b]
    assert len(few) // 6 < len(changed) <= len(few) // 4 + 1
    assert all(a.target == b.target and abs(len(a.source) - len(b.source)) < 2 for a, b in changed)


def test_a_hypothesis_has_the_score_of_the_search_that_found_it():
    translator = Translator.pretrained("tatoeba")
    texts = ["The cat sat on the mat.", "Where is the library?"]
    ids = [translator.source_ids(text) for text in texts]
    assert len(ids[0]) != len(ids[1])
    found, scores = ingredients.hypotheses(translator, ids, 3)
    again = ingredients.back_scores(translator, [text for text in texts for _ in range(3)], found)
    torch.testing.assert_close(again.view(2, 3), scores, atol=1e-4, rtol=1e-4)
