"""Problem set 13, a kernel and its roofline: 85 points by machine and 15 by hand."""

import numpy as np

from assignments.problem_sets import ProblemSet, Slip, Task

from . import decoding_step, largest_tile, mended_tiles, tile_traffic

LARGE = 50  # The queries of the other groups stay far below this.
PREFILL = 100  # tokens of a text in one step


def _group_of_tiles(case):
    if not case["mask"].any(axis=1).all():
        return "empty rows"
    return "large numbers" if np.abs(case["query"]).max() > LARGE else "base"


def _group_of_memories(case):
    sides = largest_tile.largest_tile(*case.values())
    if not sides.all():
        return "too small"
    smaller = largest_tile.largest_tile(case["memory"] - 1, *list(case.values())[1:])
    return "full to the byte" if (smaller < sides).all() else "base"


def _group_of_steps(case):
    if not decoding_step.decoding_step(*case.values())[2]:
        return "never full"
    return "prefill" if case["tokens"] > PREFILL else "base"


SET = ProblemSet(
    (
        Task(
            "mended-tiles",
            mended_tiles.EXERCISE,
            {"base": 11, "empty rows": 4, "large numbers": 4, "arguments": 1},
            _group_of_tiles,
        ),
        Task(
            "tile-traffic",
            tile_traffic.EXERCISE,
            {"base": 14, "causal": 10, "arguments": 1},
            lambda case: "causal" if case["causal"] else "base",
        ),
        Task(
            "largest-tile",
            largest_tile.EXERCISE,
            {"base": 13, "full to the byte": 3, "too small": 3, "arguments": 1},
            _group_of_memories,
        ),
        Task(
            "decoding-step",
            decoding_step.EXERCISE,
            {"base": 12, "prefill": 4, "never full": 3, "arguments": 1},
            _group_of_steps,
        ),
    ),
    manual=("card",),
    slips=(
        Slip(
            "forgets the sum as the peak rises",
            "mended-tiles",
            "total = total * shrink",
            "total = total",
            "total_not_shrunk",
        ),
        Slip(
            "reads keys and values only once",
            "tile-traffic",
            "2 * d * (n + seen.sum())",
            "2 * d * (n + n)",
            "keys_read_once",
        ),
        Slip(
            "writes the weights nowhere",
            "tile-traffic",
            "4 * n * (n + d)",
            "2 * n * (n + 2 * d)",
            "weights_not_written",
        ),
        Slip(
            "forgets the output that is gathered",
            "largest-tile",
            "4 * t * d",
            "3 * t * d",
            "output_forgotten",
        ),
        Slip(
            "adds two times that run together",
            "decoding-step",
            "max(flops / peak, moved / bandwidth)",
            "flops / peak + moved / bandwidth",
            "times_put_together_otherwise",
        ),
    ),
    groups={
        "causal": {"es": "con máscara causal", "en": "with a causal mask"},
        "full to the byte": {
            "es": "memorias llenas hasta el último byte",
            "en": "memories full to the byte",
        },
        "too small": {"es": "memorias en que no cabe nada", "en": "memories too small for a tile"},
        "prefill": {"es": "lectura de la pregunta", "en": "reading the prompt"},
        "never full": {
            "es": "máquinas que ningún lote llena",
            "en": "machines that no batch fills",
        },
    },
)
