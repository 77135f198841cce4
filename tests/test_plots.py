"""The figures: what they draw and describe, what they refuse, and whether all texts are legible."""

import builtins
import re
from itertools import combinations
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import same_color, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from attn_course import plots, set_language
from attn_course.palette import DARK, LIGHT, RAMP_IN_DARK, in_dark
from attn_course.plots.lines import spread
from attn_course.plots.vector import svg
from tests.contrast import contrast, luminance

SKY = ["The", "sky", "is"]
SENTENCES = {
    2: ["El", "cielo"],
    6: ["El", "gato", "camina", "en", "la", "calle"],
    12: [
        "Los",
        "investigadores",
        "desarrollaron",
        "extraordinariamente",
        "rápido",
        "unos",
        "ordenadores",
        "que",
        "traducen",
        "automáticamente",
        "muchas",
        "conversaciones",
    ],
}
# Drawing hundreds of numbers takes a second.
each_length = pytest.mark.parametrize("n", [2, 6, pytest.param(12, marks=pytest.mark.slow)])
PIXEL = 1.0


@pytest.fixture(autouse=True)
def course_style():
    """Set the course's style and Spanish, and restore both; close the figures of other tests."""
    plt.close("all")
    with plt.rc_context():
        plots.use_style()
        yield
    plt.close("all")
    set_language("es")


def written(texts):
    return [text.get_text() for text in texts]


def tokens(ax):
    return written(ax.get_yticklabels()), written(ax.get_xticklabels())


def weights_of(*shape):
    scores = np.random.default_rng(shape).normal(size=shape)
    return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)


def assert_all_can_be_read(figure, monkeypatch):
    """Assert that every text is inside the figure, and overlaps neither texts nor cells."""
    drawn = {}
    draw = Text.draw

    def recorded(self, renderer):
        if self.get_visible() and self.get_text():
            drawn[self] = self.get_window_extent(renderer)
        draw(self, renderer)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", recorded)
        figure.canvas.draw()
    inside = {text for ax in figure.axes for text in ax.texts}
    assert len(drawn) > 3
    for text, box in drawn.items():
        assert box.x0 >= -PIXEL and box.x1 <= figure.bbox.x1 + PIXEL, text
        assert box.y0 >= -PIXEL and box.y1 <= figure.bbox.y1 + PIXEL, text
        if text not in inside:
            for ax in figure.axes:
                assert not overlap(box, ax.get_window_extent()), text
    for (a, box_a), (b, box_b) in combinations(drawn.items(), 2):
        assert not overlap(box_a, box_b), (a, b)


def overlap(a, b):
    shared = Bbox.intersection(a, b)
    return shared is not None and min(shared.width, shared.height) > PIXEL


def inches(ax):
    ax.figure.canvas.draw()
    return ax.get_window_extent().size / ax.figure.dpi


def darkened(colour):
    """Return a colour as the site's dark scheme shows it."""
    return np.array(to_rgb(in_dark(to_hex(np.asarray(colour)))))


in_both_schemes = pytest.mark.parametrize("seen", [np.asarray, darkened])
in_both_languages = pytest.mark.parametrize("language", ["es", "en"])


# style


def test_the_style_is_that_of_the_widgets():
    expected = {
        "figure.figsize": [7.2, 3.2],
        "figure.dpi": 100,
        "figure.constrained_layout.use": True,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": False,
        "font.size": 10,
        "lines.linewidth": 2,
        "lines.markersize": 5,
        "legend.frameon": False,
    }
    for colour, names in {
        "surface": ("figure.facecolor", "savefig.facecolor", "axes.facecolor"),
        "ink": (
            "axes.labelcolor",
            "axes.titlecolor",
            "text.color",
            "xtick.labelcolor",
            "ytick.labelcolor",
        ),
        "muted": ("axes.edgecolor", "xtick.color", "ytick.color"),
    }.items():
        expected |= dict.fromkeys(names, LIGHT[colour])
    plt.rcParams.update({"axes.grid": True, "axes.spines.top": True, "axes.spines.right": True})
    plots.use_style()
    assert {name: plt.rcParams[name] for name in expected} == expected


def test_series_have_the_widgets_colours_in_this_order():
    assert plots.SERIES == [LIGHT[name] for name in ("query", "key", "value", "extra", "muted")]
    assert plt.rcParams["axes.prop_cycle"].by_key()["color"] == plots.SERIES


def test_notebooks_get_sharp_figures_and_plain_python_none(monkeypatch):
    asked, drawn = [], {}
    monkeypatch.setattr(
        "matplotlib_inline.backend_inline.set_matplotlib_formats",
        lambda *kinds: asked.extend(kinds),
    )
    shell = SimpleNamespace(
        display_formatter=SimpleNamespace(
            formatters={"image/svg+xml": SimpleNamespace(for_type=drawn.__setitem__)}
        )
    )
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    plots.use_style()
    assert asked == ["svg", "png"] and drawn == {Figure: svg}

    real = builtins.__import__

    def without_notebooks(name, *rest):
        if name.startswith("matplotlib_inline"):
            raise ImportError(name)
        return real(name, *rest)

    plt.rcParams["font.size"] = 3
    monkeypatch.setattr(builtins, "__import__", without_notebooks)
    plots.use_style()
    assert asked == ["svg", "png"] and plt.rcParams["font.size"] == 10


# as SVG


def words(drawing):
    return sorted(re.findall(r">([^<>]*[^<>\s][^<>]*)</text>", drawing))


def both(drawing):
    """Return the wide drawing and the narrow one inside it."""
    wide, inside, narrow = drawing.partition("<metadata>")
    assert inside
    return wide, narrow


def box(drawing):
    return tuple(map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', drawing).groups()))


def two_panels(**options):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), **options)
    plots.heatmap(weights_of(2, 2), ["extraordinario", "b"], ["larguísimamente", "otra"], ax=left)
    plots.curves([1, 2], {"a": [1, 2], "b": [1, 2]}, xlabel="x", ax=right, title="$d_k$")
    return figure


def test_drawing_a_figure_is_reproducible_and_does_not_change_it():
    figure = two_panels()
    size = figure.get_size_inches().copy()
    first = svg(figure)
    assert svg(figure) == first == svg(two_panels())
    np.testing.assert_array_equal(figure.get_size_inches(), size)
    assert not re.search(r"<dc:date>|\d\.\d{3}|DejaVu Sans'", first.replace("base64", ""))


def test_on_a_phone_panels_are_stacked_with_the_same_words():
    wide, narrow = map(box, both(svg(two_panels())))
    assert wide[0] > 600 and narrow[0] < 300 and narrow[1] > 1.8 * wide[1]
    wide, narrow = both(svg(two_panels()))
    assert words(wide) == words(narrow)


def test_stacked_panels_have_their_own_numbers():
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
    for ax in axes:
        plots.curves([1, 2], {"a": [100.0, 300.0]}, xlabel="x", ax=ax)
    wide, narrow = both(svg(figure))
    assert words(wide).count("200") == 1 and words(narrow).count("200") == 2
    assert svg(figure).partition("<metadata>")[0] == wide  # the shared numbers are hidden again


def test_on_a_phone_labels_that_would_touch_are_rotated():
    names = ["Casablanca", "Titanic", "Amélie", "Rocky", "Alien", "Rambo"]
    _, ax = plt.subplots(figsize=(6, 2.9))
    plots.heatmap(weights_of(2, 6), ["a", "b"], names, ax=ax)
    upright = r"rotate\(-90\)[^>]*>(\w+)<"
    wide, narrow = both(svg(ax.figure))
    assert re.findall(upright, wide) == [] and re.findall(upright, narrow) == names
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {0}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.heatmap(weights_of(2, 2), "ab", "ab").figure,  # already narrow
        lambda: plots.head_grid(weights_of(8, 6, 6), "abcdef", "abcdef"),  # several rows of panels
        lambda: plt.figure(figsize=(9, 3)),  # empty
    ],
)
def test_figures_that_need_no_narrow_version_are_drawn_once(draw):
    assert "<metadata>" not in svg(draw())


# the dark scheme


def test_the_ramps_end_in_the_dark_schemes_own_colours():
    for light, dark in [("#ffffff", "page"), *((LIGHT[name], name) for name in ("weight", "key"))]:
        turned = np.array(RAMP_IN_DARK) @ [*to_rgb(light), 1]
        np.testing.assert_allclose(turned, to_rgb(DARK[dark]), atol=0.01)


def test_colours_equal_in_the_light_are_equal_in_the_dark():
    for name, other in combinations(LIGHT, 2):
        if LIGHT[name] == LIGHT[other]:
            assert DARK[name] == DARK[other]


def test_greys_go_from_page_to_ink():
    shades = [luminance(darkened([white] * 3)) for white in np.linspace(0, 1, 9)]
    assert shades == sorted(shades, reverse=True)
    assert in_dark("#000000") == DARK["ink"] and in_dark("#ffffff") == DARK["page"]


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.heatmap([[1.0]], "q", "k").figure,
        lambda: plots.head_grid([[[1.0]]], "q", "k"),
        lambda: plots.mask_map([[True]], "q", "k").figure,
        lambda: plots.position_map([[1.0]]).figure,
        lambda: plots.curves([1], {"a": [1]}, xlabel="x").figure,
    ],
)
def test_figures_use_constrained_layout_without_the_style(draw):
    with plt.rc_context({"figure.constrained_layout.use": False}):
        assert isinstance(draw().get_layout_engine(), ConstrainedLayoutEngine)


# heat maps


def test_a_heat_map_writes_every_number_and_token():
    values = np.arange(9).reshape(3, 3) / 8
    ax = plots.heatmap(values, SKY, ["a", "b", "c"], title="weights")
    assert written(ax.texts) == [f"{v:.2f}" for v in values.ravel()]
    assert [text.get_position() for text in ax.texts] == [
        (j, i) for i in range(3) for j in range(3)
    ]
    assert tokens(ax) == (SKY, ["a", "b", "c"])
    assert ax.get_title(loc="left") == "weights"
    assert plots.heatmap(values, SKY, SKY).get_title(loc="left") == ""
    np.testing.assert_array_equal(ax.images[0].get_array(), values)


def test_queries_are_down_the_side_and_keys_along_the_top_in_their_colours():
    ax = plots.heatmap(weights_of(2, 3), SKY[:2], SKY)
    ax.figure.canvas.draw()
    top, side = ax.get_xticklabels(), ax.get_yticklabels()
    assert all(same_color(label.get_color(), LIGHT["key"]) for label in top)
    assert all(same_color(label.get_color(), LIGHT["query"]) for label in side)
    assert all(label.get_window_extent().y0 > ax.bbox.y1 for label in top)
    assert side[0].get_window_extent().y0 > side[1].get_window_extent().y1
    assert not any(spine.get_visible() for spine in ax.spines.values())
    ticks = [*ax.xaxis.get_major_ticks(), *ax.yaxis.get_major_ticks()]
    assert all(tick.tick1line.get_markersize() == 0 for tick in ticks)


@pytest.mark.parametrize("decimals, number", [(0, "1"), (1, "1.2"), (3, "1.235")])
def test_decimals(decimals, number):
    assert written(plots.heatmap([[1.2346]], "q", "k", decimals=decimals).texts) == [number]


def test_minus_signs_are_minus_signs_and_zero_has_none():
    assert written(plots.heatmap([[-0.5, -0.001]], "q", "ab").texts) == ["−0.50", "0.00"]


@pytest.mark.parametrize(
    "values, vmax, limits",
    [
        ([[0.0, 2.0]], None, (0, 2)),
        ([[0.5, 0.25]], None, (0, 0.5)),
        ([[0.5, 0.25]], 1, (0, 1)),
        ([[0.5, -2.0]], None, (-2, 2)),
        ([[0.5, -2.0]], 4, (-4, 4)),
        ([[0.0, 0.0]], None, (0, 1)),
        ([[3.0, -np.inf]], None, (0, 3)),
        ([[-3.0, -np.inf]], None, (-3, 3)),
        ([[-np.inf, -np.inf]], None, (0, 1)),
    ],
)
def test_the_scale_starts_at_zero_or_is_symmetric(values, vmax, limits):
    image = plots.heatmap(values, "q", "ab", vmax=vmax).images[0]
    assert image.get_clim() == limits
    np.testing.assert_allclose(image.to_rgba(0.0), 1.0, atol=0.01)
    shades = [luminance(image.to_rgba(value)[:3]) for value in np.linspace(0, limits[1], 9)]
    assert shades == sorted(shades, reverse=True) and shades[-1] < 0.5
    red, _, blue, _ = image.to_rgba(limits[1])
    assert blue > red
    if limits[0] < 0:
        red, _, blue, _ = image.to_rgba(limits[0])
        assert red > blue


def test_a_masked_score_is_hatched_and_says_minus_infinity():
    ax = plots.heatmap([[1.5, -np.inf]], ["q"], ["a", "b"])
    assert written(ax.texts) == ["1.50", "−∞"]
    assert ax.images[0].get_array().mask.tolist() == [[False, True]]
    assert ax.images[0].to_rgba(ax.images[0].get_array())[0, 1, 3] == 0  # the background shows
    assert ax.patch.get_hatch() == "////" and same_color(ax.patch.get_edgecolor(), LIGHT["muted"])
    number, masked = (text.get_bbox_patch() for text in ax.texts)
    assert number is None and same_color(masked.get_facecolor(), LIGHT["surface"])
    assert masked.get_linewidth() == 0
    assert masked.get_boxstyle().pad * 9 == pytest.approx(1, abs=0.05)
    assert plots.heatmap([[1.5, 0.0]], ["q"], ["a", "b"]).patch.get_hatch() is None


@pytest.mark.parametrize("low", [0.0, -1.0])
@in_both_schemes
def test_every_number_can_be_read_on_its_cell_in_both_schemes(low, seen):
    values = np.linspace(low, 1.0, 41)[None]
    ax = plots.heatmap(values, ["q"], [str(i) for i in range(41)])
    for text, value in zip(ax.texts, values.ravel(), strict=True):
        ground = seen(ax.images[0].to_rgba(value)[:3])
        assert contrast(ground, seen(to_rgb(text.get_color()))) >= 4.5, value


@pytest.mark.parametrize(
    "n, scale", [(2, 1), (6, 1), (6, -2e4), pytest.param(12, 1, marks=pytest.mark.slow)]
)
def test_every_text_of_a_heat_map_can_be_read(n, scale, monkeypatch):
    words = SENTENCES[n]
    ax = plots.heatmap(scale * weights_of(n, n), words, words, title="pesos de atención, cabeza 1")
    assert_all_can_be_read(ax.figure, monkeypatch)
    for text in ax.texts:
        assert text.get_window_extent().width < ax.bbox.width / n - 4 * PIXEL


def test_cells_have_one_size_and_grow_with_their_numbers():
    np.testing.assert_allclose(
        inches(plots.heatmap(weights_of(3, 4), "abc", "abcd")), [4 * 0.6, 3 * 0.34], atol=0.04
    )
    wide = plots.heatmap(np.full((1, 4), -123456.78), "a", "abcd")
    number = wide.texts[0].get_window_extent().width / wide.figure.dpi
    np.testing.assert_allclose(inches(wide), [4 * (number + 0.12), 0.34], atol=0.04)


def test_numbers_and_title_are_set_as_in_the_widgets():
    ax = plots.heatmap([[1.0]], "q", "k", title="t")
    (number,) = ax.texts
    assert (number.get_fontsize(), number.get_ha(), number.get_va()) == (9, "center", "center")
    plain = plots.heatmap([[1.0]], "q", "k", title="t", ax=plt.figure().add_subplot())
    for drawn in (ax, plain):
        drawn.figure.canvas.draw()
        (label,) = drawn.get_xticklabels()
        above = drawn._left_title.get_window_extent().y0 - label.get_window_extent().y1
        assert 6 < above / drawn.figure.dpi * 72 < 16
    assert plain.images and plain.figure is not ax.figure


@pytest.mark.slow
@pytest.mark.parametrize("words, upright", [(["uno", "dos"], 0), (["palabra", "larguísima"], 90)])
def test_key_labels_are_rotated_only_where_they_would_touch(words, upright):
    own = plots.heatmap(weights_of(2, 2), words, words)
    assert {label.get_rotation() for label in own.get_xticklabels()} == {upright}
    _, wide = plt.subplots(figsize=(9, 3))
    plots.heatmap(weights_of(2, 2), words, words, ax=wide)
    assert {label.get_rotation() for label in wide.get_xticklabels()} == {0}
    _, narrow = plt.subplots(1, 12, figsize=(6, 3))
    plots.heatmap(weights_of(2, 2), words, words, ax=narrow[0])
    assert {label.get_rotation() for label in narrow[0].get_xticklabels()} == {90}


def test_labels_are_rotated_where_the_gap_is_below_five_points():
    """Two labels on axes that are just wide enough, or one pixel too narrow."""
    figure, ax = plt.subplots(figsize=(8, 3))
    sizes = [ax.text(0, 0, word).get_window_extent().width for word in ("palabra", "larguísima")]
    needed = (sum(sizes) / 2 + 0.07 * figure.dpi) * 2
    for change, upright in ((1, 0), (-1, 90)):
        ax = figure.add_axes([0.1, 0.1, (needed + change) / figure.bbox.width, 0.8])
        plots.heatmap(weights_of(1, 2), ["q"], ["palabra", "larguísima"], ax=ax)
        assert {label.get_rotation() for label in ax.get_xticklabels()} == {upright}


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3,), (1, 3, 3)])
def test_a_matrix_that_does_not_fit_its_tokens_is_refused(shape):
    expected = r"^values: expected shape \(3, 3\) for these tokens, got \(\d.*\)$"
    with pytest.raises(ValueError, match=expected):
        plots.heatmap(np.zeros(shape), SKY, SKY)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"vmax": 0}, "vmax: expected a number above 0, got 0"),
        ({"vmax": -1.5}, "vmax: expected a number above 0, got -1.5"),
        ({"vmax": np.nan}, "vmax: expected a number above 0, got nan"),
        ({"vmax": np.inf}, "vmax: expected a number above 0, got inf"),
        ({"decimals": -1}, "decimals: expected an integer of at least 0, got -1"),
        ({"decimals": 2.0}, r"decimals: expected an integer of at least 0, got 2\.0"),
    ],
)
def test_a_heat_map_refuses_options(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        plots.heatmap([[1.0]], ["q"], ["k"], **options)
    assert not plt.get_fignums()


# what every figure takes and refuses

DRAWINGS = {
    "values": lambda v: plots.heatmap(v, "ab", "ab"),
    "weights": lambda v: plots.head_grid([v, v], "ab", "ab"),
    "encodings": plots.position_map,
    "x": lambda v: plots.curves(np.ravel(v), {"a": [1, 2, 3, 4]}, xlabel="x"),
    "series 'loss'": lambda v: plots.curves([1, 2, 3, 4], {"loss": np.ravel(v)}, xlabel="x"),
}


@pytest.mark.parametrize("name", DRAWINGS)
@pytest.mark.parametrize("bad", [[np.nan], [np.inf, np.nan], [np.inf], [np.nan, -np.inf]])
def test_nan_and_infinity_are_refused(name, bad):
    values = np.full((2, 2), 0.5)
    values.flat[: len(bad)] = bad
    also = ", or -inf where masked" if name == "values" else ""
    count = 1 if name == "values" and -np.inf in bad else len(bad)  # -inf is a masked score
    got = count * (2 if name == "weights" else 1)
    with pytest.raises(
        ValueError, match=f"^{name}: expected finite numbers{also}, got {got} NaN or infinite$"
    ):
        DRAWINGS[name](values)


@pytest.mark.parametrize("name", ["values", "encodings"])
@pytest.mark.parametrize("bad, got", [("abc", "str"), ([[1.0], [1.0, 2.0]], "list"), (print, "b")])
def test_arrays_that_are_not_numeric_are_refused(name, bad, got):
    with pytest.raises(ValueError, match=f"^{name}: expected an array of numbers, got {got}"):
        DRAWINGS[name](bad)


@pytest.mark.parametrize(
    "draw, message",
    [
        (lambda: plots.heatmap(np.ones((0, 0)), [], []), r"values: .* number, got shape \(0, 0\)"),
        (lambda: plots.head_grid(np.ones((0, 2, 2)), "ab", "ab"), r"weights: .*\(0, 2, 2\)"),
        (lambda: plots.position_map([]), r"encodings: .* got shape \(0,\)"),
        (lambda: plots.curves([], {"a": []}, xlabel="x"), r"x: .* got shape \(0,\)"),
    ],
)
def test_empty_arrays_are_refused(draw, message):
    with pytest.raises(ValueError, match=message) as caught:
        draw()
    assert ": expected at least one number, got shape (" in str(caught.value)


def test_tensors_that_require_gradients_are_drawn():
    tensor = torch.tensor([[0.25, 0.75]], requires_grad=True)
    assert written(plots.heatmap(tensor, ["q"], ["a", "b"]).texts) == ["0.25", "0.75"]
    assert plots.head_grid(tensor[None], ["q"], ["a", "b"]).axes[0].images
    assert plots.position_map(tensor).images
    assert plots.mask_map(tensor > 0.5, ["q"], ["a", "b"]).images
    line = plots.curves(tensor[0], {"a": tensor[0] * 2}, xlabel="x").lines[0]
    assert line.get_xydata().tolist() == [[0.25, 0.5], [0.75, 1.5]]
    assert tensor.requires_grad


def test_a_tensor_is_brought_to_main_memory():
    class OnDevice:
        def detach(self):
            return self

        def cpu(self):
            return np.array([[True, False]])

    assert plots.mask_map(OnDevice(), ["q"], ["a", "b"]).images
    assert written(plots.heatmap(OnDevice(), ["q"], ["a", "b"]).texts) == ["1.00", "0.00"]


# heads


def panels(figure):
    return [ax for ax in figure.axes if ax.images]


def places(figure):
    """Return the row and column of the grid for each panel."""
    specs = [ax.get_subplotspec() for ax in panels(figure)]
    return [(spec.rowspan.start, spec.colspan.start) for spec in specs]


@pytest.mark.slow
@pytest.mark.parametrize(
    "n_heads, lines",
    [(1, [1]), (2, [2]), (4, [4]), (5, [3, 2]), (7, [4, 3]), (8, [4, 4]), (9, [3, 3, 3])],
)
def test_heads_fill_rows_of_up_to_four(n_heads, lines):
    weights = weights_of(n_heads, 2, 3)
    figure = plots.head_grid(weights, SKY[:2], SKY)
    assert places(figure) == [(i, j) for i, n in enumerate(lines) for j in range(n)]
    assert [ax.get_title(loc="left") for ax in panels(figure)] == [
        f"cabeza {i}" for i in range(1, n_heads + 1)
    ]
    for ax, matrix in zip(panels(figure), weights, strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), matrix)
        assert ax.get_ylabel() == ""
    assert len(figure.axes) == n_heads + 1  # and of the scale


@in_both_languages
def test_layers_are_rows_and_heads_columns(language):
    set_language(language)
    weights = weights_of(2, 5, 2, 2)
    figure = plots.head_grid(weights, SKY[:2], SKY[:2])
    assert places(figure) == [(i, j) for i in range(2) for j in range(5)]
    grid = np.reshape(panels(figure), (2, 5))
    head, layer = {"es": ("cabeza", "capa"), "en": ("head", "layer")}[language]
    for (i, j), ax in np.ndenumerate(grid):
        np.testing.assert_array_equal(ax.images[0].get_array(), weights[i, j])
        assert ax.get_title(loc="left") == (f"{head} {j + 1}" if i == 0 else "")
        assert ax.get_ylabel() == (f"{layer} {i + 1}" if j == 0 else "")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(8,), (2, 3)])
def test_tokens_stand_on_the_outer_axes_only(shape):
    figure = plots.head_grid(weights_of(*shape, 2, 3), SKY[:2], SKY)
    figure.canvas.draw()
    for ax, (line, column) in zip(panels(figure), places(figure), strict=True):
        assert tokens(ax) == (SKY[:2] if column == 0 else [], SKY if line == 0 else [])
        labels = [*ax.get_xticklabels(), *ax.get_yticklabels()]
        assert {label.get_fontsize() for label in labels} <= {9}


@in_both_languages
def test_heads_share_one_scale_from_zero_to_one(language):
    set_language(language)
    figure = plots.head_grid(weights_of(3, 2, 2) / 2, "ab", "ab")
    assert {ax.images[0].get_clim() for ax in panels(figure)} == {(0, 1)}
    image = panels(figure)[0].images[0]
    assert same_color(image.to_rgba(0.0), LIGHT["surface"])
    assert same_color(image.to_rgba(1.0), LIGHT["weight"])
    (scale,) = set(figure.axes) - set(panels(figure))
    assert scale.get_ylabel() == {"es": "peso", "en": "weight"}[language]
    assert written(scale.get_yticklabels()) == ["0", "1"]
    assert scale.get_yticks().tolist() == [0, 1]
    assert not scale.spines["outline"].get_visible()
    assert all(tick.tick2line.get_markersize() == 0 for tick in scale.yaxis.get_major_ticks())


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1,), (7,), (2, 5)])
def test_the_cells_of_a_head_have_their_size_and_the_scale_its_thickness(shape):
    figure = plots.head_grid(weights_of(*shape, 6, 6), SENTENCES[6], SENTENCES[6])
    figure.canvas.draw()
    for ax in panels(figure):
        size = ax.bbox.size / figure.dpi
        np.testing.assert_allclose(size, [6 * 0.18, 6 * 0.18], atol=0.05)
        for spine in ax.spines.values():
            assert spine.get_visible() and same_color(spine.get_edgecolor(), LIGHT["line"])
    scale = figure.axes[-1]
    assert scale.bbox.width / figure.dpi == pytest.approx(0.12, abs=0.02)
    right = max(ax.bbox.x1 for ax in panels(figure))
    assert 4 < scale.bbox.x0 - right < 9


def test_a_head_of_one_token_has_room_for_its_names():
    figure = plots.head_grid(weights_of(2, 3, 1, 1), "a", "b")
    figure.canvas.draw()
    first = panels(figure)[0]
    title, layer = first._left_title.get_window_extent(), first.yaxis.label.get_window_extent()
    assert first.bbox.width == pytest.approx(title.width + 0.05 * figure.dpi, abs=6 * PIXEL)
    assert first.bbox.height == pytest.approx(layer.height + 0.05 * figure.dpi, abs=6 * PIXEL)


@each_length
@pytest.mark.parametrize("shape", [(1,), pytest.param((8,), marks=pytest.mark.slow), (2, 2)])
def test_every_text_of_a_head_grid_can_be_read(n, shape, monkeypatch):
    words = SENTENCES[n]
    assert_all_can_be_read(plots.head_grid(weights_of(*shape, n, n), words, words), monkeypatch)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 2), (2, 2, 3), (1, 1, 1, 3, 3), (3,)])
def test_weights_of_another_shape_are_refused(shape):
    expected = (
        r"^weights: expected shape \(\[n_layers,\] n_heads, 3, 3\) for these tokens, got \(\d.*\)$"
    )
    with pytest.raises(ValueError, match=expected):
        plots.head_grid(np.zeros(shape), SKY, SKY)


@pytest.mark.parametrize("bad, got", [(-0.25, "-0.25"), (1.00001, "1"), (7.123456, "7.123")])
def test_scores_are_not_weights(bad, got):
    weights = np.full((2, 1, 2), 0.5)
    weights[1, 0, 1] = bad
    with pytest.raises(
        ValueError, match=rf"^weights: expected numbers between 0 and 1, got {got}$"
    ):
        plots.head_grid(weights, ["q"], ["a", "b"])
    weights[1, 0] = 0, 1 + 1e-7  # no weights, and rows that sum to 1 up to float32's rounding
    plots.head_grid(weights, ["q"], ["a", "b"])


# masks

MASK = np.array([[False, False, False], [True, True, False], [True, True, True]])


def test_a_mask_is_filled_where_a_query_may_attend_and_hatched_elsewhere():
    """True = may attend; a masked cell is transparent, so the hatched background shows."""
    ax = plots.mask_map(MASK, SKY, ["a", "b", "c"], title="causal")
    image = ax.images[0]
    alpha = image.to_rgba(image.get_array())[..., 3]
    np.testing.assert_array_equal(alpha == 1, MASK)
    np.testing.assert_array_equal(alpha == 0, ~MASK)
    assert ax.patch.get_hatch() == "////" and same_color(ax.patch.get_edgecolor(), LIGHT["muted"])
    assert same_color(ax.patch.get_facecolor(), LIGHT["surface"])
    assert tokens(ax) == (SKY, ["a", "b", "c"])
    assert ax.get_title(loc="left") == "causal"


@in_both_schemes
def test_filled_cells_have_contrast_in_both_schemes(seen):
    ax = plots.mask_map(MASK, SKY, SKY)
    filled = seen(ax.images[0].to_rgba(ax.images[0].get_array())[2, 0, :3])
    assert contrast(filled, seen([1, 1, 1])) >= 3
    for colour in (ax.patch.get_edgecolor(), ax.patches[0].get_edgecolor()):
        assert contrast(seen(colour[:3]), seen([1, 1, 1])) >= 4.5


@in_both_languages
def test_the_legend_names_only_the_kinds_of_cells_present(language):
    set_language(language)
    expected = {
        "es": ["puede atender", "enmascarado", "no atiende a nada"],
        "en": ["may attend", "masked", "attends to nothing"],
    }[language]
    dead, alive = plots.mask_map(MASK, SKY, SKY), plots.mask_map(MASK[1:], SKY[1:], SKY)
    assert written(dead.get_legend().get_texts()) == expected
    assert written(alive.get_legend().get_texts()) == expected[:2]
    fill, hatch, frame = dead.get_legend().get_patches()
    image = dead.images[0]
    assert same_color(fill.get_facecolor(), image.to_rgba(image.get_array())[2, 2])
    assert hatch.get_hatch() == "////" and hatch.get_linewidth() == 0
    assert same_color(hatch.get_edgecolor(), LIGHT["muted"])
    assert not frame.get_fill() and same_color(frame.get_edgecolor(), LIGHT["bad"])


def test_the_legend_stands_just_below_the_cells_in_line_with_them():
    ax = plots.mask_map(MASK, SKY, SKY)
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 == pytest.approx(ax.bbox.x0, abs=PIXEL)
    assert ax.bbox.y0 - legend.y1 == pytest.approx(0.1 * ax.figure.dpi, abs=2 * PIXEL)
    key = ax.get_legend().get_patches()[0].get_window_extent()
    np.testing.assert_allclose(key.size / ax.figure.dpi * 72, [14, 8.3], atol=0.3)
    assert key.x0 == pytest.approx(ax.bbox.x0, abs=PIXEL)


def test_each_query_that_attends_to_nothing_is_framed():
    mask = np.array([[False] * 4, [True] * 4, [False] * 4])
    ax = plots.mask_map(mask, SKY, "abcd")
    boxes = [(*frame.get_xy(), frame.get_width(), frame.get_height()) for frame in ax.patches]
    assert boxes == [(-0.5, -0.5, 4, 1), (-0.5, 1.5, 4, 1)]
    for frame in ax.patches:
        assert not frame.get_fill() and same_color(frame.get_edgecolor(), LIGHT["bad"])
        assert frame.get_linewidth() == 2 and not frame.get_clip_on()
        assert frame.zorder > max(line.zorder for line in ax.get_xgridlines())
    assert len(ax.get_legend().get_texts()) == 3
    assert not plots.mask_map(MASK[1:], SKY[1:], SKY).patches


def test_white_lines_separate_the_cells():
    ax = plots.mask_map(MASK[:2], SKY[:2], SKY)
    assert ax.get_xticks(minor=True).tolist() == [0.5, 1.5]
    assert ax.get_yticks(minor=True).tolist() == [0.5]
    ticks = [*ax.xaxis.get_minor_ticks(), *ax.yaxis.get_minor_ticks()]
    for tick in ticks:
        assert tick.gridline.get_visible() and tick.gridline.get_linewidth() == 2
        assert same_color(tick.gridline.get_color(), LIGHT["surface"])
        assert tick.tick1line.get_markersize() == 0
    majors = [*ax.xaxis.get_major_ticks(), *ax.yaxis.get_major_ticks()]
    assert not any(tick.gridline.get_visible() for tick in majors)


@each_length
@pytest.mark.parametrize("title", [None, "una máscara causal y de relleno"])
def test_every_text_of_a_mask_can_be_read(n, title, monkeypatch):
    mask = np.tril(np.ones((n, n), dtype=bool), -1)
    ax = plots.mask_map(mask, SENTENCES[n], SENTENCES[n], title=title)
    assert_all_can_be_read(ax.figure, monkeypatch)
    width, height = inches(ax)
    assert height == pytest.approx(n * 0.36, abs=0.04)
    if n > 2:  # without a figure this wide, the legend would be wider than the cells
        assert width == pytest.approx(n * 0.52, abs=0.04)


def test_several_masks_share_a_figure(monkeypatch):
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4))
    for ax, mask in zip(axes, (MASK, MASK.T, ~MASK), strict=True):
        assert plots.mask_map(mask, SKY, SKY, ax=ax, title="máscara") is ax
    assert figure.get_size_inches().tolist() == [9, 3.4]
    assert_all_can_be_read(figure, monkeypatch)


@pytest.mark.parametrize(
    "mask, message",
    [
        (MASK.astype(float), r"expected a boolean array \(True = may attend\), got dtype float64"),
        (MASK.astype(int).tolist(), r"expected a boolean array .*, got dtype int64"),
        (MASK[:2], r"expected shape \(3, 3\) for these tokens, got \(2, 3\)"),
        (MASK[None], r"expected shape \(3, 3\) for these tokens, got \(1, 3, 3\)"),
        (MASK[:0], r"expected at least one row and column, got shape \(0, 3\)"),
    ],
)
def test_invalid_masks_are_refused(mask, message):
    with pytest.raises(ValueError, match=f"^mask: {message}$"):
        plots.mask_map(mask, SKY, SKY)
    assert not plt.get_fignums()


# positions


def sinusoids(n_positions, d_model):
    angles = np.arange(n_positions)[:, None] / 1e4 ** (2 * np.arange(d_model // 2) / d_model)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n_positions, d_model)


@in_both_languages
def test_a_row_per_position_and_a_column_per_dimension(language, monkeypatch):
    set_language(language)
    encodings = sinusoids(50, 128)
    ax = plots.position_map(encodings, title="50 × 128")
    np.testing.assert_array_equal(ax.images[0].get_array(), encodings)
    expected = {"es": ("dimensión", "posición"), "en": ("dimension", "position")}[language]
    assert (ax.get_xlabel(), ax.get_ylabel()) == expected
    assert ax.get_title(loc="left") == "50 × 128"
    assert plots.position_map(encodings).get_title(loc="left") == ""
    assert ax.yaxis_inverted()  # the first position on top
    assert not any(spine.get_visible() for spine in ax.spines.values())
    assert_all_can_be_read(ax.figure, monkeypatch)
    assert inches(ax)[0] > 5.5  # the cells are not square: they fill the figure


@pytest.mark.parametrize("encodings, high", [(sinusoids(9, 4)[1:], "1"), ([[0.5, -2.5049]], "2.5")])
def test_positions_have_a_symmetric_scale_of_at_least_one(encodings, high):
    ax = plots.position_map(encodings)
    image, name = ax.images[0], high
    high = max(1, np.abs(encodings).max())
    assert image.get_clim() == (-high, high)
    for value, colour in ((-high, "key"), (0, "surface"), (high, "weight")):
        np.testing.assert_allclose(image.to_rgba(value)[:3], to_rgb(LIGHT[colour]), atol=0.01)
    (scale,) = set(ax.figure.axes) - {ax}
    assert scale.get_yticks().tolist() == [-high, 0, high]
    assert written(scale.get_yticklabels()) == [f"−{name}", "0", name]
    assert not scale.spines["outline"].get_visible()
    assert all(tick.tick2line.get_markersize() == 0 for tick in scale.yaxis.get_major_ticks())
    size = inches(scale)
    assert size[1] / size[0] == pytest.approx(25, rel=0.01)
    gap = scale.get_window_extent().x0 - ax.get_window_extent().x1
    assert gap < 0.4 * ax.figure.dpi


def test_positions_and_dimensions_are_whole_numbers():
    ax = plots.position_map(sinusoids(3, 4))
    for ticks in (ax.get_xticks(), ax.get_yticks()):
        assert (ticks == ticks.round()).all()


def test_positions_are_drawn_where_they_are_told():
    figure, (_, right) = plt.subplots(1, 2)
    assert plots.position_map(sinusoids(3, 4), ax=right) is right
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("shape", [(4,), (2, 3, 4)])
def test_encodings_of_another_rank_are_refused(shape):
    with pytest.raises(
        ValueError, match=r"^encodings: expected shape \(n_positions, d_model\), got \(\d.*\)$"
    ):
        plots.position_map(np.zeros(shape))


# curves


def test_curves_are_named_at_their_ends():
    ax = plots.curves(
        [1, 2, 4], {"a": [1, 2, 3], "b": [3, 2, 1]}, title="t", xlabel="n", ylabel="m", log="xy"
    )
    assert written(ax.texts) == ["a", "b"]
    assert [text.xy for text in ax.texts] == [(4, 3), (4, 1)]
    assert [line.get_ydata().tolist() for line in ax.lines] == [[1, 2, 3], [3, 2, 1]]
    assert [line.get_xdata().tolist() for line in ax.lines] == [[1, 2, 4], [1, 2, 4]]
    assert [text.get_color() for text in ax.texts] == plots.SERIES[:2]
    assert [line.get_color() for line in ax.lines] == plots.SERIES[:2]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("n", "m", "t")


def test_curves_need_neither_a_title_nor_a_name_for_their_values():
    ax = plots.curves([1, 2], {"a": [1, 2]}, xlabel="n")
    assert (ax.get_ylabel(), ax.get_title(loc="left")) == ("", "")
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "linear")
    given_ax = plt.figure().add_subplot()
    assert plots.curves([1, 2], {"a": [1, 2]}, xlabel="n", ax=given_ax) is given_ax


@pytest.mark.parametrize(
    "log, scales",
    [
        ("", ("linear", "linear")),
        ("x", ("log", "linear")),
        ("y", ("linear", "log")),
        ("xy", ("log", "log")),
    ],
)
def test_logarithmic_axes(log, scales):
    ax = plots.curves([1, 2.5, 65536], {"a": [1, 2, 3]}, xlabel="n", log=log)
    assert (ax.get_xscale(), ax.get_yscale()) == scales
    if "x" in log:
        assert written(ax.get_xticklabels()) == ["1", "2.5", "65536"]
        assert ax.get_xticks().tolist() == [1, 2.5, 65536]
        assert ax.xaxis.get_transform().base == 2
    if "y" in log:
        assert ax.yaxis.get_transform().base == 10


@pytest.mark.parametrize("n, marker", [(2, "o"), (12, "o"), (13, "None"), (500, "None")])
def test_only_few_points_are_marked_and_named(n, marker):
    x = 2.0 ** np.linspace(0, 10, n)
    ax = plots.curves(x, {"a": x}, xlabel="n", log="x")
    assert ax.lines[0].get_marker() == marker and ax.lines[0].get_linestyle() == "-"
    assert (ax.get_xticks().tolist() == x.tolist()) == (marker == "o")


def heights(ax):
    ax.figure.canvas.draw()
    return [(text.get_window_extent().y0 + text.get_window_extent().y1) / 2 for text in ax.texts]


def test_a_name_stands_beside_the_end_of_its_line():
    ax = plots.curves([1, 2], {"aaa": [1, 1], "xxx": [1, 5], "eee": [1, 9]}, xlabel="n")
    ax.figure.canvas.draw()
    ends = ax.transData.transform([(2, 1), (2, 5), (2, 9)])
    for text, (x, y) in zip(ax.texts, ends, strict=True):
        box = text.get_window_extent()
        assert box.x0 - x == pytest.approx(8 * ax.figure.dpi / 72, abs=PIXEL)
        assert (box.y0 + box.y1) / 2 == pytest.approx(y, abs=2 * PIXEL)
        assert text.get_va() == "center"
        assert text.get_annotation_clip() is False  # drawn even if limits exclude the end


@pytest.mark.slow
@pytest.mark.parametrize(
    "ends, dpi",
    [([1, 1, 1, 1], 72), ([5, 5.1, 5.05, 0], 150), ([0, 0.1, 9, 9.1], 100), ([3, 2, 1, 0], 100)],
)
def test_names_of_lines_that_end_together_are_moved_apart(ends, dpi, monkeypatch):
    figure, ax = plt.subplots(dpi=dpi)
    names = ["entrenamiento", "validación", "$q·k/d$", "sin calentamiento"]
    series = {name: [4, 2, end] for name, end in zip(names, ends, strict=True)}
    plots.curves([1, 2, 3], series, ax=ax, xlabel="paso", title="pérdida")
    assert_all_can_be_read(figure, monkeypatch)
    order, heights_now = sorted(range(4), key=lambda i: ends[i]), heights(ax)
    middle = [heights_now[i] for i in order]
    assert min(np.diff(middle)) >= 13 * dpi / 72 - 3 * PIXEL
    assert middle[0] >= ax.bbox.y0 + 6.5 * dpi / 72 - 2 * PIXEL
    assert middle[-1] <= ax.bbox.y1 + 2 * PIXEL


def test_names_follow_limits_that_are_set_later():
    ax = plots.curves([1, 2], {"a": [0.4, 0.4], "b": [0.5, 0.5]}, xlabel="n")
    ax.set_ylim(0, 100)
    low, high = heights(ax)
    gap = 13 * ax.figure.dpi / 72
    assert high - low == pytest.approx(gap, abs=3 * PIXEL)
    assert low == pytest.approx(ax.bbox.y0 + gap / 2, abs=2 * PIXEL)


sorted_apart = st.lists(st.floats(-50, 50), min_size=1, max_size=6)


@given(wanted=sorted_apart, gap=st.floats(0, 10))
def test_spread_is_the_nearest_that_keeps_the_gap(wanted, gap):
    """No small move of one label, or of several together, keeps the gaps and is nearer."""
    places = spread(wanted, gap, -1e6, 1e6)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(places[order]) >= gap - 1e-9).all()
    distance = ((places - wanted) ** 2).sum()
    for first in range(len(wanted)):
        for last in range(first, len(wanted)):
            for step in (-1e-3, 1e-3):
                moved = places.copy()
                moved[order[first : last + 1]] += step
                if (np.diff(moved[order]) >= gap - 1e-9).all():
                    assert ((moved - wanted) ** 2).sum() >= distance - 1e-9


@given(wanted=sorted_apart, gap=st.floats(0, 10))
def test_spread_respects_its_bounds_and_keeps_separated_places(wanted, gap):
    places = spread(wanted, gap, -60.0, 60.0)
    assert (places >= -60 - 1e-9).all() and (places <= 60 + 1e-9).all()
    if len(wanted) == 1 or np.diff(np.sort(wanted)).min() >= gap:
        np.testing.assert_allclose(places, wanted, atol=1e-9)
    tight = spread(wanted, gap, -1.0, 1.0 + gap * (len(wanted) - 1))
    assert tight.min() >= -1 - 1e-9 and tight.max() <= 1 + gap * (len(wanted) - 1) + 1e-9


@pytest.mark.parametrize(
    "x, series, log, message",
    [
        ([1, 2], {}, "", "series: expected at least one, got none"),
        ([1, 2], {"a": [1]}, "", r"series 'a': expected shape \(2,\) to match x, got \(1,\)"),
        ([1, 2], {"a": [1, 2], "b": [[1, 2]]}, "", r"series 'b': .* x, got \(1, 2\)"),
        ([[1, 2]], {"a": [[1, 2]]}, "", r"x: expected shape \(n_points,\), got \(1, 2\)"),
        (3, {"a": 3}, "", r"x: expected shape \(n_points,\), got \(\)"),
        ([0, 1], {"a": [1, 2]}, "x", "x: expected numbers above 0 on a logarithmic axis, got 0"),
        ([1, 2], {"a": [1, -0.5]}, "y", "series 'a': .* above 0 on a logarithmic axis, got -0.5"),
        ([1, 2], {"a": [1, 2]}, "yx", 'log: expected "", "x", "y" or "xy", got \'yx\''),
    ],
)
def test_invalid_curves_are_refused(x, series, log, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        plots.curves(x, series, xlabel="n", log=log)
    assert not plt.get_fignums()


def test_zero_is_refused_on_its_logarithmic_axis_only():
    plots.curves([0, 1], {"a": [1, 2]}, xlabel="n", log="y")
    plots.curves([1, 2], {"a": [0, -2]}, xlabel="n", log="x")


def test_no_two_curves_look_alike():
    ax = plots.curves([1, 2], {str(i): [i, i + 1] for i in range(7)}, xlabel="x")
    looks = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert len(set(looks)) == 7
    plt.close(ax.figure)
