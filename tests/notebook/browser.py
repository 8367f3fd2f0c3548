"""A headless Chromium, driven through its DevTools protocol: a page is opened, scripts run in it, keys are pressed."""

import base64
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request

import websocket

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
         "--disable-sync", "--disable-component-update", "--no-first-run", "--window-size=1200,1600",
         "--remote-debugging-port=0"]


class Browser:
    """For a with statement. `open` shows a page; `evaluate`, `type` and `press_shift_enter` act on it."""

    def __enter__(self):
        program = shutil.which("chromium")
        if program is None:
            raise RuntimeError("there is no chromium; 'tools/setup.sh browser' installs it")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen([program, *FLAGS, f"--user-data-dir={self.folder.name}", "about:blank"],
                                        stderr=subprocess.PIPE, text=True)
        address = next(found[1] for line in self.process.stderr if (found := re.search(r"ws://(127\.0\.0\.1:\d+)/", line)))
        with urllib.request.urlopen(f"http://{address}/json/list") as reply:
            page = next(page for page in json.load(reply) if page["type"] == "page")
        self.socket = websocket.create_connection(page["webSocketDebuggerUrl"], timeout=120, suppress_origin=True)
        self.numbers = itertools.count(1)
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.communicate(timeout=60)
        self.folder.cleanup()

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (message := json.loads(self.socket.recv())).get("id") != number:
            pass
        return message["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script, seconds=300):
        """Waits until the script gives something that is true, and returns it."""
        until = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            if time.monotonic() > until:
                raise TimeoutError(f"the page never came to: {script}")
            time.sleep(0.1)
        return value

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press_shift_enter(self):
        shift = 8
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": shift}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def save_picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
