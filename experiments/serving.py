"""The cost of a token, the effect of rounding, the saving of pages, and a kernel by tiles.

The speeds are those of one thread, measured in turns within one run, and the fastest turn counts.
The models read the fifty passages of `attn_course.readings`, which were written for the course.
"""

import random
from copy import deepcopy
from datetime import date
from functools import lru_cache, partial

import torch
from torch.nn import functional as F

from attn.transformer import DecoderOnly
from attn_course import minilm
from attn_course.readings import readings
from attn_course.serving import PagedCache, dequantise, prefill_and_decode, quantise
from benchmarks.timing import processor
from experiments.modern_speed import COPIED, timed
from experiments.modern_tasks import smollm2
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "serving.json"

# The speeds.

LENGTHS, BATCHES, CONTEXT, ROUNDS = (1, 4, 16, 64, 256, 512), (1, 2, 4, 8, 16, 32, 64), 128, 5
SIDES = (512, 1024, 2048)


@torch.inference_mode()
def speeds():
    """Return the machine's two limits, and the seconds of prefill and of decoding.

    ``products`` are the seconds of the matrix products with the model's weights alone: without
    attention, norms or a cache.
    """
    model, _ = smollm2()
    torch.manual_seed(0)
    source = torch.ones(COPIED // 4)
    jobs = {"sum": lambda: source.sum()}
    for side in SIDES:
        square = torch.randn(side, side)
        jobs[f"square {side}"] = lambda square=square: square @ square
    linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]

    def products(rows):
        for linear in linears:
            linear(rows[:, : linear.in_features])

    caches = {}
    for n in LENGTHS:
        ids = torch.randint(model.config.vocab_size, (1, n))
        jobs[f"prefill {n}"] = lambda ids=ids: model(ids)
        jobs[f"prefill {n} products"] = partial(products, torch.randn(n, model.config.d_ff))
    prompt = torch.randint(model.config.vocab_size, (1, CONTEXT))
    for batch in BATCHES:
        caches[batch] = model.new_cache()
        model(prompt[:, :-1].expand(batch, -1), cache=caches[batch])

        def write(batch=batch):
            model(prompt[:, -1:].expand(batch, -1), cache=caches[batch])
            caches[batch].truncate(CONTEXT - 1)

        jobs[f"decode {batch}"] = write
        jobs[f"decode {batch} products"] = partial(products, torch.randn(batch, model.config.d_ff))
    quickest = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            quickest[name] = min(quickest[name], timed(job))
    peak = max(2 * side**3 / quickest[f"square {side}"] for side in SIDES)
    machine = {
        "card": processor(),
        "threads": 1,
        "date": date.today().isoformat(),
        "torch": torch.__version__,
        "peak": float(f"{peak:.4g}"),
        "bandwidth": float(f"{COPIED / quickest['sum']:.4g}"),
    }

    def row(job, n, work):
        seconds = {"seconds": quickest[f"{job} {n}"], "products": quickest[f"{job} {n} products"]}
        rounded = {name: float(f"{value:.4g}") for name, value in seconds.items()}
        return {"flops": work.flops, "bytes": work.bytes} | rounded

    config = model.config
    read = {str(n): row("prefill", n, prefill_and_decode(config, 1, n)[0]) for n in LENGTHS}
    written = {
        str(batch): row("decode", batch, prefill_and_decode(config, batch, CONTEXT)[1])
        for batch in BATCHES
    }
    return machine, read, written


# Rounding.

GROUPS = {"row": None, "64": 64, "32": 32}
# The factor of a column of the weights, by which the preceding norm is divided.
OUTLIER = 16


def matrices(model):
    """Return the matrices of the layers by name, without the embeddings."""
    stack = model.stack if isinstance(model, DecoderOnly) else model.encoder
    found = stack.layers.named_parameters()
    return {name: parameter for name, parameter in found if parameter.dim() == 2}


@torch.no_grad()
def with_an_outlier(model, factor=OUTLIER):
    """Return an equivalent model with one large column in each matrix after a norm."""
    model, rng = deepcopy(model), random.Random(16)
    for layer in model.stack.layers:
        attention, network = layer.self_attention, layer.feed_forward
        behind = (
            (layer.norm_1, (attention.q_proj, attention.k_proj, attention.v_proj)),
            (layer.norm_2, (network.linear_1, network.linear_3)),
        )
        for norm, linears in behind:
            column = rng.randrange(model.config.d_model)
            norm.weight[column] /= factor
            for linear in linears:
                linear.weight[:, column] *= factor
    return model


@torch.no_grad()
def rounded(model, bits, group):
    """Return a copy of a model with rounded layers, and each matrix's relative error."""
    model = deepcopy(model)
    moved, whole = {}, {}
    for name, weights in matrices(model).items():
        layer = name.split(".")[0]
        found = dequantise(*quantise(weights, bits, group))
        moved[layer] = moved.get(layer, 0.0) + float((found - weights).square().sum())
        whole[layer] = whole.get(layer, 0.0) + float(weights.square().sum())
        weights.copy_(found)
    return model, [(moved[layer] / whole[layer]) ** 0.5 for layer in moved]


@torch.inference_mode()
def read(model, ids):
    """Return the loss of each token of a text, and each layer's output, (n_layers, n, d_model)."""
    streams = []
    hooks = [
        layer.register_forward_hook(
            lambda _, __, given: streams.append(given[0] if isinstance(given, tuple) else given)
        )
        for layer in model.stack.layers
    ]
    logits, _ = model(ids[None])
    for hook in hooks:
        hook.remove()
    return F.cross_entropy(logits[0, :-1], ids[1:], reduction="none"), torch.cat(streams)


@lru_cache
def as_the_file_has_it(n_texts):
    """Return the model as stored, the ids of the texts, and each layer's output for each text."""
    model, tokenizer = smollm2()
    texts = [torch.tensor(tokenizer.encode(one.text)) for one in readings()[:n_texts]]
    return model, texts, [read(model, ids) for ids in texts]


def rounding(outlier, bits=None, group=None, n_texts=None):
    """Return the loss of each text, its tokens, and the errors of weights and streams, by layer."""
    model, texts, before = as_the_file_has_it(n_texts)
    if outlier:
        model = with_an_outlier(model)
    weights = None
    if bits:
        model, weights = rounded(model, bits, group)
    losses, errors = [], torch.zeros(model.config.n_layers)
    for ids, (_, exact) in zip(texts, before, strict=True):
        loss, streams = read(model, ids)
        losses.append(round(float(loss.sum()), 3))
        # The first token is left out: its vector is many times as long as the other tokens'
        # vectors.
        difference = (streams - exact)[:, 1:].norm(dim=-1) / exact[:, 1:].norm(dim=-1)
        errors += difference.mean(dim=1) / len(texts)
    return {
        "tokens": [len(ids) - 1 for ids in texts],
        "losses": losses,
        "weights": [round(error, 4) for error in weights or ()],
        "streams": [round(float(error), 4) for error in errors],
    }


@torch.inference_mode()
def of_minilm(bits, group):
    """Return the effect of rounding on MiniLM, whose weights are available unrounded."""
    model, tokenizer = minilm.model()
    texts = [one.text for one in readings()]
    before = minilm.vectors(model, tokenizer, texts)
    other, weights = rounded(model, bits, group)
    after = minilm.vectors(other, tokenizer, texts)
    return {
        "weights": [round(error, 4) for error in weights],
        "cosines": [round(float(cosine), 4) for cosine in (before * after).sum(axis=1)],
    }


# Pages.

SEEDS, AT_ONCE, LONGEST, PAGE = (0, 1, 2, 3, 4), 32, 2048, 16
# The mean lengths of prompts and of answers in ShareGPT, in tokens (Kwon et al., Fig. 11).
ASKED, ANSWERED, COMMON = 161, 338, 200
WARM_UP, STEPS, EVERY = 1000, 1000, 10
MIXES = {"nothing in common": 0, "a common beginning": COMMON}


class Mix:
    """Requests with exponentially distributed lengths, some of them with a common prefix."""

    def __init__(self, seed, common):
        self.rng, self.common, self.n = random.Random(seed), common, 0

    def __call__(self):
        """Return the name of a new request, its prompt and the length of its answer."""
        self.n += 1
        asked = 1 + int(self.rng.expovariate(1 / ASKED))
        answered = 1 + int(self.rng.expovariate(1 / ANSWERED))
        # The tokens of a request are unique to it, except for the common prefix.
        prompt = [*range(self.common), *[-self.n] * asked][: LONGEST - 1]
        return self.n, prompt, min(answered, LONGEST - len(prompt))


def pages(seed, common, size=PAGE, shares=True):
    """Return the mean numbers of tokens and of allocated slots, over the steps of a busy service.

    `AT_ONCE` requests are answered at a time, and each that ends is replaced by another. The pages
    are compared with two caches of one block per request: for `LONGEST` tokens, and for the final
    number of tokens of the request, which nobody knows in advance.
    """
    mix = Mix(seed, common)
    cache = PagedCache(AT_ONCE * LONGEST // size, size, n_layers=1, n_kv_heads=1, d_k=1)
    left, ends, found = {}, {}, []

    def write(request, ids):
        cache.append(request, ids, torch.zeros(2, 1, 1, len(ids), 1))

    for step in range(WARM_UP + STEPS):
        while len(left) < AT_ONCE:
            request, prompt, answered = mix()
            known = cache.start(request, prompt) if shares else cache.start(request, ()) or 0
            write(request, prompt[known:])
            left[request], ends[request] = answered, len(prompt) + answered
        for request in [*left]:
            write(request, [-request])
            left[request] -= 1
        if step >= WARM_UP and step % EVERY == 0:
            tokens = sum(len(cache.ids[request]) for request in left)
            most = sum(ends[request] for request in left)
            found.append((tokens, cache.n_used * size, AT_ONCE * LONGEST, most))
        for request in [name for name, n in left.items() if n == 0]:
            cache.finish(request)
            del left[request], ends[request]
    means = [sum(column) / len(found) for column in zip(*found, strict=True)]
    names = ("tokens", "pages", "longest", "known in advance")
    return {name: round(mean, 1) for name, mean in zip(names, means, strict=True)}


# The kernel.

SHAPES = {
    "one tile": ((2,), 16, 16, 16, False),
    "tiles that are not full": ((1, 2), 33, 70, 32, False),
    "causal": ((1, 2), 100, 100, 64, True),
    "causal, more keys": ((3,), 17, 90, 16, True),
    "one query, as in decoding": ((1, 3), 1, 200, 64, True),
    "large scores": ((2,), 50, 50, 32, True),
}


def kernel(name):
    """Return the largest errors of the kernel and of PyTorch's own attention, both in float32.

    The reference is computed in float64 by `attn.reference`. Without Triton, None is returned.
    """
    try:
        from experiments.kernels import attention
    except ModuleNotFoundError:
        return None
    from attn.attention import scaled_dot_product_attention
    from attn.reference import causal_mask
    from attn.reference import scaled_dot_product_attention as by_the_book

    batch, tgt_len, src_len, d_k, is_causal = SHAPES[name]
    torch.manual_seed(0)
    query, key, value = (torch.randn(*batch, n, d_k) for n in (tgt_len, src_len, src_len))
    if name == "large scores":
        query = 100 * query
    exact = torch.from_numpy(
        by_the_book(
            *(tensor.double().numpy() for tensor in (query, key, value)),
            causal_mask(tgt_len, src_len) if is_causal else None,
        )[0]
    )
    own = attention(query, key, value, is_causal=is_causal)
    torchs = scaled_dot_product_attention(query, key, value, is_causal=is_causal)[0]
    errors = ((found - exact).abs().max() for found in (own, torchs))
    return dict(zip(("kernel", "torch"), (float(f"{error:.1e}") for error in errors), strict=True))


def rows():
    """Return what is measured, row by row."""
    found = {"speeds": Row(speeds, ("machine",), ("prefill",), ("decode",))}
    for outlier in (False, True):
        model = "an outlier" if outlier else "as it is"
        for bits in (None, 8, 4):
            for name, group in GROUPS.items() if bits else [("", None)]:
                row = f"{bits} bits, {name}" if bits else "32 bits"
                measure = partial(rounding, outlier, bits, group)
                found[f"bits, {model}, {row}"] = Row(measure, ("bits", model, row))
    for bits in (8, 4):
        for name, group in GROUPS.items():
            row = f"{bits} bits, {name}"
            found[f"bits, MiniLM, {row}"] = Row(
                partial(of_minilm, bits, group), ("bits", "MiniLM", row)
            )
    for mix, common in MIXES.items():
        for seed in SEEDS:
            for size, shares in ((PAGE, False), (PAGE, True), (128, True)):
                name = f"pages of {size}" + (", shared" if shares else "")
                found[f"pages, {mix}, {name}, {seed}"] = Row(
                    partial(pages, seed, common, size, shares), ("pages", mix, name, str(seed))
                )
    for name in SHAPES:
        found[f"kernel, {name}"] = Row(partial(kernel, name), ("kernel", name))
    return found


def constants():
    """Return the sizes that the rows were measured with."""
    return {
        "context": CONTEXT,
        "outlier": OUTLIER,
        "mix": {
            "at_once": AT_ONCE,
            "longest": LONGEST,
            "asked": ASKED,
            "answered": ANSWERED,
            "common": COMMON,
            "steps": STEPS,
        },
        "shapes": {name: [*map(list, shape[:1]), *shape[1:]] for name, shape in SHAPES.items()},
    }


EXPERIMENT = Experiment(
    "What does a token cost, in operations, bytes and seconds; and what do pages and fewer bits save?",
    RESULTS,
    rows,
    minutes=12,
    constants=constants,
)
