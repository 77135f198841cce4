"""Problem set 9, a modern decoder."""

import re

import numpy as np
import pytest
import torch

from attn.reference import rotary
from notebooks.build import LANGUAGES
from tests.test_assignments.proofs import Answers, Proofs

answers = Answers("ps9")


class TestPS9(Proofs):
    answers = answers

    def test_a_rotation_by_halves_is_that_of_the_package_in_another_order(self):
        for turned, case in self.oracle_and_cases(answers.ROTATE):
            x, half = case["x"], case["x"].shape[-1] // 2
            woven = np.stack([x[..., :half], x[..., half:]], axis=-1).reshape(x.shape)
            right = rotary(woven, case["positions"], float(case["base"]))
            np.testing.assert_allclose(turned[..., :half], right[..., 0::2])
            np.testing.assert_allclose(turned[..., half:], right[..., 1::2])

    def test_scores_of_turned_vectors_depend_on_the_distance_alone(self):
        turn = self.tasks[answers.ROTATE].exercise.oracle
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=(2, 1, 6))

        def score(here, there):
            return (
                turn(query, np.array([here]), 50.0) @ turn(key, np.array([there]), 50.0).T
            ).item()

        assert score(9, 4) == pytest.approx(score(105, 100)) != pytest.approx(score(9, 5))

    def test_steps_from_an_empty_cache_are_the_whole_pass(self):
        turn = self.tasks[answers.ROTATE].exercise.oracle
        step = self.tasks[answers.STEP].exercise.oracle
        rng, n, d_k = np.random.default_rng(1), 6, 4
        x, w_q = rng.normal(size=(n, 5)), rng.normal(size=(4, 5, d_k))
        w_k, w_v = rng.normal(size=(2, 2, 5, d_k))
        place = np.broadcast_to(np.arange(n), (4, n))
        query, key = turn(x @ w_q, place, 70.0), turn(x @ w_k, place[:2], 70.0)
        whole = torch.nn.functional.scaled_dot_product_attention(
            *(torch.tensor(part)[None] for part in (query, key, x @ w_v)),
            is_causal=True,
            enable_gqa=True,
        )[0].numpy()
        keys = values = np.zeros((2, 0, d_k))
        for position in range(n):
            output, keys, values = step(x[position], w_q, w_k, w_v, 70.0, keys, values)
            np.testing.assert_allclose(output, whole[:, position], atol=1e-9)
        np.testing.assert_allclose(keys, key)

    def test_the_bytes_are_those_of_the_arrays(self):
        for (used, reserved), case in self.oracle_and_cases(answers.BYTES):
            sizes = [int(case[name]) for name in ("n_kv_heads", "d_k")]
            for b, length in enumerate(case["lengths"]):
                kept = room = 0
                for window in case["windows"]:
                    tokens = list(range(length))[-window:] if window else range(length)
                    block = int(case["block_size"])
                    shape = [tokens[i : i + block] for i in range(0, len(tokens), block)]
                    kind = f"V{case['n_bytes']}"
                    kept += np.zeros((2, len(tokens), *sizes), kind).nbytes
                    room += np.zeros((2, len(shape), block, *sizes), kind).nbytes
                assert (used[b], reserved[b]) == (kept, room)

    def test_speculative_decoding_has_the_distribution_of_the_large_model(self):
        verify = self.tasks[answers.VERIFY].exercise.oracle
        target = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
        draft = np.array([[0.2, 0.7, 0.1]])
        # The first token is computed without chance, over all drafts and every hundredth of the
        # dice.
        dice, found = (np.arange(1000) + 0.5) / 1000, np.zeros(3)
        for token, q in enumerate(draft[0]):
            for thrown in dice:
                n_kept, rest = verify(target, draft, np.array([token]), np.array([thrown]))
                first = np.eye(3)[token] if n_kept else rest
                found += q * first / len(dice)
        np.testing.assert_allclose(found, target[0], atol=1e-3)

    def test_the_corrected_block_equals_pytorch(self):
        for output, case in self.oracle_and_cases(answers.MENDED):
            x, gain, *matrices = map(torch.tensor, case.values())
            w_gate, w_up, w_down = matrices
            functional = torch.nn.functional
            normed = functional.rms_norm(x, gain.shape, gain, eps=1e-5)
            right = x + (functional.silu(normed @ w_gate) * (normed @ w_up)) @ w_down
            np.testing.assert_allclose(output, right.numpy())

    def test_the_example_of_the_faulty_block_prints_what_the_text_says(self, capsys):
        _, printed = self.executed(capsys=capsys)
        assert any("alone:    [1.73 1.73]\nfollowed: [1.02 1.02]" in out for out in printed)

    def test_the_experiment_measures_what_the_rubric_says(self, capsys):
        names, _ = self.executed(capsys=capsys)
        speed, lengths = names["speed"], (1, 2, 4, 8, 16)
        best = {
            noise: max(lengths, key=lambda n, noise=noise: speed(noise, n))
            for noise in (0.1, 0.3, 0.6, 1.0)
        }
        assert list(best.values()) == [16, 8, 4, 2]
        a = np.minimum(*names["models"](0.6)).sum()
        tokens = {n: (1 - a ** (n + 1)) / (1 - a) for n in (4, 16)}
        cheap = {n: speed(0.6, n, cost=0.01) for n in lengths}
        assert max(cheap, key=cheap.get) == 8
        numbers = [
            *(part for noise, n in best.items() for part in (f"{noise}", f"{speed(noise, n):.2f}")),
            "1.0",
            f"{speed(1.0, 16):.2f}",
            "0.6",
            f"{a:.3f}",
            f"{1 / (1 - a):.2f}",
            "0.1",
            f"{tokens[4]:.2f}",
            f"{speed(0.6, 4):.2f}",
            f"{tokens[16]:.2f}",
            f"{tokens[16] / 2.6:.2f}",
            "0.01",
            f"{cheap[8]:.2f}",
        ]
        assert f"{tokens[4] / 1.4:.2f}" == f"{speed(0.6, 4):.2f}"
        for edition in LANGUAGES:
            said = re.findall(r"\d+\.\d+", self.cells(edition)[-1].source)
            assert sorted(said) == sorted(numbers)
