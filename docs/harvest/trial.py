"""Trains a trial of a search on the node that `gleaner harvest` gives to the trial (docs/HARVEST.md).

The script asks for its hyperparameters, continues from its checkpoint, and reports its loss. Instead of a network, it
fits one weight to a target by gradient descent.
"""

import json
import os
import pathlib
import socket

SAMPLES = 100  # samples per epoch
TARGET = 3.0

connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["GLEANER_PROGRESS"])
lines = connection.makefile("rw")


def write(message):
    """Sends a line of JSON to the pilot."""
    lines.write(json.dumps(message) + "\n")
    lines.flush()


def report(state):
    """Reports the number of samples processed in all rungs so far, and the loss."""
    write({"done": SAMPLES * state["epoch"], "loss": (state["weight"] - TARGET) ** 2})


write({"ask": True})
trial = json.loads(lines.readline())
rate = trial["parameters"]["lr"]
checkpoint = pathlib.Path(os.environ["GLEANER_CHECKPOINT"], "state.json")
state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"epoch": 0, "weight": 0.0}
# The last report may have been lost, so the script first repeats it from the checkpoint.
report(state)
while state["epoch"] < trial["resource"]:
    state["weight"] -= rate * 2 * (state["weight"] - TARGET)
    state["epoch"] += 1
    # The checkpoint is replaced atomically: if the script is killed, either the old or the new checkpoint remains.
    new = checkpoint.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.replace(checkpoint)
    report(state)
