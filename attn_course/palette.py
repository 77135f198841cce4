"""The course's colours: one table for matplotlib, the widgets and the site.

Hues follow Okabe and Ito (2008), which readers with any of the common colour
vision deficiencies can tell apart; each is darkened (light scheme) or lightened
(dark scheme) until text in it has a contrast of at least 4.5 to 1 with `surface`.
"""

LIGHT = {
    "page": "#fbfaf7",
    "surface": "#ffffff",
    "sunken": "#f1efe9",
    "ink": "#1d1f24",
    "muted": "#5b5f69",
    "line": "#dcd8ce",
    "accent": "#005f99",
    "query": "#005f99",
    "key": "#a84300",
    "value": "#00694f",
    "extra": "#8a3a74",
    "weight": "#00508a",
    "good": "#00694f",
    "bad": "#a8261d",
}

DARK = {
    "page": "#15171c",
    "surface": "#1c1f26",
    "sunken": "#242832",
    "ink": "#e9e7e1",
    "muted": "#a9adb8",
    "line": "#373c48",
    "accent": "#7cc0f0",
    "query": "#7cc0f0",
    "key": "#f2a469",
    "value": "#5fcfa8",
    "extra": "#e0a3cc",
    "weight": "#4aa3e0",
    "good": "#5fcfa8",
    "bad": "#ff9a8d",
}


def css_variables(scheme):
    """Return the colours as CSS declarations, ``--attn-query: #005f99; ...``.

    Parameters
    ----------
    scheme : dict of str to str
        `LIGHT` or `DARK`.

    Examples
    --------
    >>> css_variables({"ink": "#1d1f24"})
    '--attn-ink: #1d1f24;'
    """
    return " ".join(f"--attn-{name}: {value};" for name, value in scheme.items())


# How the dark page shows the ramps of figures from white to blue and to orange: an affine map of
# red, green and blue, which SVG can apply to an image too (feColorMatrix).
RAMP_IN_DARK = (
    (2.531, -5.588, 2.390, 0.750),
    (1.663, -4.878, 2.476, 0.829),
    (1.750, -6.051, 3.562, 0.849),
)


def in_dark(colour):
    """Return the colour of the dark page for a colour of a figure drawn for the light page.

    A colour of the palette becomes its dark counterpart. A grey is interpolated from page to
    ink instead of from white to black. Any other colour is treated as part of a ramp.

    Parameters
    ----------
    colour : str
        Red, green and blue in hexadecimal digits.

    Returns
    -------
    str

    Examples
    --------
    >>> in_dark(LIGHT["query"]) == DARK["query"], in_dark("#ffffff") == DARK["page"]
    (True, True)
    >>> in_dark("#000000") == DARK["ink"], in_dark("#78acd8")
    (True, '#326b9b')
    """
    twins = {"#ffffff": "page"} | {LIGHT[name]: name for name in LIGHT if name != "surface"}
    if colour in twins:
        return DARK[twins[colour]]
    rgb = _channels(colour)
    if max(rgb) - min(rgb) < 0.02:
        ends = zip(_channels(DARK["ink"]), _channels(DARK["page"]), strict=True)
        return _hexadecimal(ink + rgb[0] * (page - ink) for ink, page in ends)
    return _hexadecimal(
        sum(factor * channel for factor, channel in zip(row, (*rgb, 1), strict=True))
        for row in RAMP_IN_DARK
    )


def _channels(colour):
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _hexadecimal(channels):
    return "#" + "".join(f"{round(255 * min(max(c, 0), 1)):02x}" for c in channels)
