"""Runs a command in which {port} stands for a port that nobody on this machine has.

    with_free_port.py COMMAND [ARGUMENTS...]
"""

import os
import socket
import sys

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = str(probe.getsockname()[1])
command = [word.replace("{port}", port) for word in sys.argv[1:]]
os.execvp(command[0], command)
