"""Answers as an MLflow server does and notes what it was asked: mlflow_stub.py REQUESTS.jsonl [NUM_REFUSED [STATUS]].

Prints its port. The first NUM_REFUSED batches of metrics get the answer STATUS, 500 if not given.
"""

import http.server
import json
import sys

requests = open(sys.argv[1], "w", buffering=1)
num_refused = int(sys.argv[2]) if len(sys.argv) > 2 else 0
refusal = int(sys.argv[3]) if len(sys.argv) > 3 else 500

ANSWERS = {
    "experiments/create": {"experiment_id": "7"},
    "runs/create": {"run": {"info": {"run_id": "run-1"}}},
    "runs/log-batch": {},
    "runs/update": {},
}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, content):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def note(self, body):
        path = self.path.removeprefix("/api/2.0/mlflow/")
        requests.write(json.dumps({"path": path, "body": body, "authorization": self.headers.get("Authorization")}) + "\n")
        return path

    def do_GET(self):
        self.note(None)
        self.answer(404, {"error_code": "RESOURCE_DOES_NOT_EXIST"})

    def do_POST(self):
        global num_refused
        path = self.note(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if path == "runs/log-batch" and num_refused > 0:
            num_refused -= 1
            self.answer(refusal, {"error_code": "REFUSED"})
        else:
            self.answer(200, ANSWERS[path])

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(f"port {server.server_port} ready", flush=True)
server.serve_forever()
