"""The exercises of the chapters, one module each: ``ch03_2_name.py`` is the second of chapter 3.

A module holds what runs: oracle, inputs, and each known mistake as wrong functions. The TOML file
of the same name holds the hint for each mistake, in the order in which they are tried.
"""
