"""Trains a small model with PyTorch on the nodes that `gleaner harvest` gives to a task (docs/HARVEST.md).

The script works with `launch = "restart"` and `launch = "torchrun"`. Each node runs one process, which trains on CPU
cores. The samples are random. To adapt the script, replace `samples` and `new_model`, and keep the rest.
"""

import argparse
import datetime
import json
import os
import signal
import socket
import sys
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

# Number of samples per step. The processes share these samples, so the result does not depend on the number of
# processes.
BATCH = 64
CHECKPOINT_INTERVAL = 20  # steps between two checkpoints
# If a node fails, its processes stop responding. After this time, the other processes give up and exit.
TIMEOUT = datetime.timedelta(minutes=2)
STOPPED = 143  # exit code after SIGTERM


def samples():
    """Returns the inputs and the targets of all samples."""
    inputs = torch.randn(4096, 8, generator=torch.Generator().manual_seed(1))
    return inputs, inputs.sin().sum(1, keepdim=True)


def new_model():
    """Returns an untrained model."""
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))


def connect():
    """Connects the processes of the task. Returns the rank of this process (from 0) and the number of processes."""
    # torchrun sets these variables itself.
    if not distributed.is_torchelastic_launched():
        os.environ["RANK"] = os.environ["GLEANER_NODE_RANK"]
        os.environ["WORLD_SIZE"] = os.environ["GLEANER_NODE_COUNT"]
        os.environ["MASTER_ADDR"] = os.environ["GLEANER_MASTER"]
        os.environ["MASTER_PORT"] = os.environ["GLEANER_PORT"]
    distributed.init_process_group("gloo", timeout=TIMEOUT)
    return distributed.get_rank(), distributed.get_world_size()


class Training:
    """A model, and the number of samples on which it has been trained. Both are restored from the checkpoint, if there
    is one."""

    def __init__(self, checkpoint):
        self.checkpoint = checkpoint
        self.inputs, self.targets = samples()
        self.model = new_model()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.005)
        self.done = 0
        if os.path.exists(checkpoint):
            state = torch.load(checkpoint)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.done = state["done"]
        self.parallel = DistributedDataParallel(self.model)

    def step(self, rank, processes, total, has_signal):
        """Trains on the next batch. Returns its loss, and whether a process has received SIGTERM."""
        count = min(BATCH, total - self.done)
        # This process trains on its share of the batch.
        first, last = (self.done + count * part // processes for part in (rank, rank + 1))
        rows = torch.arange(first, last) % len(self.inputs)
        squares = (self.parallel(self.inputs[rows]) - self.targets[rows]).square().sum()
        self.optimizer.zero_grad()
        # PyTorch averages the gradients over the processes. With this factor, the average is the gradient of the
        # batch's mean loss, even if the shares differ in size.
        (squares * processes / count).backward()
        sums = torch.tensor([squares.item(), has_signal])
        distributed.all_reduce(sums)
        self.optimizer.step()
        self.done += count
        return sums[0].item() / count, sums[1].item() > 0

    def save(self):
        """Replaces the checkpoint atomically: if the process is killed, either the old or the new checkpoint
        remains."""
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "done": self.done}
        with open(self.checkpoint + ".part", "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(self.checkpoint + ".part", self.checkpoint)


class Reporter:
    """Reports the progress of the task to the pilot, and logs the loss of each step."""

    def __init__(self, log):
        self.pilot = socket.socket(socket.AF_UNIX)
        self.pilot.connect(os.environ["GLEANER_PROGRESS"])
        self.log = open(log, "a", buffering=1)

    def log_step(self, *values):
        print(os.getpid(), *values, sep=",", file=self.log)

    def report(self, done):
        """Reports the number of samples processed since the task was submitted."""
        self.pilot.sendall(json.dumps({"done": done}).encode() + b"\n")


def train(total, pause, rank, processes):
    """Trains until all samples are done or a process receives SIGTERM. Returns whether all samples are done."""
    signals = []
    # Before this line, SIGTERM ends the process at once, and nothing is lost.
    signal.signal(signal.SIGTERM, lambda number, frame: signals.append(number))
    folder = os.environ["GLEANER_CHECKPOINT"]
    training = Training(os.path.join(folder, "checkpoint.pt"))
    # Only the first process reports, logs and writes checkpoints.
    reporter = Reporter(os.path.join(folder, "losses.csv")) if rank == 0 else None
    is_stopping = False
    while training.done < total and not is_stopping:
        before = training.done
        # All processes learn of the signal in the same step, so they all stop after that step.
        loss, is_stopping = training.step(rank, processes, total, bool(signals))
        if reporter:
            reporter.log_step(processes, before, training.done, loss)
            is_due = training.done // BATCH % CHECKPOINT_INTERVAL == 0
            if is_due or is_stopping or training.done == total:
                training.save()
            reporter.report(training.done)
        time.sleep(pause * BATCH / processes)
    return training.done == total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=float, default=1e6, help="number of samples")
    parser.add_argument("--pause", type=float, default=0, help="additional seconds per sample, to make training slow")
    args = parser.parse_args()
    has_finished = train(int(args.samples), args.pause, *connect())
    # Under torchrun, exit code 0 would mean that the task has finished.
    sys.exit(0 if has_finished else STOPPED)


if __name__ == "__main__":
    main()
