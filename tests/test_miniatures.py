"""The pictures and models of appendices A3 and A4, and a part of their stored results."""

import itertools

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from attn_course.miniatures import captions, detection, upscaling, video
from attn_course.miniatures.pictures import KINDS, draw, patches
from attn_course.miniatures.training import filled
from attn_course.subjects import lines
from experiments import miniatures

STORED = miniatures.stored()


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_a_shape_covers_its_area(kind):
    area = (np.pi / 4, 1, 0.5, 1 - 0.65**2, np.pi / 4 * (1 - 0.25))[kind]
    drawn = draw([[kind]], [[12]], [[12]], [[10]])[0]
    assert drawn.sum() == pytest.approx(area * 20**2, rel=0.02)
    assert not drawn[:2].any() and not drawn[-2:].any()


def test_a_shape_wraps_around_at_the_edge():
    inside, across = (draw([[0]], [[x]], [[6]], [[2]], 12, wraps=True)[0] for x in (6, 12))
    assert np.array_equal(np.roll(inside, 6, axis=1), across)


def test_a_caption_lists_shapes_in_order_and_avoids_the_held_out_pair():
    picture, caption = captions.pictures(60, 0)
    pairs = zip(caption[:, 1:-2].tolist(), caption[:, 3:].tolist(), strict=True)
    never = tuple(captions.FIRST_KIND + kind for kind in captions.NEVER)
    assert never not in {pair for ones, others in pairs for pair in zip(ones, others, strict=True)}
    _, asked = captions.pictures(60, 0, never=None)
    assert (asked[:, [1, 3]] == torch.tensor(never)).all()
    # If one shape is above the other, the lower half is empty without the second shape.
    ink = patches(picture, side=12).sum(dim=-1)  # the ink in each of the four quarters
    above = (caption[:, 2] == captions.ABOVE).nonzero()[:, 0]
    assert (ink[above, :2].sum(dim=1) > 0).all() and (ink[above, 2:].sum(dim=1) > 0).all()


def test_no_single_frame_or_place_reveals_the_motion_of_a_video():
    frames, way = video.videos(4000, 0)
    ink = patches(frames).sum(dim=-1) > 0  # (n, frame, place)
    assert (ink.sum(dim=-1) == 1).all()
    for each in range(len(video.WAYS)):
        # The share of each place in the first and in the last frame is the same for all ways.
        for frame in (0, 3):
            share = ink[way == each][:, frame].double().mean(dim=0)
            assert share == pytest.approx(np.full(9, 1 / 9), abs=0.05)


def test_shapes_are_matched_to_distinct_queries_at_the_least_cost():
    torch.manual_seed(0)
    logits, boxes = torch.randn(6, 5, 4), torch.rand(6, 5, 3)
    _, kind, box = detection.pictures(6, 0)
    chosen = detection.matched(logits, boxes, kind, box)
    for i in range(6):
        there = [j for j in range(3) if kind[i, j] != detection.NONE]
        cost = [
            [
                (
                    5 * (boxes[i, q] - box[i, j]).abs().sum()
                    - logits[i, q].softmax(dim=0)[kind[i, j]]
                ).item()
                for j in there
            ]
            for q in range(5)
        ]
        best = min(
            sum(cost[q][n] for n, q in enumerate(queries))
            for queries in itertools.permutations(range(5), len(there))
        )
        assert sum(cost[chosen[i, j]][n] for n, j in enumerate(there)) == pytest.approx(best)


def test_overlap_and_counts_of_boxes_done_by_hand():
    a, b = torch.tensor([0.5, 0.5, 0.1]), torch.tensor([0.6, 0.5, 0.1])
    assert detection.overlap(a, b).item() == pytest.approx(1 / 3)
    kind, box = torch.tensor([[0, 1, 3]]), torch.stack([a, b + 0.3, b])[None]
    said = torch.tensor([[0, 0, 2, 3, 3]]), torch.stack([a, a, b, b, b])[None]
    found = detection.counted(said, kind, box)
    assert found == pytest.approx({"found": 1 / 2, "true": 1 / 3, "twice": 1 / 3, "whole": 0})


def test_the_upscaler_has_a_local_receptive_field():
    torch.manual_seed(0)
    model, small = upscaling.Upscaler(), torch.rand(1, 12, 12)
    changed = small.clone()
    changed[0, 0, 0] = 1 - small[0, 0, 0]
    moved = (model(changed)[0] != model(small)[0])[0]
    assert moved.any() and not moved[6:].any() and not moved[:, 6:].any()


def test_fixed_weights_reproduce_the_images_they_were_fitted_to():
    small, _ = upscaling.pairs(40, 0)
    doubled = small.repeat_interleave(2, dim=1).repeat_interleave(2, dim=2)
    made = upscaling.ways(upscaling.fixed(small, doubled), small)
    assert upscaling.psnr(made["fixed"], doubled) > 60 and torch.equal(made["nearest"], doubled)


def test_the_shipped_models_get_the_stored_results():
    weights = load_file(miniatures.WEIGHTS)
    models = {
        "captions": captions.Captioner(),
        "detection": detection.Detector(),
        "upscaling": upscaling.Upscaler(),
        "video": video.Watcher("space and time"),
    }
    for name, model in models.items():
        found = miniatures.MINIATURES[name][2](filled(model, weights, name))
        row = next(row for row in STORED[name] if row["seed"] == 0)
        assert found == pytest.approx({k: row[k] for k in found}, abs=0.01), name


def test_a_run_of_a_few_steps_learns_something():
    test = captions.pictures(100, 1)
    model = captions.trained("patches", seed=0, steps=60, n=300)
    logits, _ = model(test[0], test[1][:, :-1])
    loss = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), test[1][:, 1:].flatten(), ignore_index=captions.PAD
    )
    assert loss < 0.8 * np.log(captions.FIRST_KIND + len(KINDS))


def test_there_is_a_stored_result_for_every_kind_and_seed():
    for name, (_, kinds, _) in miniatures.MINIATURES.items():
        told = [(row["kind"], row["seed"]) for row in STORED[name]]
        assert sorted(told, key=str) == sorted(itertools.product(kinds, miniatures.SEEDS), key=str)


def test_both_languages_have_the_same_subjects_and_no_line_twice():
    for part, number in (("examples", 2), ("to_be_asked", 8)):
        english, spanish = (lines(part, language) for language in ("en", "es"))
        assert [line.subject for line in english] == [line.subject for line in spanish]
        assert len(english) == 4 * number == len({line.text for line in english})
