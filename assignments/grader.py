"""The former name of the grader's commands, which are ``python -m grader`` now."""

import runpy

if __name__ == "__main__":
    runpy.run_module("grader", run_name="__main__")
