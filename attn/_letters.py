r"""The characters that words are made of, in every script.

Python's ``\w`` leaves out the marks that are written over, under and beside letters: the vowels of
Hindi and Thai, those of vocalised Arabic and Hebrew, accents that stand alone. Here these marks
belong to their letter, and so do the two joiners (U+200C, U+200D), which control how letters are
joined inside words of Persian and Hindi.
"""

JOINERS = r"\u200c\u200d"
# A run of letters, digits and underscores, with their marks. It is a pattern for `regex`, because
# `re` lacks \p.
LETTERS = rf"[\p{{L}}\p{{N}}\p{{M}}_][\p{{L}}\p{{N}}\p{{M}}_{JOINERS}]*"
# White space as `str.split` and `re` define it, which includes four separators of ASCII.
SPACE = r"\s\x1c-\x1f"
