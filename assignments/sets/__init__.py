"""The problem sets, a folder each: what they grade, what it is worth, and the right answers."""
