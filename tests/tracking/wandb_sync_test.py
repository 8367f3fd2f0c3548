"""Lets a program write offline runs, and W&B's own programs read and upload them: wandb_sync_test.py PROGRAM VENV.

The package is installed into VENV the first time: 125 MB. `wandb sync` uploads to a server of this test, which answers as much
as it asks for.
"""

import gzip
import http.server
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

program, venv = sys.argv[1], pathlib.Path(sys.argv[2])
requirements = pathlib.Path(__file__).with_name("requirements-wandb.txt")


def install_package():
    stamp = venv / ".installed"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], check=True)
    stamp.write_text(requirements.read_text())


class Server(http.server.ThreadingHTTPServer):
    """Keeps what is uploaded."""

    def __init__(self, num_rows_before=0):
        super().__init__(("127.0.0.1", 0), Handler)
        self.num_rows_before = num_rows_before  # of the run that is uploaded, from when it was uploaded before
        self.runs, self.rows, self.offsets, self.summary, self.completed = [], [], [], {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def take(self, path, body):
        """The answer to a request."""
        if path == "/graphql":
            request = json.loads(body)
            return {"data": getattr(self, request["operationName"], lambda **_: {})(**request["variables"])}
        if path.endswith("/file_stream"):
            request = json.loads(body)
            files = request.get("files") or {}
            if history := files.get("wandb-history.jsonl"):
                self.offsets.append(history["offset"])
                self.rows += map(json.loads, history["content"])
            for line in files.get("wandb-summary.json", {}).get("content", []):
                self.summary = json.loads(line)
            if request.get("complete"):
                self.completed.append(request.get("exitcode"))
        return {}

    def RunResumeStatus(self, name, project, **_):
        """What is known of a run that is to be gone on with."""
        if not self.num_rows_before:
            return {}
        last = json.dumps({"_step": self.num_rows_before - 1, "_runtime": 5})
        bucket = {"id": "of the run before", "name": name, "displayName": "first", "config": "{}", "tags": [], "notes": "",
                  "summaryMetrics": last, "historyTail": json.dumps([last]), "historyLineCount": self.num_rows_before,
                  "eventsTail": "[]", "eventsLineCount": 0, "logLineCount": 0, "wandbConfig": json.dumps({"t": {}})}
        return {"model": {"id": "1", "name": project, "entity": {"id": "1", "name": "me"}, "bucket": bucket}}

    def UpsertBucket(self, **run):
        self.runs.append(run)
        project = {"id": "1", "name": run["project"], "entity": {"id": "1", "name": "me"}}
        bucket = {"id": "1", "name": run["name"], "displayName": run["displayName"], "config": "{}", "project": project}
        return {"upsertBucket": {"bucket": bucket | {"historyLineCount": 0}, "inserted": True}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        answer = json.dumps(self.server.take(self.path, body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_POST

    def log_message(self, *_):
        pass


def run(*command, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    result = subprocess.run(command, env=environment | variables, cwd=home, capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout, result.stderr


def write_run(*options, **variables):
    _, output, errors = run(program, *options, WANDB_DIR=home, WANDB_ENTITY="team", **variables)
    assert output, errors
    return output.strip()


def wandb(*words, **variables):
    code, output, errors = run(venv / "bin/wandb", *words, **variables)
    assert code == 0, f"wandb {words}: {output}\n{errors}"
    return output


def check_rows(rows):
    assert [row["_step"] for row in rows] == [*range(len(rows))]
    assert [row["loss"] for row in rows[:1500]] == [1 / (step + 1) for step in range(1500)]
    assert rows[1499]["lr"] == 0.5 and rows[1500]["long"] == "x" * 100_000
    assert all(row["_runtime"] >= 0 for row in rows)


def check_last_values(values):
    assert math.isnan(values["broken"]) and values["peak"] == -math.inf and values["eval"] == {"accuracy": 0.75}, values


def check_names(run):
    names = {key: run[key] for key in ("entity", "project", "displayName", "groupName", "jobType", "notes", "tags")}
    assert names == {"entity": "team", "project": "a project", "displayName": "first", "groupName": "nights",
                     "jobType": "train", "notes": "two\nlines", "tags": ["blue", "small"]}, names


def upload(directory):
    server = Server()
    wandb("sync", directory, WANDB_BASE_URL=server.url, WANDB_API_KEY="0" * 40)
    check_rows(server.rows)
    check_last_values(server.summary)
    assert server.summary["loss"] == 1 / 1500, server.summary
    check_names(server.runs[0])
    assert directory.endswith("-" + server.runs[0]["name"]), server.runs[0]
    config = {name: item["value"] for name, item in json.loads(server.runs[-1]["config"]).items() if name != "_wandb"}
    assert config == {"lr": 3e-5, "bias": True, "model": {"layers": 12, "name": 'bert "é"'}}, config
    return server


def check_shown(directory):
    """What `wandb leet` says of the latest run."""
    shown = json.loads(wandb("leet", "inspect", "--summary", "--json"))
    assert pathlib.Path(shown["file"]).parent.samefile(directory), shown["file"]
    assert (shown["name"], shown["state"], shown["step"]) == ("first", "finished", 1501), shown
    assert shown["summary"]["loss"] == 1 / 1500 and shown["config"]["model"]["layers"] == 12, shown


def check_finished(directory):
    check_shown(directory)
    server = upload(directory)
    assert len(server.rows) == 1502 and server.completed == [0], (len(server.rows), server.completed)
    check_last_values(server.rows[-1])


def check_killed(directory):
    """The row of the last step is not there yet, its values are in the summary."""
    server = upload(directory)
    assert len(server.rows) == 1501 and server.completed == [1], (len(server.rows), server.completed)


def check_resumed(directory):
    """Rows go behind those of the run before. Steps that it has had already get the numbers after its last one."""
    server = Server(num_rows_before=1502)
    wandb("sync", directory, WANDB_BASE_URL=server.url, WANDB_API_KEY="0" * 40)
    assert server.runs[0]["name"] == "r1" and server.runs[0]["id"] == "of the run before", server.runs[0]
    assert server.offsets[0] == 1502, server.offsets
    steps = [(row["_step"], row["loss"]) for row in server.rows]
    assert steps == [(1502, 0.5), (1503, 0.25), (2000, 0.125)], steps


install_package()
with tempfile.TemporaryDirectory() as home:
    check_finished(write_run())
    check_killed(write_run("killed"))
    check_resumed(write_run("resumed", WANDB_RUN_ID="r1"))
