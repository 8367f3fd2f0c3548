"""JupyterLab in a real browser: cells are typed and run, the bar moves, the plot appears.

    browser_test.py PICTURE.png    what the page looks like at the end
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from browser import Browser
from kernel_client import KERNEL

PICTURE = sys.argv.pop() if len(sys.argv) > 1 else "notebook.png"
OUTPUT = "Array.from(document.querySelectorAll('.jp-OutputArea-output')).map(e => e.innerText).join('|')"


class Lab:
    """JupyterLab with an empty notebook of our kernel."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "execution_count": None, "outputs": []}
        spec = {"name": KERNEL, "display_name": KERNEL, "language": "c++"}
        pathlib.Path(self.folder.name, "empty.ipynb").write_text(json.dumps(
            {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": spec}, "cells": [cell]}))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=",
             "--ServerApp.disable_check_xsrf=True", "--LabApp.news_url=None", "--LabApp.check_for_updates_class="
             "jupyterlab.NeverCheckForUpdate", f"--notebook-dir={self.folder.name}"],
            stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/lab", line):
                self.address = f"http://127.0.0.1:{found[1]}/lab/tree/empty.ipynb"
                return self
        raise RuntimeError("JupyterLab did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stderr.read()
        self.process.wait(60)
        self.process.stderr.close()
        self.folder.cleanup()


class BrowserTest(unittest.TestCase):
    def test_cells_are_typed_and_run(self):
        with Lab() as lab, Browser() as browser:
            browser.open(lab.address)
            browser.wait_for("document.querySelector('.jp-Notebook .cm-content') !== null")

            def run(code):
                browser.evaluate("Array.from(document.querySelectorAll('.jp-Notebook .cm-content')).pop().focus()")
                browser.type(code)
                browser.press_shift_enter()

            run("torch::arange(4) * 2")
            browser.wait_for(f"{OUTPUT}.includes('[0, 2, 4, 6]')")

            run("{ accelerate::ProgressBar bar(40); for (int i = 0; i < 40; ++i) { bar.update(); "
                "std::this_thread::sleep_for(std::chrono::milliseconds(100)); } }")
            seen = {browser.wait_for(f"({OUTPUT}.match(/\\d+%/g) || []).pop()") for _ in range(60)}
            browser.wait_for(f"{OUTPUT}.includes('40/40')")
            self.assertGreater(len(seen), 3, "the bar has to move")
            self.assertEqual(browser.evaluate(f"({OUTPUT}.match(/%/g) || []).length"), 1, "there has to be one bar only")

            run("accelerate::notebook::plot({3, 2, 1.5, 1.2, 1.1}, {.title = \"loss\"})")
            browser.wait_for("document.querySelector('.jp-OutputArea-output img, .jp-OutputArea-output svg') !== null")
            browser.save_picture(PICTURE)


if __name__ == "__main__":
    unittest.main()
