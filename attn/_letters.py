r"""What a word is made of, in every script.

Python's ``\w`` leaves out the marks that are written over, under and beside letters: the vowels of
Hindi and Thai, those of vocalised Arabic and Hebrew, accents that stand alone. Here they belong to
their letter, and so do the two joiners (U+200C, U+200D), which stand inside words of Persian and
Hindi and tell how letters meet.
"""

JOINERS = r"\u200c\u200d"
# A run of letters, digits and underscores, with their marks. For `regex`, since `re` knows no \p.
LETTERS = rf"[\p{{L}}\p{{N}}\p{{M}}_][\p{{L}}\p{{N}}\p{{M}}_{JOINERS}]*"
# White space as Python's `str.split` and `re` know it: four separators of ASCII are among it.
SPACE = r"\s\x1c-\x1f"
