"""Lets a program log to a real MLflow server on this machine and reads the run back: mlflow_server_test.py PROGRAM VENV.

The server's packages are installed into VENV the first time: 220 MB.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

program, venv = sys.argv[1], pathlib.Path(sys.argv[2])
requirements = pathlib.Path(__file__).with_name("requirements-mlflow.txt")


def install_server():
    stamp = venv / ".installed"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], check=True)
    stamp.write_text(requirements.read_text())


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(path, **parameters):
    url = f"{uri}/api/2.0/mlflow/{path}?{urllib.parse.urlencode(parameters)}"
    with urllib.request.urlopen(url, timeout=60) as response:
        return json.load(response)


def wait_until_it_answers(server):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"{uri}/health", timeout=5).read()
        except OSError:
            if server.poll() is not None:
                sys.exit(f"the server ended with {server.returncode}")
            time.sleep(0.5)
    sys.exit("the server does not answer")


def check_run(run_id):
    run = ask("runs/get", run_id=run_id)["run"]
    assert run["info"]["run_name"] == "first" and run["info"]["status"] == "FINISHED", run["info"]
    params = {param["key"]: param["value"] for param in run["data"]["params"]}
    assert params == {"lr": "3.0e-05", "bias": "True", "model/layers": "12"}, params
    assert {"key": "team", "value": "blue"} in run["data"]["tags"], run["data"]["tags"]
    assert ask("experiments/get", experiment_id=run["info"]["experiment_id"])["experiment"]["name"] == "a project"

    history = ask("metrics/get-history", run_id=run_id, metric_key="loss", max_results=5000)["metrics"]
    assert {point["step"]: point["value"] for point in history} == {step: 1 / (step + 1) for step in range(1500)}
    latest = {metric["key"]: metric["value"] for metric in run["data"]["metrics"]}
    assert str(latest["broken"]) in ("NaN", "nan"), latest
    assert float(latest["peak"]) > 1e300 and latest["eval/accuracy"] == 0.75, latest


install_server()
uri = f"http://127.0.0.1:{free_port()}"
with tempfile.TemporaryDirectory() as directory:
    server = subprocess.Popen(
        [venv / "bin/mlflow", "server", "--host", "127.0.0.1", "--port", uri.rpartition(":")[2], "--workers", "1",
         "--backend-store-uri", f"sqlite:///{directory}/mlflow.db", "--artifacts-destination", f"{directory}/artifacts"],
        cwd=directory, env=os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}, start_new_session=True)
    try:
        wait_until_it_answers(server)
        run = subprocess.run([program], env=os.environ | {"MLFLOW_TRACKING_URI": uri}, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stderr
        check_run(run.stdout.strip())
    finally:
        os.killpg(server.pid, 9)
        server.wait()
