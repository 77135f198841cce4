"""Wrong attempts at every exercise, and right ones written in an unusual way.

Each chapter has a file, and in it each exercise a class with its id. What such a class holds are functions
that a student might hand in; those whose name begins with `right` are right. All of them were written from
the statements of the exercises, before anyone looked at the known mistakes: they measure how much of what
goes wrong `check` can name.
"""
