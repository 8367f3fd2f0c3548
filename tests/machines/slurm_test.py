"""A cluster of Slurm's with two nodes, both of them this machine, and jobs in it as its users start them.

    slurm_test.py ACCELERATE PROGRAM

PROGRAM is the conformance program, whose ranks really talk to each other. Takes root: a node is a name, and the second
one is the name of the machine in a UTS namespace.
"""

import os
import pathlib
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ACCELERATE, PROGRAM = sys.argv[1:3]
NODES = [socket.gethostname(), f"{socket.gethostname()}-2"]
JOBS = 20  # more than the tests start

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={nodes[0]}
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={directory}/munge.socket
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
FirstJobId={first_job}
NodeName={nodes[0]} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4
NodeName={nodes[1]} NodeAddr=127.0.0.2 Port={ports[2]} CPUs=4
PartitionName=all Nodes=ALL Default=YES
"""


def is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def first_job():
    """A job's ranks meet at the port that its number says: numbers whose ports nobody has."""
    while True:
        first = random.randrange(1, 9000)
        if all(is_free(20000 + job) for job in range(first, first + JOBS)):
            return first


class Cluster:
    def __init__(self, directory):
        self.directory = directory
        self.processes = []
        (directory / "munge.key").write_bytes(secrets.token_bytes(1024))
        (directory / "munge.key").chmod(0o600)
        for name in ("state", *NODES):
            (directory / name).mkdir()
        settings = {"nodes": NODES, "first_job": first_job(), "ports": free_ports(3)}
        (directory / "slurm.conf").write_text(CONFIGURATION.format(directory=directory, **settings))
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("ACCELERATE_")}
        self.environment |= {"SLURM_CONF": f"{directory}/slurm.conf", "HF_HOME": "/nowhere", "OMP_NUM_THREADS": "1"}

    def start(self):
        files = [f"--{name}-file={self.directory}/munge.{name}" for name in ("key", "pid", "seed")]
        self._start("munged", "--foreground", "--force", f"--socket={self.directory}/munge.socket", *files)
        self._wait_until("munged", lambda: (self.directory / "munge.socket").exists())
        self._start("slurmctld", "-D", "-i")
        self._start("slurmd", "-D")
        self._start("unshare", "--uts", "sh", "-c", f"hostname {NODES[1]} && exec slurmd -D")
        self._wait_until("the nodes", lambda: self._sinfo().split() == ["idle", "idle"])

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(timeout=30)

    def run(self, *words):
        """Exit code and output of a command of Slurm's."""
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment, timeout=120
        )
        return done.returncode, done.stdout

    def _start(self, name, *arguments):
        with open(self.directory / f"log{len(self.processes)}", "w") as log:
            process = subprocess.Popen([name, *arguments], stdout=log, stderr=log, env=self.environment)
        self.processes.append(process)

    def _sinfo(self):
        return self.run("sinfo", "--noheader", "--Node", "--format=%T")[1]

    def _wait_until(self, what, ready, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                logs = "\n".join(log.read_text() for log in sorted(self.directory.glob("log*")))
                raise TimeoutError(f"{what} did not come up in {seconds} s\n{logs}")
            time.sleep(0.1)


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.cluster = Cluster(pathlib.Path(directory.name))
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def check_success(self, processes, *words):
        code, output = self.cluster.run(*words)
        self.assertEqual(code, 0, output)
        self.assertIn(f"pass  ranks: {processes} processes", output)
        self.assertEqual(output.count("pass  "), 6, output)

    def test_tasks_of_one_node_are_ranks(self):
        self.check_success(2, "srun", "--nodes=1", "--ntasks=2", PROGRAM)

    def test_tasks_of_two_nodes_are_ranks(self):
        self.check_success(4, "srun", "--nodes=2", "--ntasks=4", PROGRAM)

    def test_one_launcher_on_each_node_starts_its_ranks(self):
        launch = (ACCELERATE, "launch", "--cpu", "--num_processes", "4", PROGRAM)
        self.check_success(4, "srun", "--nodes=2", "--ntasks-per-node=1", *launch)

    def test_a_launcher_in_an_allocation_of_one_node_needs_no_srun(self):
        launch = (ACCELERATE, "launch", "--cpu", "--num_processes", "2", PROGRAM)
        self.check_success(2, "salloc", "--nodes=1", "--ntasks=2", *launch)

    def test_a_launcher_says_where_it_has_its_settings_from(self):
        launch = (ACCELERATE, "launch", "--cpu", "--num_processes", "2", "--show_config", PROGRAM)
        code, output = self.cluster.run("srun", "--nodes=2", "--ntasks-per-node=1", *launch)
        self.assertEqual(code, 0, output)
        for variable in ("SLURM_NNODES", "SLURM_NODEID", "SLURM_STEP_NODELIST", "SLURM_JOB_ID"):
            self.assertIn(variable, output)

    def test_too_many_launchers_are_told_how_many_there_should_be(self):
        launch = (ACCELERATE, "launch", "--cpu", "--num_processes", "4", PROGRAM)
        code, output = self.cluster.run("srun", "--nodes=2", "--ntasks=4", *launch)
        self.assertEqual(code, 2, output)
        self.assertIn("--ntasks-per-node=1", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
