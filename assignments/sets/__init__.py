"""The problem sets, one module each: what they grade and what it is worth."""
