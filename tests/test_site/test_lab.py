"""Two days of a learner in JupyterLab, as `make lab` starts it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from attn_course.exercises.kept import ANSWERS
from tests.grader.servers import free_ports, wait_for

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "03_self_attention.ipynb"
VIEW = "application/vnd.jupyter.widget-view+json"
WRONG = "    e = np.exp(scores - scores.max())\n    return e / e.sum(axis=0)\n"
RIGHT = (
    '    """My own."""\n'
    "    e = np.exp(scores - np.maximum(scores.max(-1, keepdims=True), -1e300))\n"
    "    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)\n"
)


@pytest.fixture
def lab(tmp_path, tab):
    """Start JupyterLab on copies of a chapter; each call is a new day, in a fresh browser."""
    for language in ("es", "en"):
        (tmp_path / "notebooks" / language).mkdir(parents=True)
        shutil.copy(ROOT / "notebooks" / language / CHAPTER, tmp_path / "notebooks" / language)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    # All cells are drawn at once, also those out of sight.
    settings = tmp_path / "settings" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    told = subprocess.run(
        ["make", "-n", "lab"], check=True, cwd=ROOT, capture_output=True, text=True
    ).stdout
    command = next(line for line in told.splitlines() if "jupyter lab " in line)
    quiet = "--no-browser --allow-root --expose-app-in-browser --IdentityProvider.token="
    (port,) = free_ports(1)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "PYTHONPATH": str(ROOT),
    }
    running = []

    def stop():
        for server in running:
            server.terminate()
            server.wait(30)
        running.clear()

    def start():
        stop()
        log = tmp_path / "log"
        with log.open("a") as file:
            running.append(
                subprocess.Popen(
                    ["bash", "-c", f"exec env {command} {quiet} --ServerApp.port={port}"],
                    cwd=tmp_path,
                    env=environment,
                    stdout=file,
                    stderr=file,
                )
            )
        wait_for(f"http://127.0.0.1:{port}/api", running[0], log)
        page = tab(viewport={"width": 1200, "height": 900})
        page.goto(f"http://127.0.0.1:{port}/lab")
        page.wait_for_function("globalThis.jupyterapp?.restored.then(() => true)")
        return page

    yield start
    stop()


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def open_chapter(page, language):
    """Open a notebook and wait until its kernel is there; return its panel."""
    page.evaluate(
        """async (path) => {
          const panel = await jupyterapp.commands.execute("docmanager:open", { path });
          await panel.context.ready;
          await panel.sessionContext.ready;
          await panel.sessionContext.session.kernel.info;
          globalThis.panel = panel;
        }""",
        f"{language}/{CHAPTER}",
    )
    panel = page.locator(".jp-NotebookPanel:visible")
    panel.locator(".jp-CodeCell").first.wait_for()
    page.wait_for_timeout(500)  # what would change the notebook by itself
    return panel


def is_changed(page):
    return page.evaluate("panel.context.model.dirty")


def choose(page, text):
    """Make the first code cell with a text the active one; return where it is on the page."""
    number = page.evaluate(
        """(text) => {
          const cells = panel.content.widgets;
          const number = cells.findIndex(({model}) => model.type === "code" && model.sharedModel.source.includes(text));
          panel.content.activeCellIndex = number;
          return number;
        }""",
        text,
    )
    cell = page.locator(".jp-NotebookPanel:visible .jp-Notebook-cell").nth(number)
    cell.scroll_into_view_if_needed()
    return cell


def run(page):
    """Run the active cell, by keyboard."""
    page.evaluate("panel.content.mode = 'command'; panel.content.activate()")
    page.keyboard.press("Control+Enter")


@pytest.mark.slow
def test_nothing_is_lost_from_one_day_to_the_next(lab, tmp_path):
    path = tmp_path / "notebooks" / "en" / CHAPTER
    chapter = nbformat.read(path, as_version=4)
    # Without the prose and the cells that compute: they take their time, and nothing here needs them.
    needed = re.compile(r"set_language|Quiz\(load|check\(")
    chapter.cells = [c for c in code(chapter) if needed.search(c.source)]
    own = ("SoftmaxPlayground([0.5, 1.0])", "softmax.__doc__")
    chapter.cells += map(nbformat.v4.new_code_cell, own)
    nbformat.write(chapter, path)
    page = lab()
    panel = open_chapter(page, "en")
    assert not is_changed(page)
    assert "Edit" in (menu := page.locator("#jp-menu-panel").inner_text())
    assert "Nbgrader" not in menu and panel.get_by_text("Validate").count() == 0
    # The kernel is as after a restart: no cell above the exercise has run.
    exercise = choose(page, 'check("softmax", softmax)')
    stub = exercise.locator(".cm-content").inner_text()
    for body, said in ((WRONG, "Not yet."), (RIGHT, "Correct. softmax")):
        exercise.locator(".cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(stub.replace("    ...\n", body))
        page.keyboard.press("Control+Enter")
        exercise.locator(".jp-OutputArea-output", has_text=said).wait_for()
    for text in ("set_language", "Quiz(load", own[0]):
        choose(page, text)
        run(page)
    quiz = panel.locator("[data-attn=quiz]").first
    quiz.locator("[data-attn=option]").nth(1).check()
    quiz.locator("[data-attn=check]").first.click()
    feedback = quiz.locator("[data-attn=feedback]").first.inner_text()
    assert len(feedback) > 20
    page.keyboard.press("ControlOrMeta+s")
    page.wait_for_function("!panel.context.model.dirty")

    saved = nbformat.read(path, as_version=4)
    assert VIEW not in path.read_text("utf-8")
    assert (tmp_path / "data" / "attn" / "solved" / ANSWERS).exists()
    # A JupyterLab without this configuration would have kept the live view, and trust it tomorrow.
    asked = next(cell for cell in code(saved) if "Quiz(load" in cell.source)
    asked.outputs[-1].data[VIEW] = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
    NotebookNotary(data_dir=str(tmp_path / "data" / "jupyter")).sign(saved)
    nbformat.write(saved, path)

    page = lab()
    panel = open_chapter(page, "en")
    assert not is_changed(page)
    for text in ("Quiz(load", own[0]):
        choose(page, text).locator(".attn-fallback").wait_for()
    assert "Error displaying widget" not in panel.inner_text()
    exercise = choose(page, 'check("softmax", softmax)')
    assert "My own" in exercise.locator(".cm-content").inner_text()
    assert "Correct. softmax" in exercise.locator(".jp-OutputArea").inner_text()
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    panel.locator(".jp-CodeCell").last.locator("text=My own.").wait_for(timeout=90_000)
    said = panel.locator(".jp-OutputArea-output").all_inner_texts()
    assert sum("Correct. softmax" in text for text in said) == 1
    assert sum("Not answered yet." in text for text in said) == 0
    quiz = panel.locator("[data-attn=quiz]").first
    assert quiz.locator("[data-attn=feedback]").first.inner_text() == feedback
    assert quiz.locator("[data-attn=option]").nth(1).is_checked()
    assert "Error displaying widget" not in (shown := panel.inner_text())
    assert "Traceback" not in shown
    open_chapter(page, "es")
    assert not is_changed(page)
