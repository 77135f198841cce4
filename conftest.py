"""For every test, notebooks included: one thread, fixed hashing, and a word about browsers."""

import os

# Read by NumPy and PyTorch when they are first imported, and inherited by notebook kernels.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYTHONHASHSEED"] = "0"


def pytest_terminal_summary(terminalreporter, config):
    """Say in the last lines when the site went untested for want of a browser."""
    reasons = {str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])}
    if any("no browser" in reason for reason in reasons):
        terminalreporter.section("The site was not tested: no browser was found", sep="!")
        terminalreporter.line(
            "Install one and run `make test` again: `apt install chromium` on Debian and Ubuntu,\n"
            "`brew install --cask chromium` on macOS, or any Chrome or Edge; "
            "or name its program: ATTN_BROWSER=/path/to/chrome make test"
        )
