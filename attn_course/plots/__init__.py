"""The course's matplotlib figures, in the style and the colours of its widgets.

`use_style`      call it once, before the first figure
`heatmap`        scores or weights with their tokens, a number in every cell
`head_grid`      the weights of every head, or of every layer and head
`mask_map`       which query may attend to which key
`position_map`   positional encodings, a row per position
`curves`         one quantity against another, a line per series
"""

from attn_course.plots.heads import head_grid
from attn_course.plots.heat import heatmap, position_map
from attn_course.plots.lines import curves
from attn_course.plots.masks import mask_map
from attn_course.plots.style import SERIES, use_style

__all__ = ["SERIES", "curves", "head_grid", "heatmap", "mask_map", "position_map", "use_style"]
