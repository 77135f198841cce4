"""Firefox and WebKit, the engine of Safari, driven through the protocol that each supports.

Playwright drives builds of its own of these two; what Debian packages is what people have. Firefox
speaks WebDriver BiDi by itself, WebKit speaks WebDriver through its driver, and both take a movement of
the mouse or a key in the same words.
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.websocket_connection import WebSocketConnection
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

SECONDS = 120  # how long a browser, or Python in it, may take to start on a busy machine

# The point to click, if nothing covers the element there, and how far the page is scrolled.
PLACE = """
const node = document.querySelector(arguments[0]);
if (!node) return null;
node.scrollIntoView({ block: "center", behavior: "instant" });
const box = node.getBoundingClientRect();
const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
const top = document.elementFromPoint(x, y);
const hit = top && (node.contains(top) || top.closest("label")?.control === node);
return hit ? [x, y, scrollY] : null;
"""


class Tab:
    """The actions of the tests; each engine defines `open`, `run` and `act`."""

    def wait(self, script, *arguments, seconds=SECONDS):
        """Run a script again and again until it returns something true; return that."""
        end = time.monotonic() + seconds
        while not (found := self.run(script, *arguments)):
            assert time.monotonic() < end, f"in vain for {seconds} s: {script} {arguments}"
            time.sleep(0.05)
        return found

    def text(self, selector):
        """Return the text of an element."""
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def click(self, selector):
        """Press and release the mouse on an element, when it can be seen."""
        place = None
        # A page that still scrolls or grows would move the element away from under the mouse.
        while (found := self.wait(PLACE, selector)) != place:
            place = found
            time.sleep(0.15)
        x, y, _ = place
        moves = [
            {"type": "pointerMove", "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.act({"type": "pointer", "id": "mouse", "actions": moves})

    def press(self, text, control=False):
        """Press keys one after the other, where the focus is."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        if control:
            keys = [
                {"type": "keyDown", "value": Keys.CONTROL},
                *keys,
                {"type": "keyUp", "value": Keys.CONTROL},
            ]
        self.act({"type": "key", "id": "keyboard", "actions": keys})

    def write(self, selector, text):
        """Replace the text of a field."""
        self.click(selector)
        self.press("a", control=True)
        self.press(text)


class Firefox(Tab):
    """A Firefox without a window.

    Parameters
    ----------
    program : str
    """

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [program, "--headless", "--no-remote", "--remote-debugging-port=0"]
        self.process = subprocess.Popen(
            [*command, "--profile", self.profile.name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.connection = WebSocketConnection(f"{self._address()}/session", SECONDS, 0.002)
        self._send("session.new", capabilities={})
        (self.page,) = self._send("browsingContext.getTree")["contexts"]
        size = {"width": 1280, "height": 900}
        self._send("browsingContext.setViewport", context=self.page["context"], viewport=size)

    def _address(self):
        told = Path(self.profile.name, "WebDriverBiDiServer.json")
        end = time.monotonic() + SECONDS
        while not (told.exists() and told.stat().st_size):
            assert time.monotonic() < end and self.process.poll() is None, "Firefox does not start"
            time.sleep(0.05)
        return "ws://{ws_host}:{ws_port}".format_map(json.loads(told.read_text("utf-8")))

    def _send(self, method, **options):
        answer = self.connection.send_cmd(method, options)
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, address):
        """Go to a page, and wait until it has loaded."""
        self._send(
            "browsingContext.navigate", context=self.page["context"], url=address, wait="complete"
        )

    def run(self, script, *arguments):
        """Run the body of a function; what it returns must be JSON."""
        whole = f"text => JSON.stringify((function () {{ {script} }})(...JSON.parse(text)) ?? null)"
        found = self._send(
            "script.callFunction",
            functionDeclaration=whole,
            awaitPromise=False,
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self.page["context"]},
        )
        assert found["type"] == "success", found["exceptionDetails"]["text"]
        return json.loads(found["result"]["value"])

    def act(self, source):
        """Move the mouse or press keys."""
        self._send("input.performActions", context=self.page["context"], actions=[source])

    def close(self):
        """End the browser."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(SECONDS)
        self.profile.cleanup()


class WebKit(Tab):
    """A WebKit whose window is on a virtual screen.

    Parameters
    ----------
    driver, screen : str
        The programs of WebKit's driver and of the screen.
    """

    def __init__(self, driver, screen):
        self.screen = subprocess.Popen(
            [screen, "-displayfd", "1", "-screen", "0", "1400x1100x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        display = f":{self.screen.stdout.readline().strip()}"
        service = Service(driver, env={**os.environ, "DISPLAY": display})
        self.driver = webdriver.WebKitGTK(options=Options(), service=service)
        self.driver.set_window_size(1280, 900)

    def open(self, address):
        """Go to a page, and wait until it has loaded."""
        self.driver.get(address)

    def run(self, script, *arguments):
        """Run the body of a function; what it returns must be JSON."""
        return self.driver.execute_script(script, *arguments)

    def act(self, source):
        """Move the mouse or press keys."""
        self.driver.execute(Command.W3C_ACTIONS, {"actions": [source]})

    def close(self):
        """End the browser and its screen."""
        self.driver.quit()
        self.screen.terminate()
        self.screen.wait(SECONDS)
