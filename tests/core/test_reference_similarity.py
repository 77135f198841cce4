"""`attn.reference.cosine_similarity` against PyTorch, against geometry, and at its edges."""

import numpy as np
import pytest
import torch

from attn.reference import cosine_similarity


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_it_agrees_with_pytorch(lead):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(*lead, 4, 5)), rng.normal(size=(6, 5))
    wanted = torch.cosine_similarity(torch.tensor(a)[..., :, None, :], torch.tensor(b), dim=-1)
    np.testing.assert_allclose(cosine_similarity(a, b), wanted.numpy(), rtol=1e-12)


def test_it_is_the_cosine_of_the_angle():
    angles = np.linspace(0, np.pi, 7)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    np.testing.assert_allclose(cosine_similarity([[2.0, 0.0]], circle)[0], np.cos(angles))


@pytest.mark.parametrize("length", [1e-200, 1e-3, 1.0, 1e3, 1e200])
def test_lengths_do_not_matter(length):
    a, b = np.random.default_rng(1).normal(size=(2, 3, 4))
    np.testing.assert_allclose(cosine_similarity(length * a, b), cosine_similarity(a, b))


def test_a_vector_of_zeros_is_like_nothing():
    similarity = cosine_similarity([[0.0, 0.0], [1.0, 2.0]], [[1.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(similarity, [[0, 0], [1, 0]], atol=1e-15)


def test_the_dtype_stays_and_integers_become_float64():
    single = np.ones((2, 3), dtype=np.float32)
    assert cosine_similarity(single, single).dtype == np.float32
    assert cosine_similarity([[1, 2]], [[2, 1]]).dtype == np.float64


def test_there_may_be_nothing_to_compare():
    assert cosine_similarity(np.ones((0, 3)), np.ones((2, 3))).shape == (0, 2)
    np.testing.assert_array_equal(cosine_similarity(np.ones((1, 0)), np.ones((2, 0))), [[0, 0]])


@pytest.mark.parametrize(
    "a, b, message",
    [
        (np.ones((2, 3)), np.ones((2, 4)), r"b: expected shape \(\.\.\., m, 3\).* got \(2, 4\)"),
        (np.ones(3), np.ones((2, 3)), r"a: expected shape \(\.\.\., n, d\), got \(3,\)"),
        (np.full((1, 2), np.nan), np.ones((1, 2)), "a: expected finite"),
        (np.ones((1, 2)), [["x", "y"]], "b: expected real numbers"),
    ],
)
def test_bad_vectors_are_refused(a, b, message):
    with pytest.raises(ValueError, match=message):
        cosine_similarity(a, b)
