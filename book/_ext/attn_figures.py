"""The notebooks' figures, inlined in the page: they use its colours, fonts and width.

A figure is SVG in the colours of the light scheme (attn_course/plots/vector.py). In the page each
colour becomes one of the page's CSS variables, so that the figure follows the scheme, and on a
phone the narrow drawing replaces the wide one.
"""

import base64
import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes

from attn_course.palette import LIGHT, RAMP_IN_DARK, in_dark

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
VARIABLES = {colour: f"var(--attn-{name})" for name, colour in LIGHT.items()}
# A figure has no background of its own: white and black become the page's colours.
VARIABLES |= {"#ffffff": "var(--attn-page)", "#000000": "var(--attn-ink)"}
LETTERS = re.compile(r"font-size: ([\d.]+)px")
KEPT = "tag_keep-colours"
# A round mark as matplotlib writes it, with its radius; and a fill equal to the stroke.
ROUND, ONE_COLOUR = re.compile(r"M 0 ([\d.]+)\s+C "), re.compile(r"fill: (.+); stroke: \1")
# Marks above this number are drawn as one path: a thousand elements make the page slow.
MANY = 50
# Figures are measured in points; a point is this number of the notebooks' pixels.
PIXELS = 100 / 72
# On a phone, a figure without a narrow drawing scrolls before its letters get too small.
PHONE, SMALLEST = 356, 11

for short, name in (("", SVG), ("xlink", HREF)):
    ElementTree.register_namespace(short, name[1 : name.index("}")])


def unwrap_tables(app, doctree):
    """Remove the caption from a cell's table beside its figure: the figure already has it."""
    for figure in list(doctree.findall(nodes.figure)):
        if not any(figure.findall(nodes.image)):
            shown = [child for child in figure if not isinstance(child, nodes.caption)]
            figure.replace_self(shown)


def put_figures(app, doctree, docname):
    """Replace each SVG image by its inlined drawing."""
    pictures = [each for each in doctree.findall(nodes.image) if each["uri"].endswith(".svg")]
    for number, image in enumerate(pictures, start=1):
        source = Path(app.srcdir, image["uri"]).read_text(encoding="utf-8")
        kept = any(KEPT in node.get("classes", ()) for node in _around(image))
        drawn = inline(source, image.get("alt", ""), f"f{number}", kept=kept)
        image.parent.replace(image, nodes.raw("", drawn, format="html"))


def _around(node):
    while node := node.parent:
        yield node


def inline(source, label, name, *, kept=False):
    """Return a figure as HTML for a page.

    Parameters
    ----------
    source : str
        What `attn_course.plots` drew.
    label : str
        The text alternative.
    name : str
        A prefix of ids, unique on the page.
    kept : bool, default False
        Whether its colours and its white background stay unchanged.
    """
    wide = ElementTree.fromstring(source)
    narrow = wide.find(f"{SVG}metadata/{SVG}svg")
    drawings = {"": wide} if narrow is None else {"wide": wide, "narrow": narrow}
    pieces = [
        _drawing(svg, label, f"{name}{kind}", kind, kept=kept) for kind, svg in drawings.items()
    ]
    scrolls = ' tabindex="0"' if "min-width" in pieces[0] else ""
    style = "attn-figure attn-figure-kept" if kept else "attn-figure"
    return f'<div class="{style}"{scrolls}>{"".join(pieces)}</div>'


def _drawing(svg, label, name, kind, *, kept):
    for parent in list(svg.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)
    if not kept:
        ground = svg.find(f"{SVG}g")
        ground.remove(ground[0])
        _colour(svg, name)
    _join_marks(svg)
    _name_ids(svg, name)
    _prune(svg)
    for element in svg.iter():
        element.text, element.tail = (_squeezed(each) for each in (element.text, element.tail))
        if "d" in element.attrib:
            element.set("d", re.sub(r" ?([A-Za-z]) ?", r"\1", " ".join(element.get("d").split())))
        if element.get("style"):
            element.set("style", re.sub(r"font-family: sans-serif;? ?", "", element.get("style")))
        if re.fullmatch(r"rotate\(-?0 .*\)", element.get("transform", "")):
            del element.attrib["transform"]
    width, height = (float(side) * PIXELS for side in svg.get("viewBox").split()[2:])
    svg.attrib = {
        "viewBox": svg.get("viewBox"),
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "role": "img",
        "aria-label": label,
    }
    if kind:
        svg.set("class", f"attn-{kind}")
    elif (needed := _legible(svg, width)) > PHONE:
        svg.set("style", f"min-width: {needed:.0f}px")
    return ElementTree.tostring(svg, encoding="unicode")


def _legible(svg, width):
    """Return the width of a drawing at which its letters have the smallest size."""
    styles = [each.get("style", "") for each in svg.iter(f"{SVG}text")]
    sizes = [float(size) for style in styles for size in LETTERS.findall(style)]
    return width * SMALLEST / (min(sizes) * PIXELS) if sizes else 0


def _prune(svg):
    """Remove empty and meaningless groups: matplotlib writes one for each tick."""
    for place, child in reversed(list(enumerate(svg))):
        _prune(child)
        if child.tag in (f"{SVG}g", f"{SVG}defs") and not len(child):
            svg.remove(child)
        elif child.tag == f"{SVG}g" and not child.attrib:
            svg[place : place + 1] = list(child)


def _join_marks(svg):
    """Draw many round marks of one kind as one path, whose round line caps are the marks."""
    for line in svg.iter(f"{SVG}g"):
        if [child.tag for child in line] != [f"{SVG}defs", f"{SVG}g"] or len(line[1]) < MANY:
            continue
        (mark, *others), places = line
        radius = ROUND.match(mark.get("d", ""))
        styles = {place.get("style", "") for place in places}
        colour = ONE_COLOUR.fullmatch(styles.pop())
        if radius and colour and not others and not styles:
            # A tenth of a point is finer than a screen shows the position of a dot.
            at = ([float(place.get(axis)) for axis in "xy"] for place in places)
            dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at)
            width = f"stroke-width: {2 * float(radius[1]) + 1:g}; stroke-linecap: round"
            style = f"fill: none; stroke: {colour[1]}; {width}"
            places[:] = [ElementTree.Element(f"{SVG}path", {"d": dots, "style": style})]
            line.remove(line[0])


def _squeezed(text):
    return text if text and text.strip() else None


def _colour(svg, name):
    """Give lines and areas the page's colours, and images of cells the dark colour map."""
    for element in svg.iter():
        if element.get("fill", "").startswith("#"):  # the background of a hatching
            element.set("style", f"fill: {element.attrib.pop('fill')}; {element.get('style', '')}")
        if "style" in element.attrib:
            colours = re.sub(r"(fill|stroke): (#[0-9a-f]{6})", _on_page, element.get("style"))
            element.set("style", colours)
    images = [image for image in svg.iter(f"{SVG}image") if not _is_grey(image)]
    for image in images:
        image.set("style", f"{image.get('style', '')}; filter: url(#dark)".lstrip("; "))
    if images:
        rows = (*((*row[:3], 0, row[3]) for row in RAMP_IN_DARK), (0, 0, 0, 1, 0))
        turned = ElementTree.Element(
            f"{SVG}filter", {"id": "dark", "color-interpolation-filters": "sRGB"}
        )
        values = " ".join(f"{value:g}" for row in rows for value in row)
        ElementTree.SubElement(turned, f"{SVG}feColorMatrix", {"values": values})
        svg.insert(0, turned)


def _is_grey(image):
    """Return whether an image has no colour: then it is a picture, which the dark map would invert.

    A PNG stores differences between neighbours, channel by channel, so the channels are equal if
    their differences are. (The build of the site has no image library.)
    """
    png, at, stored = base64.b64decode(image.get(HREF).partition(",")[2]), 8, b""
    width, _, _, kind = struct.unpack(">IIBB", png[16:26])
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        stored += png[at + 8 : at + 8 + size] if name == b"IDAT" else b""
        at += size + 12
    channels = {2: 3, 6: 4}[kind]
    rows, step = (
        zlib.decompress(stored),
        1 + channels * width,
    )  # each row begins with its filter type
    pixels = b"".join(rows[i + 1 : i + step] for i in range(0, len(rows), step))
    return pixels[::channels] == pixels[1::channels] == pixels[2::channels]


def _on_page(declared):
    what, colour = declared.groups()
    if colour in VARIABLES:
        return f"{what}: {VARIABLES[colour]}"
    if len({colour[1:3], colour[3:5], colour[5:]}) == 1:
        white = round(int(colour[1:3], 16) / 2.55)
        return f"{what}: color-mix(in srgb, var(--attn-page) {white}%, var(--attn-ink))"
    # Browsers from before 2024 use the first declaration.
    return f"{what}: {colour}; {what}: light-dark({colour}, {in_dark(colour)})"


def _name_ids(svg, name):
    """Keep the ids with references, and make them unique on the page."""
    used = set()

    def named(found):
        used.add(found[0])
        return f"{name}-{found[0]}"

    for element in svg.iter():
        if HREF in element.attrib:
            element.set("href", re.sub(r"(?<=^#).+", named, element.attrib.pop(HREF)))
        for key, value in element.attrib.items():
            element.set(key, re.sub(r"(?<=url\(#)[^)]+", named, value))
    for element in svg.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{name}-{own}")


def setup(app):
    app.connect("doctree-read", unwrap_tables)
    app.connect("doctree-resolved", put_figures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
