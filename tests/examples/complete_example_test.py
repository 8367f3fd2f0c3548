"""A complete example, killed after its first checkpoint and resumed: complete_example_test.py LAUNCHER PROGRAM.

What it prints and logs of its last epoch has to be what a run that nobody disturbed prints and logs.
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

launcher, program = sys.argv[1:]
name = pathlib.Path(program).name
SIZES = {"complete_cv_example": ["--num_samples", "6000", "--num_epochs", "2", "--batch_size", "32"],
         "complete_nlp_example": ["--quick", "--num_train_rows", "96", "--num_eval_rows", "40", "--num_epochs", "2"]}
NUM_STEPS = {"complete_cv_example": 188, "complete_nlp_example": 12}
SAVE_EVERY = {"complete_cv_example": 20, "complete_nlp_example": 4}


def start(directory, *flags):
    return subprocess.Popen([launcher, "launch", "--num_processes", "2", program, *SIZES[name], "--with_tracking", "--output_dir", directory,
                             "--checkpointing_steps", str(SAVE_EVERY[name]), *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(run):
    output, _ = run.communicate(timeout=240)
    print(output)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}")
    return re.findall(r"^epoch (\d+):? ((?:accuracy|\{'accuracy').*)$", output, re.MULTILINE)


def kill_after_first_checkpoint(run, directory):
    """Ends the job in the middle of its work, once there is something to resume from."""
    limit = time.monotonic() + 120
    while not list(pathlib.Path(directory, "checkpoints").glob("checkpoint_*")):
        if time.monotonic() > limit or run.poll() is not None:
            sys.exit("there was no checkpoint before the program ended")
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.communicate(timeout=60)


def logged(directory):
    """The metrics by epoch; a line that was logged again after resuming has to be the same."""
    lines = [json.loads(line) for line in pathlib.Path(directory, name, "metrics.jsonl").read_text().splitlines()]
    return {line["epoch"]: {key: value for key, value in line.items() if key != "time"} for line in lines}


with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as killed:
    printed = finish(start(whole, "--resume_from_checkpoint", "latest"))  # there is none yet
    if len(printed) != 2:
        sys.exit(f"two epochs should have been printed once each: {printed}")
    metrics = logged(whole)
    if metrics[1]["step"] != NUM_STEPS[name]:
        sys.exit(f"two epochs have {NUM_STEPS[name]} steps; {metrics[1]['step']} were logged")
    kept = {path.name for path in pathlib.Path(whole, "checkpoints").iterdir()}
    newest = NUM_STEPS[name] // SAVE_EVERY[name] - 1
    if kept != {f"checkpoint_{newest - 1}", f"checkpoint_{newest}"}:
        sys.exit(f"the two newest checkpoints should be kept, not {kept}")

    kill_after_first_checkpoint(start(killed), killed)
    resumed = finish(start(killed, "--resume_from_checkpoint", "latest"))
    if resumed[-1] != printed[-1]:
        sys.exit(f"after a kill it printed {resumed[-1]} instead of {printed[-1]}")
    if logged(killed) != metrics:
        sys.exit(f"after a kill it logged {logged(killed)} instead of {metrics}")
    if name == "complete_nlp_example" and not pathlib.Path(killed, "model", "model.safetensors").stat().st_size:
        sys.exit("the trained model was not saved")
