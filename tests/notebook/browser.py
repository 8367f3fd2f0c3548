"""A headless Chromium, driven by its own protocol: a page is opened, scripts run in it, keys are pressed."""

import base64
import itertools
import json
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

import websocket


class Browser:
    """For a with statement. `open` shows a page; then `evaluate` and `press` act on it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1600",
             "--remote-debugging-port=0", f"--user-data-dir={self.folder.name}", "about:blank"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"ws://(127\.0\.0\.1:\d+)/", line):
                break
        pages = json.load(urllib.request.urlopen(f"http://{found[1]}/json/list"))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = websocket.create_connection(address, timeout=120, suppress_origin=True)
        self.numbers = itertools.count(1)
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.process.stderr.close()
        self.folder.cleanup()

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                return message["result"]

    def open(self, address):
        self.call("Page.navigate", url=address)

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script, seconds=120):
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
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 8}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **key)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key)

    def save_picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
