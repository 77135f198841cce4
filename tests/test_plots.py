"""The figures: what they draw, what they refuse, whether their numbers can be read."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from attn import plots

TOKENS = ["The", "sky", "is"]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_a_heat_map_writes_every_number_and_token():
    values = np.arange(9).reshape(3, 3) / 8
    ax = plots.heatmap(values, TOKENS, TOKENS, title="weights")
    assert labels(ax) == [f"{v:.2f}" for v in values.ravel()]
    assert [t.get_text() for t in ax.get_xticklabels()] == TOKENS
    assert [t.get_text() for t in ax.get_yticklabels()] == TOKENS
    assert ax.get_title(loc="left") or ax.get_title()


def test_rows_are_drawn_as_rows():
    ax = plots.heatmap([[1.0, 0.0]], ["query"], ["a", "b"])
    assert ax.images[0].get_array().shape == (1, 2)


def test_zero_has_the_colour_of_the_page_with_and_without_negatives():
    for values in ([[0.0, 2.0]], [[0.0, -2.0]], [[0.0, 0.0]]):
        image = plots.heatmap(values, ["q"], ["a", "b"]).images[0]
        np.testing.assert_allclose(image.to_rgba(0.0)[:3], 1.0, atol=0.01)


def test_minus_signs_are_minus_signs():
    assert labels(plots.heatmap([[-0.5]], ["q"], ["k"])) == ["−0.50"]


def luminance(colour):
    """Return the relative luminance of WCAG 2 of an sRGB colour, each channel from 0 to 1."""
    linear = np.where(
        np.asarray(colour) <= 0.04045,
        np.asarray(colour) / 12.92,
        ((np.asarray(colour) + 0.055) / 1.055) ** 2.4,
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


def inverted(colour):
    """Return a colour as the site's dark scheme shows it: inverted, its hue turned back."""
    turned = np.array(  # hue-rotate(180deg), from the Filter Effects specification
        [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]
    )
    return np.clip(turned @ (1 - np.asarray(colour)), 0, 1)


@pytest.mark.parametrize("low", [0.0, -1.0])
@pytest.mark.parametrize("seen", [np.asarray, inverted])
def test_every_number_can_be_read_on_its_cell_in_both_schemes(low, seen):
    values = np.linspace(low, 1.0, 101)[None]
    ax = plots.heatmap(values, ["q"], [str(i) for i in range(101)])
    for text, value in zip(ax.texts, values.ravel(), strict=True):
        ground = luminance(seen(ax.images[0].to_rgba(value)[:3]))
        ink = luminance(seen(plt.matplotlib.colors.to_rgb(text.get_color())))
        contrast = (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05)
        assert contrast >= 4.5, (value, contrast)


def test_curves_are_named_at_their_ends():
    _, ax = plt.subplots()
    plots.curves(
        [1, 2, 4], {"a": [1, 2, 3], "b": [3, 2, 1]}, ax=ax, title="t", xlabel="n", log="xy"
    )
    assert labels(ax) == ["a", "b"]
    assert [text.xy for text in ax.texts] == [(4, 3), (4, 1)]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "4"]


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3,)])
def test_a_matrix_that_does_not_fit_its_tokens_is_refused(shape):
    with pytest.raises(ValueError, match=r"values: expected shape \(3, 3\) .* got "):
        plots.heatmap(np.zeros(shape), TOKENS, TOKENS)
