"""The hand that draws: text, boxes, arrows and glyphs as SVG, in the colours of the course.

Nothing here knows a language or measures a text: a drawing has the same lines in both editions,
and a test measures in a browser that every text fits where it stands.
"""

import html
import itertools

from attn_course.palette import LIGHT

# JupyterLab does not define the variables of the site, so each has the colour of the light scheme
# as its default.
COLOURS = {name: f"var(--attn-{name},{value})" for name, value in LIGHT.items()}
SANS = "var(--attn-sans,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif)"
MONO = "var(--attn-mono,ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono',monospace)"
_HUES = ("query", "key", "value", "extra", "bad")
# There are three strokes: thin for frames, normal for lines, and strong for lit parts.
STYLE = "".join(
    [
        f".attn-d{{display:block;max-width:100%;height:auto;font:400 13px {SANS};background:{COLOURS['page']};color:{COLOURS['ink']}}}",
        f".attn-d text{{fill:{COLOURS['ink']};stroke:none}}",
        ".attn-d a{text-decoration:none}",
        f".attn-d .soft{{fill:{COLOURS['muted']}}}",
        ".attn-d .small{font-size:12px}",
        f".attn-d .shape{{font:400 11.5px {MONO};fill:{COLOURS['ink']}}}",
        f".attn-d .frame{{fill:none;stroke:{COLOURS['line']}}}",
        f".attn-d .box{{fill:{COLOURS['surface']};stroke:{COLOURS['muted']};stroke-width:1.2}}",
        f".attn-d .sunk{{fill:{COLOURS['sunken']};stroke:none}}",
        f".attn-d .line{{fill:none;stroke:{COLOURS['muted']};stroke-width:1.4;stroke-linejoin:round}}",
        f".attn-d .tip{{fill:{COLOURS['muted']}}}",
        ".attn-d .dashed{stroke-dasharray:4 3}",
        f".attn-d .cell{{fill:{COLOURS['weight']};stroke:none}}",
        f".attn-d .bare{{fill:none;stroke:{COLOURS['muted']};stroke-width:1;stroke-dasharray:2 2}}",
        *(f".attn-d .line.{hue}{{stroke:{COLOURS[hue]}}}" for hue in _HUES),
        *(f".attn-d .box.{hue}{{stroke:{COLOURS[hue]}}}" for hue in _HUES),
        *(
            f".attn-d :is(text,.tip,.cell).{hue}{{fill:{COLOURS[hue]}}}"
            for hue in (*_HUES, "accent")
        ),
    ]
)


def number(x):
    """Return a coordinate as it is written: no more digits than it needs.

    >>> number(12.0), number(1 / 3)
    ('12', '0.33')
    """
    return f"{round(x, 2):g}"


def _attributes(given):
    return "".join(
        f' {name.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number(value)}"'
        for name, value in given.items()
        if value not in ("", None)
    )


def tag(name, body="", **given):
    """Return an element; a trailing underscore in a name is dropped, others become hyphens.

    >>> tag("circle", r=2, class_="box")
    '<circle r="2" class="box"/>'
    """
    return f"<{name}{_attributes(given)}" + (f">{body}</{name}>" if body else "/>")


def text(x, y, label, kind="", at="start"):
    """Return a line of text; `at` is the part of it that stands at `x`: start, middle or end."""
    anchor = "" if at == "start" else at
    return tag("text", html.escape(label), x=x, y=y, class_=kind, text_anchor=anchor)


def lines(x, y, labels, kind="", at="middle", leading=15):
    """Return lines of text around the height `y`."""
    top = y + 4.5 - leading * (len(labels) - 1) / 2
    return "".join(text(x, top + leading * i, each, kind, at) for i, each in enumerate(labels))


def rect(x, y, width, height, kind="box", round_=6, **given):
    """Return a rectangle with rounded corners."""
    return tag("rect", x=x, y=y, width=width, height=height, rx=round_, class_=kind, **given)


def path(points, kind="line", bend=8):
    """Return a line through points, its corners rounded."""
    (x, y), *rest = points
    drawn = [f"M{number(x)} {number(y)}"]
    for (a, b), (c, d) in itertools.pairwise(rest):
        before, after = _towards((a, b), (x, y), bend), _towards((a, b), (c, d), bend)
        drawn.append(f"L{_pair(before)}Q{_pair((a, b))} {_pair(after)}")
        x, y = a, b
    drawn.append(f"L{_pair(rest[-1])}")
    return tag("path", d="".join(drawn), class_=kind)


def arrow(points, kind="", bend=8):
    """Return a line through points with a tip at the last of them."""
    (x, y), (end_x, end_y) = points[-2:]
    ux, uy = _unit((x, y), (end_x, end_y))
    stop = (end_x - 5 * ux, end_y - 5 * uy)
    tip = [(end_x, end_y)]
    tip += [
        (end_x - 7 * ux + side * 3.6 * uy, end_y - 7 * uy - side * 3.6 * ux) for side in (1, -1)
    ]
    head = tag("path", d=f"M{'L'.join(map(_pair, tip))}z", class_=f"tip {kind}".strip())
    return path([*points[:-1], stop], f"line {kind}".strip(), bend) + head


def _pair(point):
    return f"{number(point[0])} {number(point[1])}"


def _unit(start, end):
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    return dx / length, dy / length


def _towards(corner, other, distance):
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = (dx * dx + dy * dy) ** 0.5
    part = min(distance, length / 2) / length
    return corner[0] + part * dx, corner[1] + part * dy


def grid(x, y, rows, size=12, gap=2, kind="cell"):
    """Return a matrix of cells, each as strong as its number from 0 to 1; None is an empty place."""
    cells = []
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            place = {"x": x + j * (size + gap), "y": y + i * (size + gap)}
            if value is None:
                cells.append(tag("rect", **place, width=size, height=size, class_="bare"))
            else:
                cells.append(
                    tag("rect", **place, width=size, height=size, class_=kind, opacity=value)
                )
    return "".join(cells)


def plus(x, y, r=8):
    """Return the sign of an addition."""
    cross = tag("path", d=f"M{_pair((x - 4, y))}h8M{_pair((x, y - 4))}v8", class_="line")
    return tag("circle", cx=x, cy=y, r=r, class_="box") + cross


def svg(
    width, height, body, name, title, description, role="img", kind="", style=STYLE, top=0, steps=""
):
    """Return a whole drawing: what it is called, what it shows, and the drawing itself."""
    named = f"{name}-title"
    told = f"{name}-desc"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{f"attn-d {kind}".strip()}" role="{role}" '
        f'viewBox="0 {top} {width} {height - top}" width="{width}" height="{height - top}" '
        f'aria-labelledby="{named}" aria-describedby="{told}"'
        f"{_attributes({'data_steps': html.escape(steps)})}>"
        f'<title id="{named}">{html.escape(title)}</title><desc id="{told}">{html.escape(description)}</desc>'
        f"{tag('style', style) if style else ''}{body}</svg>"
    )
