"""Machines for tests and benchmarks: network namespaces that are joined by a bridge. Takes root and iproute2."""

import contextlib
import os
import re
import signal
import subprocess

_num_networks = 0


def _run(*words):
    subprocess.run(words, check=True)


def address(machine):
    return f"10.77.0.{machine + 1}"


def inside(name, *command):
    """The words that run `command` on the machine of that name."""
    return ["ip", "netns", "exec", name, *command]


def processes_of(name):
    listing = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True)
    return [int(pid) for pid in listing.stdout.split()]


def kill_processes_of(name):
    for pid in processes_of(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def cut_off(name):
    """Takes the machine from the network, as a pulled cable does: nobody is told."""
    _run("ip", "-n", name, "link", "set", "eth0", "down")


def can_be_made():
    probe = f"accprobe{os.getpid()}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        made = subprocess.run(["ip", "netns", "add", probe], **quiet).returncode == 0
        subprocess.run(["ip", "netns", "del", probe], **quiet)
    except FileNotFoundError:
        return False
    return made


def _remove_leftovers():
    """Removes the namespaces of runs that were killed: their names begin with the process that made them."""
    listing = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True)
    for name, maker in re.findall(r"^(acc(\d+)n\S+)", listing.stdout, re.MULTILINE):
        if not os.path.exists(f"/proc/{maker}"):
            subprocess.run(["ip", "netns", "del", name])


@contextlib.contextmanager
def machines(count, rate=None):
    """The names of `count` machines on one network; what each sends is limited to `rate` ("200mbit"). They are gone
    afterwards, and all that runs in them."""
    global _num_networks
    _num_networks += 1
    mark = f"acc{os.getpid()}n{_num_networks}"
    names = [f"{mark}m{machine}" for machine in range(count)]
    switch = f"{mark}s"
    _remove_leftovers()
    try:
        _run("ip", "netns", "add", switch)
        _run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        _run("ip", "-n", switch, "link", "set", "bridge", "up")
        for machine, name in enumerate(names):
            _run("ip", "netns", "add", name)
            peer = ("peer", "name", "eth0", "netns", name)
            _run("ip", "-n", switch, "link", "add", f"port{machine}", "type", "veth", *peer)
            _run("ip", "-n", switch, "link", "set", f"port{machine}", "master", "bridge", "up")
            _run("ip", "-n", name, "addr", "add", f"{address(machine)}/24", "dev", "eth0")
            _run("ip", "-n", name, "link", "set", "eth0", "up")
            _run("ip", "-n", name, "link", "set", "lo", "up")
            if rate:
                limit = ("tbf", "rate", rate, "burst", "256kb", "latency", "50ms")
                _run("tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", *limit)
        yield names
    finally:
        for name in [*names, switch]:
            kill_processes_of(name)
            subprocess.run(["ip", "netns", "del", name])
