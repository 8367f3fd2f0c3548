"""JupyterLab in a real browser: cells are typed and run, the bar moves, the plot appears.

    browser_test.py PICTURE.png    stores what the page looks like at the end
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from browser import Browser
from kernel_client import KERNEL

PICTURE = sys.argv.pop()
EDITORS = "Array.from(document.querySelectorAll('.jp-Notebook .cm-content'))"
KERNEL_IS_IDLE = "document.querySelector('.jp-Notebook-ExecutionIndicator')?.dataset.status === 'idle'"
SPINNER = "document.querySelector('.jp-NotebookPanel .jp-Spinner')"
OUTPUT = "Array.from(document.querySelectorAll('.jp-OutputArea-output')).map(e => e.innerText).join('|')"
PERCENTAGE = f"({OUTPUT}.match(/\\d+%/g) || []).pop()"

BAR = """{
  accelerate::ProgressBar bar(40);
  for (int i = 0; i < 40; ++i) {
    bar.update();
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
}"""


class Lab:
    """JupyterLab with an empty notebook of our kernel. For a with statement."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "execution_count": None, "outputs": []}
        spec = {"name": KERNEL, "display_name": KERNEL, "language": "c++"}
        pathlib.Path(self.folder.name, "empty.ipynb").write_text(json.dumps(
            {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": spec}, "cells": [cell]}))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0",
             "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
             "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", f"--notebook-dir={self.folder.name}"],
            stderr=subprocess.PIPE, text=True,
            # Settings of its own, so that the page does not open what another one has left open.
            env=os.environ | {"JUPYTER_CONFIG_DIR": os.path.join(self.folder.name, ".settings")})
        port = next(found[1] for line in self.process.stderr if (found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", line)))
        self.server = f"http://127.0.0.1:{port}"
        return self

    def wait_for_kernel(self):
        """Until the page is connected to it. The page itself calls a kernel idle that is not there yet."""
        connected = False
        until = time.monotonic() + 300
        while not connected and time.monotonic() < until:
            time.sleep(0.2)
            with urllib.request.urlopen(f"{self.server}/api/kernels") as reply:
                connected = any(kernel["connections"] > 0 for kernel in json.load(reply))

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=120)
        self.folder.cleanup()


class BrowserTest(unittest.TestCase):
    def setUp(self):
        lab = self.enterContext(Lab())
        self.browser = self.enterContext(Browser())
        self.browser.open(f"{lab.server}/lab/tree/empty.ipynb")
        self.addCleanup(self.browser.save_picture, PICTURE)
        lab.wait_for_kernel()
        self.browser.wait_for(f"!{SPINNER} && {EDITORS}.length > 0 && {KERNEL_IS_IDLE}")

    def run_cell(self, code):
        """Types the code into the last cell and runs it; JupyterLab opens another one below."""
        num_cells = self.browser.evaluate(f"{EDITORS}.length")
        self.browser.evaluate(f"{EDITORS}.pop().focus()")
        self.browser.type(code)
        self.browser.press_shift_enter()
        self.browser.wait_for(f"{EDITORS}.length > {num_cells}")

    def test_cells_are_typed_and_run(self):
        self.run_cell("torch::arange(4) * 2")
        self.browser.wait_for(f"{OUTPUT}.includes('[0, 2, 4, 6]')")

        self.browser.evaluate(f"seen = new Set(); setInterval(() => seen.add({PERCENTAGE}), 50)")
        self.run_cell(BAR)
        self.browser.wait_for(f"{OUTPUT}.includes('40/40')")
        self.assertGreater(self.browser.evaluate("seen.size"), 4, "the bar has to move")
        self.assertEqual(self.browser.evaluate(f"({OUTPUT}.match(/%/g) || []).length"), 1, "there has to be one bar only")

        self.run_cell('accelerate::notebook::plot({3, 2, 1.5, 1.2, 1.1}, {.title = "loss"})')
        self.browser.wait_for("document.querySelector('.jp-RenderedSVG img, .jp-RenderedSVG svg') !== null")


if __name__ == "__main__":
    unittest.main()
