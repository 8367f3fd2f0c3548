"""Several machines, each with its own launcher: network namespaces that are joined by a bridge.

    machines_test.py ACCELERATE CONFORMANCE RANKS [TEST...]

CONFORMANCE is the program behind `accelerate test`, RANKS is rank_program.cpp; the ranks of both really talk to each
other.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from network_machines import address, cut_off, inside, kill_processes_of, machines  # noqa: E402

ACCELERATE, PROGRAM, RANKS = sys.argv[1:4]
FULL = "ACCELERATE_TEST_FULL" in os.environ
PORT = "29611"


def clean_environment():
    own = {key: value for key, value in os.environ.items() if not key.startswith("ACCELERATE_")}
    return own | {"HF_HOME": "/nowhere", "OMP_NUM_THREADS": "1"}


def start(name, machine, num_machines, *flags, processes=None, ip=None, program=(PROGRAM,), **variables):
    environment = clean_environment() | variables
    words = [
        *inside(name, ACCELERATE, "launch", "--cpu"),
        *("--num_machines", str(num_machines)),
        *(("--rdzv_backend", "c10d") if machine is None else ("--machine_rank", str(machine))),
        *("--num_processes", str(processes or num_machines), *flags),
    ]
    if num_machines > 1:
        words += ["--main_process_ip", ip or address(0), "--main_process_port", PORT]
    words += program
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def start_here(processes, *program, **variables):
    words = [ACCELERATE, "launch", "--cpu", "--num_processes", str(processes), *program]
    environment = clean_environment() | variables
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def start_rank(words, rank, world_size, local_rank, ranks_of_machine, main_address):
    """A rank without a launcher, as mpirun starts them: machines may have different numbers of them."""
    environment = clean_environment() | {
        "ACCELERATE_USE_CPU": "1",
        "RANK": str(rank),
        "WORLD_SIZE": str(world_size),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(ranks_of_machine),
        "MASTER_ADDR": main_address,
        "MASTER_PORT": PORT,
    }
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def wait_for_line(launcher, text):
    for line in launcher.stdout:
        if text in line:
            return
    raise AssertionError(f"'{text}' was not printed")


def kill_children_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)


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
            cut_off(names[0])
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
            kill_processes_of(names[1])
            began = time.monotonic()
            code, output = finish(launchers[0])
            self.assertNotEqual(code, 0, output)
            self.assertLess(time.monotonic() - began, 30)
            finish(launchers[1])

    def test_a_machine_that_is_cut_off_ends_the_ranks_of_both_sides(self):
        timeout = 5
        with machines(2) as names:
            program = (RANKS, "train", str(timeout))
            launchers = [start(name, m, 2, processes=4, program=program) for m, name in enumerate(names)]
            wait_for_line(launchers[0], "training")
            cut_off(names[1])
            began = time.monotonic()
            results = [finish(launcher) for launcher in launchers]
            self.assertLess(time.monotonic() - began, timeout + 10)
            for code, output in results:
                self.assertNotEqual(code, 0, output)
            # Those who keep the store know who is missing; the others know who does not answer.
            self.assertRegex(results[0][1], r"these ranks did not take part: 2 \(pid \d+ on .*, 3 \(pid \d+ on ")
            self.assertRegex(results[1][1], r"these ranks did not take part: 0 \(pid \d+ on .*does not answer")


class Levels(unittest.TestCase):
    """Ranks that share memory on each machine, and talk over the network between them."""

    def run_ranks(self, names, *program, **variables):
        launchers = [start(name, m, 2, processes=4, program=program, **variables) for m, name in enumerate(names)]
        results = [finish(launcher, 120) for launcher in launchers]
        for code, output in results:
            self.assertEqual(code, 0, output)
        return results[0][1]

    def test_collectives_of_two_machines_with_two_ranks_each(self):
        with machines(2) as names:
            self.assertIn("backend hierarchical", self.run_ranks(names, RANKS, "check"))
            self.assertIn("backend gloo", self.run_ranks(names, RANKS, "check", ACCELERATE_COMM="gloo"))

    def test_a_training_has_the_same_bits_over_tcp_on_two_ranks_and_the_same_sum_on_four(self):
        def fit(names, num_machines, processes):
            launchers = [
                start(name, m, num_machines, processes=processes, program=(RANKS, "fit", "0"))
                for m, name in enumerate(names[:num_machines])
            ]
            results = [finish(launcher, 120) for launcher in launchers]
            for code, output in results:
                self.assertEqual(code, 0, output)
            return re.search(r"backend (\S+) bits (\S+) sum (\S+)", results[0][1]).groups()

        with machines(2) as names:
            (one, one_bits, _), (two, two_bits, _) = fit(names, 1, 2), fit(names, 2, 2)
            self.assertEqual((one, two), ("shm", "gloo"))
            self.assertEqual(one_bits, two_bits)
            (one, _, one_sum), (two, two_bits, two_sum) = fit(names, 1, 4), fit(names, 2, 4)
            self.assertEqual((one, two), ("shm", "hierarchical"))
            self.assertAlmostEqual(float(one_sum), float(two_sum), delta=1e-3 * abs(float(one_sum)))
            self.assertEqual(fit(names, 2, 4)[1], two_bits)  # in every run

    def test_machines_with_different_numbers_of_ranks_talk_over_tcp_and_say_so(self):
        with machines(2) as names:
            places = [(names[0], 0, 2), (names[0], 1, 2), (names[1], 0, 1)]
            ranks = [
                start_rank(inside(name, RANKS, "check"), rank, 3, *place, address(0))
                for rank, (name, *place) in enumerate(places)
            ]
            results = [finish(rank) for rank in ranks]
            for code, output in results:
                self.assertEqual(code, 0, output)
            self.assertIn("backend gloo", results[0][1])
            self.assertIn("different numbers of ranks (2, 1)", results[0][1])

    def test_a_rank_that_is_killed_ends_all_at_once_and_is_named_on_the_other_machine(self):
        with machines(2) as names, tempfile.TemporaryDirectory() as notes:
            script = f'echo $$ > {notes}/$RANK; exec "$0" train 60'
            program = ("sh", "-c", script, RANKS)
            launchers = [start(name, m, 2, processes=4, program=program) for m, name in enumerate(names)]
            wait_for_line(launchers[0], "training")
            began = time.monotonic()
            os.kill(int(pathlib.Path(notes, "3").read_text()), signal.SIGKILL)
            results = [finish(launcher) for launcher in launchers]
            self.assertLess(time.monotonic() - began, 20)
            self.assertEqual(results[1][0], 128 + signal.SIGKILL, results[1][1])
            self.assertNotEqual(results[0][0], 0)
            self.assertRegex(results[0][1], r"these ranks did not take part: .*3 \(pid \d+ on ")

    def test_a_sum_takes_less_time_than_gloo_on_slow_links(self):
        def seconds(**variables):
            output = self.run_ranks(names, RANKS, "reduce", str(6 << 20), "3", **variables)
            return float(re.search(r"seconds (\S+)", output)[1])

        with machines(2, rate="100mbit") as names:
            levels, flat = seconds(), seconds(ACCELERATE_COMM="gloo")
        print(f"6 MiB at 100 Mbit/s: {levels / 3:.2f} s over two levels, {flat / 3:.2f} s flat", flush=True)
        self.assertGreater(flat / levels, 1.2)


class ExitCodes(unittest.TestCase):
    """A rank that ends without a word, on one machine."""

    def test_a_rank_that_exits_is_blamed_and_not_those_that_lost_it(self):
        for comm in ("auto", "gloo"):
            for _ in range(20 if FULL else 5):
                job = start_here(4, RANKS, "leave", "7", ACCELERATE_COMM=comm)
                code, output = finish(job)
                self.assertEqual(code, 7, output)
                self.assertRegex(output, r"rank 3 \(pid \d+ on .*\) of .* ended with exit code 7")


class Containers(unittest.TestCase):
    """Ranks of one machine that have something of their own, as containers give it to them."""

    PIDS = ("unshare", "--pid", "--fork", "--mount-proc")
    SMALL_SHM = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$0" "$@"')

    def run_ranks(self, container, *program):
        with machines(1) as names:
            words = inside(names[0], *container, RANKS, *program)
            ranks = [start_rank(words, rank, 2, rank, 2, "127.0.0.1") for rank in range(2)]
            results = [finish(rank) for rank in ranks]
        for code, output in results:
            self.assertEqual(code, 0, output)
        return results[0][1]

    def test_ranks_with_pid_namespaces_of_their_own_share_memory(self):
        self.assertIn("backend shm", self.run_ranks(self.PIDS, "check"))
        expected = self.run_ranks((), "fit", "0").splitlines()[-1]
        self.assertRegex(expected, "^backend shm bits ")
        # Where ranks do not see each other's processes, a shared step goes by other ways to the same bits.
        for zero_stage in ("0", "1"):
            self.assertEqual(self.run_ranks(self.PIDS, "fit", zero_stage).splitlines()[-1], expected)

    def test_a_rank_that_ends_in_a_pid_namespace_of_its_own_is_noticed(self):
        with machines(1) as names:
            words = inside(names[0], *self.PIDS, RANKS, "train", "60")
            ranks = [start_rank(words, rank, 2, rank, 2, "127.0.0.1") for rank in range(2)]
            wait_for_line(ranks[0], "training")
            began = time.monotonic()
            kill_children_of(ranks[1])
            code, output = finish(ranks[0])
            self.assertLess(time.monotonic() - began, 10)
            self.assertNotEqual(code, 0, output)
            self.assertIn("the process of rank 1 has ended", output)
            finish(ranks[1])

    def test_sums_larger_than_a_dev_shm_of_64_mb(self):
        self.assertIn("backend shm", self.run_ranks(self.SMALL_SHM, "check"))
        self.assertIn("seconds", self.run_ranks(self.SMALL_SHM, "reduce", str(100 << 20), "2"))


class Restarts(unittest.TestCase):
    """Launchers that have met start the ranks of all machines again, together."""

    # The second rank of machine 1 fails at first; the ranks of all others would wait for it for ever.
    FAIL_ONCE = 'echo start $TORCHELASTIC_RESTART_COUNT; if [ $RANK$TORCHELASTIC_RESTART_COUNT = 30 ]; then exit 7; fi; exec "$0" check'

    def check_restart(self, launchers):
        results = [finish(launcher, 120) for launcher in launchers]
        for code, output in results:
            self.assertEqual(code, 0, output)
            for attempt in (0, 1):
                self.assertEqual(len(re.findall(f"^start {attempt}$", output, re.MULTILINE)), 2, output)
            self.assertIn("restart 1 of at most 2", output)
        self.assertIn("backend hierarchical", results[0][1])
        self.assertIn("machine 1: rank 3", results[0][1])

    def test_a_failure_on_one_machine_starts_all_ranks_again(self):
        program = ("sh", "-c", self.FAIL_ONCE, RANKS)
        with machines(2) as names:
            restarts = ("--max_restarts", "2")
            self.check_restart(
                [start(name, m, 2, *restarts, processes=4, program=program) for m, name in enumerate(names)]
            )

    def test_machines_without_given_ranks_start_again_too(self):
        program = ("sh", "-c", self.FAIL_ONCE, RANKS)
        with machines(2) as names:
            restarts = ("--max_restarts", "2")
            self.check_restart([start(name, None, 2, *restarts, processes=4, program=program) for name in names])

    def test_when_no_starts_are_left_all_machines_end_with_the_reason(self):
        program = ("sh", "-c", 'echo start; if [ $RANK = 3 ]; then exit 7; fi; exec "$0" check', RANKS)
        with machines(2) as names:
            restarts = ("--max_restarts", "1")
            launchers = [
                start(name, m, 2, *restarts, processes=4, program=program) for m, name in enumerate(names)
            ]
            for code, output in map(finish, launchers):
                self.assertEqual(code, 7, output)
                self.assertEqual(len(re.findall("^start$", output, re.MULTILINE)), 4, output)
                self.assertRegex(output, r"rank 3 \(pid \d+ on .*\) of sh ended with exit code 7")

    def test_a_rank_that_exits_is_blamed_on_all_machines_and_not_those_that_lost_it(self):
        with machines(2) as names:
            for _ in range(20 if FULL else 3):
                launchers = [start(name, None, 2, processes=4, program=(RANKS, "leave", "7")) for name in names]
                for code, output in map(finish, launchers):
                    self.assertEqual(code, 7, output)
                    self.assertRegex(output, r"rank 3 \(pid \d+ on .*\) of .* ended with exit code 7")

    def test_a_machine_that_is_cut_off_ends_the_job_long_before_its_timeout(self):
        with machines(2) as names:
            program = (RANKS, "train", "600")
            restarts = ("--max_restarts", "2")
            launchers = [
                start(name, m, 2, *restarts, processes=4, program=program) for m, name in enumerate(names)
            ]
            wait_for_line(launchers[0], "training")
            cut_off(names[1])
            results = [finish(launcher, 60) for launcher in launchers]
            for machine, (code, output) in enumerate(results):
                self.assertNotEqual(code, 0, output)
                self.assertIn(f"machine {1 - machine}: its launcher has ended", output)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
