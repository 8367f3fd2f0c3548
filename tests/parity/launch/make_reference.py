"""What Accelerate's launcher adds to the environment of each rank. Usage: make_reference.py OUTPUT.json

Values that differ from run to run (the port, a temporary file) are replaced by a word.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile

RECORD = "import json, os, sys; json.dump(dict(os.environ), open(sys.argv[1] + os.environ['RANK'], 'w'))"
START = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
COMMON = ["--multi_gpu", "--dynamo_backend", "no"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def added_variables(flags_of_machines, world_size):
    """Runs one launcher for each machine, side by side, and returns what each rank finds."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "record.py")
        with open(script, "w") as file:
            file.write(RECORD)
        launcher = [sys.executable, "-m", "accelerate.commands.launch", *COMMON, "--main_process_port", port]
        launchers = [
            subprocess.Popen([*launcher, *flags, script, os.path.join(folder, "rank")], env=START)
            for flags in flags_of_machines
        ]
        for process in launchers:
            if process.wait(120) != 0:
                raise RuntimeError(f"{process.args} ended with exit code {process.returncode}")
        ranks = []
        for rank in range(world_size):
            with open(os.path.join(folder, f"rank{rank}")) as file:
                variables = json.load(file)
            variables = {name: value for name, value in variables.items() if name not in (*START, "LC_CTYPE")}
            variables["MASTER_PORT"] = "PORT" if variables["MASTER_PORT"] == port else variables["MASTER_PORT"]
            variables["TORCHELASTIC_ERROR_FILE"] = "FILE"
            ranks.append(dict(sorted(variables.items())))
    return ranks


def machine(rank):
    return [
        *("--num_processes", "4", "--num_machines", "2", "--machine_rank", str(rank), "--mixed_precision", "no"),
        *("--main_process_ip", "127.0.0.1", "--same_network", "--num_cpu_threads_per_process", "3"),
    ]


def main():
    one_machine = ["--num_processes", "2", "--num_machines", "1", "--mixed_precision", "bf16", "--debug"]
    reference = {
        "one_machine": added_variables([one_machine], 2),
        "two_machines": added_variables([machine(0), machine(1)], 4),
    }
    with open(sys.argv[1], "w") as file:
        json.dump(reference, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
