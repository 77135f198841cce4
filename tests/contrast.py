"""The contrast of two colours, as WCAG 2 defines it."""

import re

import numpy as np


def luminance(colour):
    """Return the relative luminance of a colour: three numbers from 0 to 1, or CSS from a browser."""
    if isinstance(colour, str):
        numbers = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
        colour = numbers if colour.startswith("color(") else np.divide(numbers, 255)
    c = np.asarray(colour)
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    """Return the ratio of contrast, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
