"""Runs one of Python Accelerate's own checks as a rank: python_check.py NAME.

A process of torch 2.13 with a group over gloo sometimes aborts while Python ends, after all work is done ("terminate
called without an active exception", in about one of twenty). So this one ends without it once the check has passed.
"""

import os
import runpy
import sys

runpy.run_module(f"accelerate.test_utils.scripts.{sys.argv.pop(1)}", run_name="__main__", alter_sys=True)
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
