"""A real JupyterHub, set up by the instructions, from the fetched set to the feedback.

Students and markers are names without accounts of the system or passwords of their own; the rest is
`assignments/hub/jupyterhub_config.py` as it stands.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import nbformat
import pytest

from tests.grader.servers import free_ports, wait, wait_for

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FIRST = "softmax-with-temperature-answer"
# DummyAuthenticator accepts every password.
PASSWORD = "any"

ACCOUNTS = f"""
load_subconfig({str(ROOT / "assignments/hub/jupyterhub_config.py")!r})

import os

c = get_config()
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = os.environ["HOMES"] + "/{{username}}"
hub, front, proxy, *services = map(int, os.environ["PORTS"].split())
c.JupyterHub.hub_port = hub
c.JupyterHub.bind_url = f"http://127.0.0.1:{{front}}"
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{{proxy}}"
c.Spawner.args = ["--allow-root"]
for service, port in zip(c.JupyterHub.services, services, strict=True):
    service["url"] = f"http://127.0.0.1:{{port}}"
    service["command"].append("--allow-root")
    del service["user"]
"""

# All users share one account of the system, so nbgrader must be told who a user is.
WHO = """
import os
c = get_config()
c.CourseDirectory.student_id = os.environ["JUPYTERHUB_USER"]
"""


class Hub:
    """Requests that a browser makes to a hub, with the token of one of its users."""

    def __init__(self, url, user):
        self.url, self.user, self.token = url, user, None
        asked = {"auth": {"username": user, "password": PASSWORD}}
        self.token = self.ask("POST", f"hub/api/users/{user}/tokens", asked)["token"]

    def ask(self, method, path, body=None):
        """Return the response of a page, parsed if it is JSON."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"token {self.token}"
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"{self.url}/{path}", data, headers, method=method)
        with urllib.request.urlopen(asked, timeout=120) as answer:
            text = answer.read().decode()
        try:
            return json.loads(text)
        except ValueError:
            return text

    def start(self):
        """Start the user's server and wait until it answers."""
        self.ask("POST", f"hub/api/users/{self.user}/server")
        wait(lambda: self.ask("GET", f"hub/api/users/{self.user}")["server"])

    def mine(self, method, path, body=None):
        """Send a request to the user's own server."""
        return self.ask(method, f"user/{self.user}/{path}", body)

    def assignments(self, action, course):
        """Press a button of nbgrader's assignment list; return the rows of the list."""
        said = self.mine(
            "POST", f"assignments/{action}", {"course_id": course, "assignment_id": "ps2"}
        )
        assert said["success"], said
        return {row["status"]: row for row in said["value"]}


@pytest.fixture
def hub(needed, course, tmp_path, monkeypatch):
    """A running hub for a course that has released ps2 to two students; return its URL."""
    needed("hub")
    exchange, homes = tmp_path / "exchange", tmp_path / "homes"
    exchange.mkdir(mode=0o777)
    monkeypatch.setenv("ATTN_EXCHANGE", str(exchange))
    (course.folder / "roster.csv").write_text(
        "id,last_name,first_name\nana.nunez,Núñez,Ana\nemily.clark,Clark,Emily\n", "utf-8"
    )
    for user in ("ana.nunez", "emily.clark"):
        settings = homes / user / ".jupyter" / "nbgrader_config.py"
        settings.parent.mkdir(parents=True)
        settings.write_text(WHO)
    for language in ("es", "en"):
        run("nbgrader", "release_assignment", "ps2", cwd=course.folder / language)

    (tmp_path / "config.py").write_text(ACCOUNTS)
    ports = free_ports(5)
    environment = os.environ | {
        "ATTN_COURSE": str(course.folder),
        "HOMES": str(homes),
        "PORTS": " ".join(map(str, ports)),
        "HOME": str(homes),
    }
    with open(tmp_path / "hub.log", "w") as log:
        running = subprocess.Popen(
            [BIN / "jupyterhub", "-f", tmp_path / "config.py"],
            cwd=tmp_path,
            env=environment,
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{ports[1]}"

    try:
        wait_for(f"{url}/hub/health", running, tmp_path / "hub.log")
        yield url
    finally:
        running.terminate()
        running.wait(300)
        # The hub stops its proxy, unless the hub ended before it had connected to the proxy.
        if (proxy := tmp_path / "jupyterhub-proxy.pid").exists():
            os.kill(int(proxy.read_text()), signal.SIGTERM)


def run(program, *arguments, cwd=ROOT):
    """Run a program of the environment from the account of the grader."""
    done = subprocess.run(
        [BIN / program, *map(str, arguments)], cwd=cwd, capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def model_answers(course, language):
    """Return the model answer for each answer cell, by grade id."""
    source = nbformat.read(course.path(language, "source", ".", "ps2"), as_version=4)
    return {
        cell.metadata.nbgrader.grade_id: re.sub(
            r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source
        )
        for cell in source.cells
        if "### BEGIN SOLUTION" in cell.source
    }


@pytest.mark.grader
def test_fetch_submit_grade_and_feedback_work_on_a_hub(hub, course, sandbox):
    ana, emily = Hub(hub, "ana.nunez"), Hub(hub, "emily.clark")
    for student, language in ((ana, "es"), (emily, "en")):
        student.start()
        (row,) = student.mine("GET", f"assignments?course_id=attn-{language}")["value"]
        assert row["status"] == "released"
        rows = student.assignments("fetch", f"attn-{language}")
        assert set(rows) == {"fetched"}

        # Ana gives the model answers to all tasks, Emily only to the first.
        place = f"api/contents/attn-{language}/ps2/ps2.ipynb"
        file = student.mine("GET", place)
        answers = model_answers(course, language)
        if student is emily:
            answers = {FIRST: answers[FIRST]}
        for cell in file["content"]["cells"]:
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
            cell["source"] = answers.get(grade_id, cell["source"])
        student.mine("PUT", place, {k: file[k] for k in ("type", "format", "content")})
        assert "submitted" in student.assignments("submit", f"attn-{language}")

    # The hub lets nobody into the server of another user, and only instructors into Formgrader.
    for path in ("user/ana.nunez/api/contents", "services/attn-en/formgrader/api/assignments"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            emily.ask("GET", path)
        assert refused.value.code == 403

    run("python", "-m", "grader", "collect", course.folder, "ps2")
    said = run("python", "-m", "grader", "grade", course.folder, "ps2")
    assert re.search(r"ana.nunez +es +85 / 100  to mark by hand\n", said), said
    assert re.search(r"emily.clark +en +15 / 100\n", said), said

    # A marker gives Ana's report 9 of its 15 points in Formgrader.
    marker = Hub(hub, "grader-attn")
    formgrader = "services/attn-es/formgrader/api"
    rows = marker.ask("GET", f"{formgrader}/submitted_notebooks/ps2/ps2")
    (identity,) = [row["id"] for row in rows if row["student"] == "ana.nunez"]
    grades = marker.ask("GET", f"{formgrader}/grades?submission_id={identity}")
    (report,) = [grade for grade in grades if grade["name"] == "same-projection"]
    marker.ask("PUT", f"{formgrader}/grade/{report['id']}", {"manual_score": 9})

    run("python", "-m", "grader", "grade", course.folder, "ps2")
    for language in ("es", "en"):
        run("nbgrader", "release_feedback", "ps2", cwd=course.folder / language)

    # Each student gets the page in their own edition, with their own marks.
    for student, language, total in ((ana, "es", "94 / 100"), (emily, "en", "15 / 100")):
        rows = student.assignments("fetch_feedback", f"attn-{language}")
        (sent,) = rows["submitted"]["submissions"]
        place = urllib.parse.quote(sent["local_feedback_path"])
        page = student.mine("GET", f"files/{place}/ps2.html")
        assert f'<html lang="{language}"' in page
        text = " ".join(re.sub(r"<[^>]+>", "", page).split())
        assert f" {total} " in text, text[:400]
