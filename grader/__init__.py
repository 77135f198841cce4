"""The grader: student code runs in a sandbox, and nothing that it returns is trusted.

``README.md`` says what the grader does, how another course uses it, and what each file is for;
``python -m grader --help`` lists the commands.
"""

import sys

if sys.platform == "win32":
    sys.exit("The grader needs Linux. On Windows, use it within WSL 2.")
