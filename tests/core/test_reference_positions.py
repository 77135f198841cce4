"""attn.reference.positions against the formulas, complex numbers and published slopes."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn.reference import alibi_bias, alibi_slopes, rotary, sinusoidal_positions
from tests.core.helpers import assert_close_arrays as close
from tests.core.helpers import random_array as random
from tests.refusals import refusals

even_sizes = st.integers(1, 20).map(lambda half: 2 * half)
bases = st.sampled_from([1.0, 2, 100.0, 10000.0, 5e5])

# sinusoidal


@given(n_positions=st.integers(0, 12), d_model=even_sizes, base=bases)
def test_sinusoids_equal_the_formula(n_positions, d_model, base):
    table = sinusoidal_positions(n_positions, d_model, base)
    assert table.shape == (n_positions, d_model) and table.dtype == np.float64
    for position in range(n_positions):
        for i in range(d_model // 2):
            angle = position / base ** (2 * i / d_model)
            assert table[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-12)
            assert table[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-12)


def test_position_3_by_hand():
    row = sinusoidal_positions(4, 512)[3]
    close(row[:2], np.array([math.sin(3), math.cos(3)]))
    # 2i = 256 is half of 512, and the root of 10000 is 100.
    close(row[256:258], np.array([math.sin(0.03), math.cos(0.03)]))
    # 2i = 128 is a quarter of 512, and the fourth root of 10000 is 10.
    close(row[128:130], np.array([math.sin(0.3), math.cos(0.3)]))
    close(sinusoidal_positions(4, 4)[3], np.array([math.sin(3), math.cos(3), row[256], row[257]]))


# rotary


@given(
    batch=st.sampled_from([(), (2,), (2, 3), (0,)]),
    seq_len=st.integers(0, 6),
    d_k=even_sizes,
    base=bases,
    data=st.data(),
)
def test_rotary_multiplies_complex_numbers(batch, seq_len, d_k, base, data):
    x = random(*batch, seq_len, d_k)
    shape = data.draw(st.sampled_from([(), (1,), (seq_len,), (*batch, 1), (*batch, seq_len)]))
    positions = data.draw(st.sampled_from([None, 100 * random(*shape)]))
    turned = rotary(x, positions, base)
    assert turned.shape == x.shape
    places = np.arange(seq_len) if positions is None else positions
    places = np.broadcast_to(places, x.shape[:-1])
    for where in np.ndindex(x.shape[:-1]):
        for i in range(d_k // 2):
            angle = places[where] / base ** (2 * i / d_k)
            number = complex(*x[where][2 * i : 2 * i + 2]) * cmath.exp(1j * angle)
            close(turned[where][2 * i : 2 * i + 2], np.array([number.real, number.imag]), 1e-10)


def test_rotary_keeps_the_dtype_and_the_precision_of_positions():
    """float16 cannot distinguish position 4097 from 4096."""
    x = np.array([[1, 0], [1, 0]])
    for dtype in (np.float16, np.float32, np.float64):
        turned = rotary(x.astype(dtype), [4096, 4097])
        assert turned.dtype == dtype
        expected = [[math.cos(p), math.sin(p)] for p in (4096, 4097)]
        close(turned.astype(np.float64), np.array(expected), 1e-3)
    assert rotary(x).dtype == np.float64
    long = rotary(np.tile(np.float16([1, 0]), (4098, 1)))
    close(long[4097].astype(np.float64), np.array(expected[1]), 1e-3)


def test_positions_may_be_negative_and_fractions():
    close(rotary([[1.0, 0.0]], [-math.pi / 4]), np.array([[0.5**0.5, -(0.5**0.5)]]))


# ALiBi


@pytest.mark.parametrize(
    "n_heads, exponents",
    [
        (3, [4, 8, 2]),
        (5, [2, 4, 6, 8, 1]),
        (6, [2, 4, 6, 8, 1, 3]),
        (7, [2, 4, 6, 8, 1, 3, 5]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_slopes_of_other_numbers_fill_the_gaps(n_heads, exponents):
    close(alibi_slopes(n_heads), 2.0 ** -np.array(exponents))


def test_slopes_equal_the_definition_by_recursion():
    def recursive(n):
        if n & (n - 1) == 0:
            return [2 ** (-8 * h / n) for h in range(1, n + 1)]
        below = 1
        while 2 * below <= n:
            below *= 2
        return recursive(below) + recursive(2 * below)[::2][: n - below]

    for n_heads in range(1, 40):
        close(alibi_slopes(n_heads), np.array(recursive(n_heads)))


@given(n_heads=st.integers(1, 5), tgt_len=st.integers(0, 6), src_len=st.integers(0, 6))
def test_bias_is_minus_slope_times_distance(n_heads, tgt_len, src_len):
    bias = alibi_bias(n_heads, tgt_len, src_len)
    assert bias.shape == (n_heads, tgt_len, src_len)
    for h, slope in enumerate(alibi_slopes(n_heads)):
        for i in range(tgt_len):
            for j in range(src_len):
                back_i, back_j = tgt_len - 1 - i, src_len - 1 - j
                assert bias[h, i, j] == -slope * abs(back_i - back_j)


# errors


test_what_is_refused = refusals(
    (lambda: sinusoidal_positions(-1, 4), "n_positions: expected at least 0, got -1"),
    (lambda: sinusoidal_positions(2.0, 4), "n_positions: expected an integer, got 2.0"),
    (lambda: sinusoidal_positions(2, 0), "d_model: expected at least 2, got 0"),
    (lambda: sinusoidal_positions(2, 1), "d_model: expected at least 2, got 1"),
    (lambda: sinusoidal_positions(2, 5), "d_model: expected an even number, got 5"),
    (lambda: sinusoidal_positions(2, 4, 0.5), "base: expected a number of at least 1, got 0.5"),
    (lambda: sinusoidal_positions(2, 4, math.inf), "base: .* of at least 1, got inf"),
    (lambda: sinusoidal_positions(2, 4, math.nan), "base: .* of at least 1, got nan"),
    (lambda: rotary(np.ones(4)), r"x: expected shape \(..., seq_len, d_k\), got \(4,\)"),
    (lambda: rotary(np.ones((2, 3))), "d_k: expected an even number, got 3"),
    (lambda: rotary(np.ones((2, 0))), "d_k: expected at least 2, got 0"),
    (lambda: rotary([[1.0, math.nan]]), "x: expected finite numbers, got 1 NaN or infinite"),
    (lambda: rotary([[1.0, 2.0]], [math.inf]), "positions: expected finite numbers, got 1 .*"),
    (lambda: rotary([[1.0, 2.0]], [0], -1), "base: expected a number of at least 1, got -1"),
    (
        lambda: rotary(np.ones((3, 2)), [0, 1]),
        r"positions: expected a shape that broadcasts to \(3,\), got \(2,\)",
    ),
    (
        lambda: rotary(np.ones((3, 2)), np.ones((4, 3))),
        r"positions: expected a shape that broadcasts to \(3,\), got \(4, 3\)",
    ),
    (lambda: alibi_slopes(0), "n_heads: expected at least 1, got 0"),
    (lambda: alibi_slopes(2.5), "n_heads: expected an integer, got 2.5"),
    (lambda: alibi_bias(0, 2), "n_heads: expected at least 1, got 0"),
    (lambda: alibi_bias(2, -1), "tgt_len: expected at least 0, got -1"),
    (lambda: alibi_bias(2, 1, -3), "src_len: expected at least 0, got -3"),
)
