"""Induction heads, which attend to what followed the same token before.

``python -m experiments induction`` writes ``notebooks/data/induction.json``, which chapter 13 shows;
``python -m experiments induction toy`` measures its small models again and compares.

===========  ================================================================================
`toy`        models of one and of two layers, each from three seeds, learn to continue a
             block of tokens that is repeated: losses and scores while they do, and in the end
             without the weight on one earlier position
`smollm2`    the same score of each head of SmolLM2 on tokens drawn at random and repeated,
             and the loss when the output of the heads that score most, or of others, is their mean
===========  ================================================================================
"""

from contextlib import ExitStack, contextmanager

import torch
from torch.nn import functional as F

from attn.transformer import DecoderOnly, TransformerConfig
from attn_course.interpret import gathered
from experiments.interpret import interval
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "induction.json"
PARTS = ("toy", "smollm2")
SEEDS = (0, 1, 2)
# A test compares this number of first losses with the recorded training.
N_FIRST = 3

# The sizes of the models that are trained here.
N_TOKENS, LENGTH, PERIODS = 64, 64, (8, 32)
STEPS, EVERY, BATCH, RATE, WARMUP, JUDGED = 800, 25, 32, 2e-3, 100, 128
SIZES = {
    "d_model": 64,
    "n_heads": 4,
    "d_ff": 128,
    "dropout": 0.0,
    "norm": "pre",
    "positions": "rotary",
    "tie_embeddings": False,
}
DEPTHS = (1, 2)

# For SmolLM2, each text is a random block of tokens, repeated once.
BLOCK, N_TEXTS, N_CUT, N_DRAWS = 50, 6, (1, 4, 16), 3
# The first ids structure a chat and do not occur in texts.
N_SPECIAL = 17
# The prose is the beginning of these chapters.
PROSE_LENGTH, PROSE = 100, ("01", "02", "03", "04", "05", "06")


def repeated(n_rows, generator):
    """Return rows, each one block of distinct tokens repeated, and the length of each block."""
    low, high = PERIODS
    periods = torch.randint(low, high + 1, (n_rows,), generator=generator)
    order = torch.rand(n_rows, N_TOKENS, generator=generator).argsort(dim=1)
    return order.gather(1, torch.arange(LENGTH) % periods[:, None]), periods


def shares(weights, periods):
    """Return, for each head, the mean weight on the tokens that followed the same one before.

    Parameters
    ----------
    weights : Tensor, shape (n_rows, n_heads, length, length)
    periods : Tensor of int64, shape (n_rows,)
        The number of tokens after which each row repeats itself.

    Returns
    -------
    Tensor, shape (n_heads,)
        The induction score: a mean over the queries whose token occurred before.
    """
    places = torch.arange(weights.shape[-1])
    # The distance to the token after the last occurrence of the query token.
    back = places[:, None] - places + 1
    follows = (back % periods[:, None, None] == 0) & (places > 0)
    found = (weights * follows[:, None]).sum(dim=-1).transpose(1, 2)
    return found[places >= periods[:, None]].mean(dim=0)


def before(weights):
    """Return, for each head, the mean weight on the token before the query's."""
    return weights.diagonal(offset=-1, dim1=2, dim2=3).mean(dim=(0, 2))


def read(model, ids, hidden=0):
    """Return the logits, and the attention weights of each layer.

    With `hidden`, queries of the first layer may not attend to the token `hidden` positions back.
    """
    x, weights = model.embedding(ids), []
    for i, layer in enumerate(model.stack.layers):
        places = torch.arange(ids.shape[1])
        seen = places[:, None] - places != hidden if hidden and i == 0 else None
        x, found = layer(x, seen, is_causal=True, need_weights=True)
        weights.append(found)
    return model.output(model.stack.norm(x)), weights


@torch.no_grad()
def judged(model, hidden=0):
    """Return the losses on new and on repeated tokens, and the induction scores of all heads."""
    ids, periods = repeated(JUDGED, torch.Generator().manual_seed(7))
    logits, weights = read(model, ids, hidden)
    losses = F.cross_entropy(logits[:, :-1].mT, ids[:, 1:], reduction="none")
    # The first token of the second block cannot be predicted, because the length of the block is
    # not known.
    again = torch.arange(1, LENGTH) > periods[:, None]
    return {
        "new": float(losses[torch.arange(1, LENGTH) < periods[:, None]].mean()),
        "again": float(losses[again].mean()),
        "induction": [shares(w, periods).tolist() for w in weights],
        "before": [before(w).tolist() for w in weights],
    }


def begun(n_layers, seed):
    """Return a new model, its optimiser and the generator of its training rows."""
    torch.manual_seed(seed)
    model = DecoderOnly(TransformerConfig(vocab_size=N_TOKENS, n_layers=n_layers, **SIZES))
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98))
    return model, optimizer, torch.Generator().manual_seed(100 + seed)


def step(model, optimizer, generator, number):
    """Take a step of training; return its loss."""
    for group in optimizer.param_groups:
        group["lr"] = RATE * min(1, (number + 1) / WARMUP)
    ids, _ = repeated(BATCH, generator)
    loss = F.cross_entropy(model(ids[:, :-1])[0].mT, ids[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def trained(n_layers, seed):
    """Train one model; return the measurements during the training and at its end."""
    model, optimizer, generator = begun(n_layers, seed)
    told = {"seed": seed, "new": [], "again": [], "induction": [], "before": []}
    first = []
    for number in range(STEPS + 1):
        if number % EVERY == 0:
            found = judged(model)
            for name in ("new", "again"):
                told[name].append(found[name])
            # The largest induction score of the last layer and the largest weight on the previous
            # token in the first layer are stored.
            told["induction"].append(max(found["induction"][-1]))
            told["before"].append(max(found["before"][0]))
        first.append(step(model, optimizer, generator, number))
    hidden = {place: judged(model, place) for place in (0, 1, 2)}
    return rounded(told) | {
        "first_losses": rounded(first[:N_FIRST]),
        "heads": rounded({name: hidden[0][name] for name in ("induction", "before")}),
        "hidden": [
            {
                "places": place,
                "again": round(found["again"], 3),
                "induction": round(max(found["induction"][-1]), 3),
            }
            for place, found in hidden.items()
        ],
    }


def toy():
    """Train the models of both depths from each seed."""
    runs = {str(depth): [trained(depth, seed) for seed in SEEDS] for depth in DEPTHS}
    parameters = {
        str(depth): sum(p.numel() for p in begun(depth, 0)[0].parameters()) for depth in DEPTHS
    }
    steps = list(range(0, STEPS + 1, EVERY))
    return {
        "n_tokens": N_TOKENS,
        "length": LENGTH,
        "periods": PERIODS,
        "batch": BATCH,
        "parameters": parameters,
        "steps": steps,
        "runs": runs,
    }


@contextmanager
def without(model, heads, means):
    """Return a context in which the output of some heads, each (layer, head), is their mean.

    Parameters
    ----------
    means : Tensor, shape (n_layers, n_heads, d_v)
    """

    def cut(layer, layer_heads):
        def exchanged(_, given):
            apart = given[0].unflatten(-1, (model.config.n_heads, -1)).clone()
            apart[..., layer_heads, :] = means[layer, layer_heads]
            return (apart.flatten(-2),)

        return exchanged

    with ExitStack() as stack:
        for layer in {layer for layer, _ in heads}:
            mine = [head for where, head in heads if where == layer]
            projection = model.stack.layers[layer].self_attention.out_proj
            stack.callback(projection.register_forward_pre_hook(cut(layer, mine)).remove)
        yield


def random_texts(vocab_size):
    """Return texts of random tokens, each of them twice in a row."""
    generator = torch.Generator().manual_seed(0)
    blocks = torch.randint(N_SPECIAL, vocab_size, (N_TEXTS, BLOCK), generator=generator)
    return torch.cat([blocks, blocks], dim=1)


@torch.inference_mode()
def scores_of(model, ids):
    """Return the induction score of every head, shape (n_layers, n_heads)."""
    _, weights = model.stack(model.embedding(ids), is_causal=True, need_weights=True)
    period = torch.full((len(ids),), BLOCK)
    return torch.stack([shares(w, period) for w in weights])


@torch.inference_mode()
def losses_of(model, ids, first):
    """Return the mean loss of each text over its tokens from position `first` on."""
    x, _ = model.stack(model.embedding(ids), is_causal=True)
    logits = model.output(x[:, first - 1 : -1])
    return F.cross_entropy(logits.mT, ids[:, first:], reduction="none").mean(dim=1)


def drawn(top, ranked, seed):
    """Return as many random heads, from the same layers as long as these have enough.

    The heads in `top` are never drawn.
    """
    generator = torch.Generator().manual_seed(seed)
    rest = sorted(ranked[max(N_CUT) :])
    free = [rest[i] for i in torch.randperm(len(rest), generator=generator)]
    chosen = []
    for layer, _ in top:
        same = [head for head in free if head[0] == layer] or free
        chosen.append(same[0])
        free.remove(same[0])
    return chosen


def smollm2():
    """Score every head of SmolLM2; remove the best ones, or others of the same layers."""
    from experiments.modern_context import prose
    from experiments.modern_tasks import smollm2 as load

    model, tokenizer = load()
    ids = random_texts(model.config.vocab_size)
    text = torch.tensor([tokenizer.encode(prose(page))[:PROSE_LENGTH] for page in PROSE])
    scores = scores_of(model, ids)
    order = scores.flatten().argsort(descending=True).tolist()
    ranked = [divmod(i, model.config.n_heads) for i in order]
    means = [gathered(model, each).mean(dim=(1, 2)) for each in (ids, text)]
    whole = losses_of(model, ids, BLOCK + 1), losses_of(model, text, 1)

    def losses(heads):
        with without(model, heads, means[0]):
            repeated = losses_of(model, ids, BLOCK + 1)
        with without(model, heads, means[1]):
            read = losses_of(model, text, 1)
        print(len(heads), float(repeated.mean()), float(read.mean()), flush=True)
        return repeated - whole[0], read - whole[1]

    rows = []
    for n in N_CUT:
        top = ranked[:n]
        # The difference of each text, for a bootstrap over the texts.
        others = [losses(drawn(top, ranked, seed)) for seed in range(N_DRAWS)]
        rows.append(
            {
                "n": n,
                "top": [interval(each).tolist() for each in losses(top)],
                "others": [[float(each.mean()) for each in one] for one in others],
            }
        )
    return rounded(
        {
            "block": BLOCK,
            "n_texts": N_TEXTS,
            "prose": [len(PROSE), PROSE_LENGTH],
            "scores": scores.tolist(),
            "ranked": ranked[: max(N_CUT)],
            "first_block": float(losses_of(model, ids[:, :BLOCK], 1).mean()),
            "whole": [float(each.mean()) for each in whole],
            "cuts": rows,
        }
    )


def rounded(value):
    """Return JSON with numbers rounded to three decimals."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(value, 3) if isinstance(value, float) else value


def rows():
    """Return what is measured: small models, and SmolLM2."""
    return {name: Row(measure, (name,)) for name, measure in (("toy", toy), ("smollm2", smollm2))}


EXPERIMENT = Experiment(
    "How do the heads arise that look for what followed the same token before?",
    RESULTS,
    rows,
    minutes=60,
)
