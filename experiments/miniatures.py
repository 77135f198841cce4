"""The four miniatures of appendix A4, each with its baseline, and with three seeds.

Writes ``notebooks/data/miniatures.json``, their accuracy, and beside it ``miniatures.safetensors``,
the weights of one model of each kind, which the page runs. Run it with ``python -m
experiments.miniatures``: some fifteen minutes on one thread. What is stored is not measured again.
"""

import json
from functools import partial

import torch
from safetensors.torch import load_file, save

from attn.io import write_whole
from attn_course.miniatures import captions, detection, upscaling, video
from experiments.runner import DATA, Experiment, Row

RESULTS, WEIGHTS = DATA / "miniatures.json", DATA / "miniatures.safetensors"
SEEDS = (0, 1, 2)
# The seed of the test pictures; training uses other seeds.
ASKED = 1000
N = 500


def stored():
    """Return what has been measured."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def of_captions(model):
    seen, unseen = captions.pictures(N, ASKED), captions.pictures(N, ASKED + 1, never=None)
    return {"right": captions.right(model, *seen), "never_seen": captions.right(model, *unseen)}


def of_detection(model):
    picture, kind, box = detection.pictures(N, ASKED)
    return detection.counted(detection.answers(model, picture), kind, box)


def of_video(model):
    frames, way = video.videos(N, ASKED)
    mixed = frames[:, torch.randperm(frames.shape[1], generator=torch.Generator().manual_seed(0))]
    return {"right": video.right(model, frames, way), "shuffled": video.right(model, mixed, way)}


@torch.no_grad()
def of_upscaling(model):
    small, large = upscaling.pairs(N, ASKED)
    return {"psnr": upscaling.psnr(model(small)[0], large)}


# The weights of the first model of each kind are shipped.
MINIATURES = {
    "upscaling": (upscaling, (True, False), of_upscaling),
    "captions": (captions, ("patches", "one vector"), of_captions),
    "video": (video, ("space and time", "time", "space"), of_video),
    "detection": (detection, (True, False), of_detection),
}


def rounded(model):
    """Return the model with its weights rounded to half precision, as they are shipped."""
    return model.half().float().eval()


def baselines():
    """Return the accuracy of baselines that learn nothing, or one number for each choice."""
    small, large = upscaling.pairs(N, ASKED)
    kernel = upscaling.fixed(*upscaling.pairs(1500, 0))
    told = {
        name: round(upscaling.psnr(made, large), 2)
        for name, made in upscaling.ways(kernel, small).items()
    }
    rows = [tuple(row) for row in captions.pictures(4000, 0)[1].tolist()]
    usual = torch.tensor(max(set(rows), key=rows.count))
    asked = captions.pictures(N, ASKED)[1]
    way = video.videos(N, ASKED)[1]
    return {
        "upscaling": told,
        "captions": round((asked == usual).all(dim=1).double().mean().item(), 3),
        "video": round(way.bincount().max().item() / N, 3),
    }


def measured(seed, name, kind):
    """Return the accuracy of a miniature; store the weights of the first of each kind."""
    module, kinds, measure = MINIATURES[name]
    model = rounded(module.trained(kind, seed))
    if kind == kinds[0] and seed == SEEDS[0]:
        state = model.state_dict().items()
        weights = load_file(WEIGHTS) if WEIGHTS.exists() else {}
        weights |= {f"{name}/{key}": tensor.half() for key, tensor in state}
        write_whole(WEIGHTS, save(weights))
    found = {key: round(value, 3) for key, value in measure(model).items()}
    return {"kind": kind, "seed": seed, **found}


def rows():
    """Return what is measured: the baselines, and every kind of miniature by seed."""
    found = {"baselines": Row(baselines, ("baselines",))}
    for seed in SEEDS:
        for name, (_, kinds, _) in MINIATURES.items():
            for kind in kinds:
                place = (name, {"kind": kind, "seed": seed})
                found[f"{name}, {kind}, seed {seed}"] = Row(
                    partial(measured, seed, name, kind), place
                )
    return found


EXPERIMENT = Experiment(
    "Captions, detection, enlarging and video in miniature: what does each idea bring?",
    RESULTS,
    rows,
    minutes=15,
    constants=lambda: {"n": N},
)
