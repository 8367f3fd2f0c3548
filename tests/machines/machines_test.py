"""Several machines, each with its own launcher: network namespaces that are joined by a bridge.

    machines_test.py ACCELERATE PROGRAM

PROGRAM is the conformance program, whose ranks really talk to each other.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest

ACCELERATE, PROGRAM = sys.argv[1:3]
FULL = "ACCELERATE_TEST_FULL" in os.environ
PORT = "29611"
MARK = f"acc{os.getpid()}"


def run(*words):
    subprocess.run(words, check=True)


def address(machine):
    return f"10.77.0.{machine + 1}"


@contextlib.contextmanager
def machines(count):
    """Namespaces for `count` machines on one network. They are gone afterwards, and all that runs in them."""
    names = [f"{MARK}m{machine}" for machine in range(count)]
    switch = f"{MARK}s"
    try:
        run("ip", "netns", "add", switch)
        run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", switch, "link", "set", "bridge", "up")
        for machine, name in enumerate(names):
            run("ip", "netns", "add", name)
            peer = ("peer", "name", "eth0", "netns", name)
            run("ip", "-n", switch, "link", "add", f"port{machine}", "type", "veth", *peer)
            run("ip", "-n", switch, "link", "set", f"port{machine}", "master", "bridge", "up")
            run("ip", "-n", name, "addr", "add", f"{address(machine)}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in [*names, switch]:
            pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()
            for pid in pids:
                os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name])


def start(name, machine, num_machines, *flags, processes=None, ip=None, program=(PROGRAM,)):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ACCELERATE_")}
    environment |= {"HF_HOME": "/nowhere", "OMP_NUM_THREADS": "1"}
    words = [
        *("ip", "netns", "exec", name, ACCELERATE, "launch", "--cpu"),
        *("--num_machines", str(num_machines)),
        *(("--rdzv_backend", "c10d") if machine is None else ("--machine_rank", str(machine))),
        *("--num_processes", str(processes or num_machines), *flags),
    ]
    if num_machines > 1:
        words += ["--main_process_ip", ip or address(0), "--main_process_port", PORT]
    words += program
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def finish(launcher, seconds=60):
    output, _ = launcher.communicate(timeout=seconds)
    return launcher.returncode, output


class Machines(unittest.TestCase):
    def check_success(self, launchers, processes):
        results = [finish(launcher) for launcher in launchers]
        for code, output in results:
            self.assertEqual(code, 0, output)
        self.assertIn(f"pass  ranks: {processes} processes", results[0][1])
        self.assertEqual(results[0][1].count("pass  "), 6, results[0][1])

    def test_ranks_of_two_machines_form_one_job(self):
        with machines(2) as names:
            self.check_success([start(name, m, 2, processes=4) for m, name in enumerate(names)], 4)

    def test_machines_may_come_late_and_in_any_order(self):
        with machines(3) as names:
            first = [start(names[2], 2, 3), start(names[1], 1, 3)]
            time.sleep(20 if FULL else 6)
            late = start(names[0], 0, 3)
            self.check_success([late, *first], 3)

    def test_machines_get_their_rank_as_they_arrive(self):
        with machines(3) as names:
            last = [start(name, None, 3) for name in reversed(names[1:])]
            time.sleep(1)
            self.check_success([start(names[0], None, 3), *last], 3)

    def test_a_machine_that_waits_says_for_whom(self):
        with machines(2) as names:
            second = start(names[1], 1, 2)
            time.sleep(7)
            second.send_signal(signal.SIGTERM)
            code, output = finish(second)
            self.assertEqual(code, 128 + signal.SIGTERM, output)
            self.assertIn(f"waiting for machine 0 at {address(0)}, port {PORT}: connection refused", output)

    def test_refused_and_unanswered_are_told_apart(self):
        with machines(2) as names:
            code, output = finish(start(names[1], 1, 2, "--rdzv_conf", "timeout=1"))
            self.assertEqual(code, 2, output)
            self.assertIn("connection refused", output)
            run("ip", "-n", names[0], "link", "set", "eth0", "down")
            code, output = finish(start(names[1], 1, 2, "--rdzv_conf", "timeout=1"))
            self.assertEqual(code, 2, output)
            self.assertRegex(output, "no answer|No route to host")
            code, output = finish(start(names[1], 1, 2, ip="no.such.host.invalid"))
            self.assertEqual(code, 2, output)
            self.assertIn("cannot be resolved", output)

    def test_machines_that_disagree_about_the_job_end_with_an_error(self):
        with machines(2) as names:
            launchers = [start(names[0], 0, 2, processes=2), start(names[1], 1, 2, processes=4)]
            for launcher in launchers:
                code, output = finish(launcher)
                self.assertNotEqual(code, 0, output)
                self.assertIn("world size", output)

    def test_two_machines_with_the_same_rank_are_noticed(self):
        with machines(3) as names:
            launchers = [start(names[0], 0, 3), start(names[1], 1, 3), start(names[2], 1, 3)]
            outputs = [finish(launcher) for launcher in launchers]
            self.assertTrue(all(code != 0 for code, _ in outputs), outputs)
            self.assertTrue(any("rank 1" in output for _, output in outputs), outputs)

    def test_a_job_of_one_machine_listens_on_the_loopback_interface_only(self):
        with machines(1) as names:
            job = start(names[0], 0, 1, "--redirects", "1", processes=2, program=(PROGRAM, "--rounds", "1000000"))
            time.sleep(4)
            listing = ["ip", "netns", "exec", names[0], "ss", "-Hltn"]
            sockets = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()
            job.terminate()
            code, output = finish(job)
            self.assertEqual(code, 128 + signal.SIGTERM, output)
            self.assertGreaterEqual(len(sockets), 1, output)
            for socket in sockets:
                self.assertRegex(socket.split()[3], r"^(127\.0\.0\.1|\[::1\]):")

    def test_the_loss_of_a_machine_ends_the_others(self):
        with machines(2) as names:
            long = (PROGRAM, "--rounds", "1000000")
            launchers = [start(name, m, 2, "--redirects", "1", program=long) for m, name in enumerate(names)]
            time.sleep(6)
            for pid in subprocess.run(["ip", "netns", "pids", names[1]], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            began = time.monotonic()
            code, output = finish(launchers[0])
            self.assertNotEqual(code, 0, output)
            self.assertLess(time.monotonic() - began, 30)
            finish(launchers[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
