"""How many draft tokens a target model accepts, and how many of its passes that saves.

There are two targets: SmolLM2, whose draft model is SmolLM2 without its last layers; and a decoder
trained here on English sentences, whose draft model is a smaller one with the same training. With
greedy decoding, the output must equal, token for token, the output without a draft model.
"""

import time
from dataclasses import replace

import torch

from attn.decoding import greedy
from attn_course.speculative import Probabilities, drawn, speculative
from experiments import modern_changes as changes
from experiments import modern_training as training
from experiments.modern_tasks import smollm2

AHEAD, N_NEW, SEED = (2, 4, 8), 32, 0
KEPT_LAYERS = (10, 20, 28)
PROMPTS = ("The sky is blue because", "To make bread, first")
# The number of tokens that the draft of SmolLM2 proposes, and the number of new tokens.
SMALL_AHEAD, N_SMALL = 4, 16
DRAFT = {"d_model": 48, "n_layers": 1, "d_ff": 128}
STEPS = 300
SENTENCES = ("I", "The", "He said", "We have", "Do you", "My father", "It is", "Tom")


def without_last(model, n_layers):
    """Return a model with the first layers of another one, and its last norm and output matrix."""
    short = training.twin(model)
    short.stack.layers = short.stack.layers[:n_layers]
    short.config = replace(model.config, n_layers=n_layers)
    return short


def trained(text):
    """Return the target and the draft model that are trained here."""
    target = changes.configs()["tied"]
    models = []
    for config in (target, replace(target, **DRAFT)):
        run = training.begun(config, 1.2e-2, STEPS, SEED)
        models.append(training.go(run, training.Windows(text, changes.LENGTH, SEED)))
    return models


def written(target, draft, prompts, ahead, n_new, temperature):
    """Continue each prompt; return the cost, and whether greedy output equals the target's."""
    counts, same = [], True
    for place, prompt in enumerate(prompts):
        readers = [Probabilities(model, temperature) for model in (target, draft)]
        choose = drawn(torch.Generator().manual_seed(place))
        found = speculative(*readers, prompt, ahead=ahead, max_new_tokens=n_new, choose=choose)
        counts.append([found.n_proposed, found.n_accepted, found.n_passes])
        if temperature == 0:
            alone = greedy(
                target.step,
                prompt[None],
                end_id=None,
                max_new_tokens=n_new,
                cache=target.new_cache(),
            )
            same = same and torch.equal(found.ids, alone[0])
    proposed, accepted, passes = (sum(some) for some in zip(*counts, strict=True))
    told = {
        "ahead": ahead,
        "temperature": temperature,
        "accepted": round(accepted / proposed, 3),
        "tokens_per_pass": round(n_new * len(prompts) / passes, 2),
        "by_prompt": counts,
    }
    return told | ({"same_as_greedy": same} if temperature == 0 else {})


def cost(model, prompt):
    """Return the seconds of this thread for a step of one token, the fastest of a few."""
    cache, quickest = model.new_cache(), float("inf")
    with torch.inference_mode():
        model(prompt[None], cache=cache)
        for _ in range(12):
            began = time.thread_time()
            model(prompt[None, :1], cache=cache)
            quickest = min(quickest, time.thread_time() - began)
    return quickest


def measure(told, keep):
    """Measure everything that has no result yet."""
    if "trained_here" not in told:
        tokenizer, text, _ = training.sentences()
        target, draft = trained(text)
        prompts = [torch.tensor(tokenizer.encode(sentence)) for sentence in SENTENCES]
        rows = [
            written(target, draft, prompts, ahead, N_NEW, temperature)
            for temperature in (0, 1.0)
            for ahead in AHEAD
        ]
        parameters = [sum(p.numel() for p in model.parameters()) for model in (target, draft)]
        share = cost(draft, prompts[-1]) / cost(target, prompts[-1])
        told["trained_here"] = {
            "parameters": parameters,
            "draft_step_to_target_step": round(share, 2),
            "rows": rows,
        }
        keep(told)
    model, tokenizer = smollm2()
    prompts = [torch.tensor(tokenizer.encode(text)) for text in PROMPTS]
    rows = told.setdefault("smollm2", [])
    for n_layers in KEPT_LAYERS[len(rows) :]:
        row = written(
            model, without_last(model, n_layers), prompts, SMALL_AHEAD, N_SMALL, temperature=0
        )
        rows.append({"layers": n_layers, "of": model.config.n_layers} | row)
        keep(told)
