"""A kernel that a test talks to as a notebook does."""

import re
import threading

from jupyter_client.manager import start_new_kernel

KERNEL = "accelerate-cpp"


class Outcome:
    """What a cell gave: its status, and everything that appeared below it."""

    def __init__(self):
        self.status, self.error, self.stdout, self.stderr = "", "", "", ""
        self.traceback, self.result = "", None
        self.displays, self.updates, self.pieces = [], [], []

    def take(self, message):
        content, kind = message["content"], message["msg_type"]
        if kind == "stream":
            self.pieces.append(content["text"])
            setattr(self, content["name"], getattr(self, content["name"]) + content["text"])
        elif kind == "execute_result":
            self.result = content["data"]
        elif kind == "display_data":
            self.displays.append(content)
        elif kind == "update_display_data":
            self.updates.append(content)
        elif kind == "error":
            self.error = f"{content['ename']}: {content['evalue']}"
            self.traceback = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(content["traceback"]))


class Kernel:
    """Starts a kernel; `run` runs a cell. For a with statement."""

    def __init__(self, name=KERNEL):
        self.name = name

    def __enter__(self):
        self.manager, self.client = start_new_kernel(kernel_name=self.name, startup_timeout=120)
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel()

    def run(self, code, interrupt_after=None, interrupt_at=None, answers=(), silent=False):
        """Runs a cell. It is interrupted when seconds have passed, or when it prints a text."""
        outcome, answers = Outcome(), list(answers)
        timer = threading.Timer(interrupt_after or 0, self.manager.interrupt_kernel)
        if interrupt_after:
            timer.start()

        def take(message):
            nonlocal interrupt_at
            outcome.take(message)
            if interrupt_at and interrupt_at in outcome.stdout:
                interrupt_at = None
                self.manager.interrupt_kernel()

        reply = self.client.execute_interactive(
            code, silent=silent, output_hook=take, timeout=600, allow_stdin=bool(answers),
            stdin_hook=lambda message: self.client.input(answers.pop(0)))
        outcome.status = reply["content"]["status"]
        return outcome

    def complete(self, code, cursor=None):
        return self.client.complete(code, len(code) if cursor is None else cursor, reply=True, timeout=60)["content"]

    def inspect(self, code, cursor=None):
        return self.client.inspect(code, len(code) if cursor is None else cursor, reply=True, timeout=60)["content"]
