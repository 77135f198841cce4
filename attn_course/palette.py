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
