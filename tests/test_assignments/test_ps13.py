"""Problem set 13, a kernel and its roofline."""

import re

import numpy as np
import pytest

from attn.reference import online_attention
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps13")


class TestPS13(Proofs):
    answers = answers

    def test_the_kernel_equals_the_reference_for_every_size_of_tile(self, capsys):
        ours = self.executed(capsys=capsys)[0][answers.TILES]
        for output, case in self.oracle_and_cases(answers.TILES):
            query, key, value, mask, _ = case.values()
            for tile in (1, 2, 5, 100):
                other = online_attention(query, key, value, mask, block_size=tile)
                np.testing.assert_allclose(other, output, atol=1e-9)
                np.testing.assert_allclose(ours(query, key, value, mask, tile), output, atol=1e-9)

    def test_traffic_equals_the_counted_reads_and_writes(self):
        for (flops, plain, tiled), case in self.oracle_and_cases(answers.TRAFFIC):
            n, d, rows, columns, causal = (array.item() for array in case.values())
            work, moved = 0, 0
            matrix, other = np.zeros((n, d)), np.zeros((n, n))
            for top in range(0, n, rows):
                queries = matrix[top : top + rows]
                moved += 2 * queries.size
                for left in range(0, n, columns):
                    keys = matrix[left : left + columns]
                    if causal and left > top + len(queries) - 1:
                        continue
                    moved += 2 * keys.size
                    work += 2 * 2 * len(queries) * len(keys) * d
            assert (flops, tiled) == (work, moved)
            assert plain == 4 * matrix.size + 4 * other.size

    def test_the_largest_tile_fits_and_the_next_does_not(self):
        for sides, case in self.oracle_and_cases(answers.SIDE):
            memory, d, bits, multiple = case.values()
            for t, room in zip(sides, memory, strict=True):
                held, next_ = (
                    (3 * side * d + side * d + side**2 + side + side) * bits / 8
                    for side in (t, t + multiple)
                )
                assert t % multiple == 0 and held <= room < next_

    def test_the_full_batch_is_the_smallest_that_is_limited_by_arithmetic(self):
        step = self.tasks[answers.STEP].exercise.oracle
        for (intensity, seconds, full), case in self.oracle_and_cases(answers.STEP):
            weights, bits, cache, batch, tokens, peak, bandwidth = case.values()
            flops = 2 * weights * batch * tokens
            reached = flops / seconds  # No step exceeds the roofline at its intensity.
            assert reached == pytest.approx(min(peak, intensity * bandwidth))

            tried = (full - 1, full) if full else (10**6,)
            intensities = [step(weights, bits, cache, b, 1, peak, bandwidth)[0] for b in tried]
            held = [one >= peak / bandwidth for one in intensities]
            assert held == ([False, True] if full else [False])

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, printed = self.executed(capsys=capsys)

        def times(**card):
            (work, plain), (_, tiled) = names["attention_time"](16384, **card)
            return 1e6 * work, 1e6 * plain, 1e6 * tiled

        def gains(d):
            work, _, tiled = times(d=d)
            before = max(work, tiled)
            better = ({"peak": 2e14}, {"bandwidth": 2e12}, {"memory": 2**17})
            after = [times(d=d, **card) for card in better]
            return [f"{before / max(one[0], one[2]):.2f}" for one in after]

        work, plain, tiled = times()
        w, p, t = (f"{one:.2f}" for one in (work, plain, tiled))
        (none, band, fast), wide = gains(64), gains(256)
        assert wide[0] == none == "1.00" and max(times(d=32)[2], 0) < times(d=32)[0]
        numbers = [p, w, t, w, f"{plain / tiled:.2f}"]
        numbers += [f"{100 * work / plain:.1f}", f"{100 * work / tiled:.1f}"]
        numbers += [
            t,
            w,
            band,
            fast,
            none,
            band,
            fast,
            f"{times(d=256)[2]:.2f}",
            wide[2],
            wide[1],
            w,
        ]
        for edition in LANGUAGES:
            answer = re.split("Rúbrica|Rubric", self.cells(edition)[-1].source)[0]
            assert re.findall(r"\d+\.\d+", answer) == numbers
        assert all(number in printed[-1] for number in (w, p, t))
