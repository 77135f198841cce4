"""The look of every figure: colours, fonts, sharpness."""

import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from attn_course.palette import LIGHT
from attn_course.plots.vector import svg

SERIES = [LIGHT[name] for name in ("query", "key", "value", "extra", "muted")]

# Colours light enough for black numbers, and for light numbers when `palette.in_dark` converts
# them.
BLUE, ORANGE = "#78acd8", "#e89c66"
WEIGHTS = LinearSegmentedColormap.from_list("attn_weights", [LIGHT["surface"], BLUE])
SCORES = LinearSegmentedColormap.from_list("attn_scores", [ORANGE, LIGHT["surface"], BLUE])

# Cells without numbers use the full range of the colours of the widgets.
DEEP_WEIGHTS = LinearSegmentedColormap.from_list("attn_deep", [LIGHT["surface"], LIGHT["weight"]])
DEEP_SIGNED = LinearSegmentedColormap.from_list(
    "attn_signed", [LIGHT["key"], LIGHT["surface"], LIGHT["weight"]]
)

# The cells of a mask are filled or hatched, so that they can be told apart without colour.
FILL = {"facecolor": DEEP_WEIGHTS(0.7)}
HATCH = {"facecolor": LIGHT["surface"], "edgecolor": LIGHT["muted"], "hatch": "////"}


def use_style():
    """Draw every figure of this session in the course's style, sharp on any screen."""
    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 3.2),
            "figure.dpi": 100,
            "figure.facecolor": LIGHT["surface"],
            "figure.constrained_layout.use": True,
            "savefig.facecolor": LIGHT["surface"],
            "axes.facecolor": LIGHT["surface"],
            "axes.edgecolor": LIGHT["muted"],
            "axes.labelcolor": LIGHT["ink"],
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.titlecolor": LIGHT["ink"],
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.prop_cycle": plt.cycler(color=SERIES),
            "axes.grid": False,
            "font.size": 10,
            "text.color": LIGHT["ink"],
            "xtick.color": LIGHT["muted"],
            "ytick.color": LIGHT["muted"],
            "xtick.labelcolor": LIGHT["ink"],
            "ytick.labelcolor": LIGHT["ink"],
            "lines.linewidth": 2,
            "lines.markersize": 5,
            "legend.frameon": False,
            # A cell is one pixel, which a page enlarges without blur.
            "image.interpolation": "none",
        }
    )
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        # Outside a notebook nothing shows figures.
        return
    if shell := get_ipython():
        # JupyterLab shows SVG only in a trusted notebook, and the PNG before.
        set_matplotlib_formats("svg", "png")
        shell.display_formatter.formatters["image/svg+xml"].for_type(Figure, svg)
