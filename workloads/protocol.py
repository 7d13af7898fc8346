"""Reports progress to `gleaner profile` in lines on the standard output (docs/PROFILING.md)."""

import collections
import time

import torch

INTERVAL = 0.05  # minimum seconds between two reports
LEAD = 8  # maximum number of steps by which the CPU may be ahead of the GPU


class Reporter:
    """Counts completed steps, and reports their samples.

    A GPU works asynchronously, so a step counts only once the GPU has completed it. Reports are sent only
    after steps, because an unchanged count would look like a stalled workload."""

    def __init__(self, device, warm_steps, processes=1, is_heard=True):
        self.is_on_gpu = device.type == "cuda"
        self.warm_steps = warm_steps
        self.processes = processes
        self.is_heard = is_heard
        self.pending = collections.deque()
        self.steps = 0
        self.samples = 0.0
        self.reported_at = -INTERVAL

    def step(self, samples):
        """Records that this process has submitted a step to the device."""
        if self.is_on_gpu:
            end = torch.cuda.Event()
            end.record()
            self.pending.append((end, samples))
            if len(self.pending) > LEAD:
                self.pending[0][0].synchronize()
            while self.pending and self.pending[0][0].query():
                self.finish(self.pending.popleft()[1])
        else:
            self.finish(samples)
        self.report()

    def finish(self, samples):
        self.steps += 1
        self.samples += samples
        if self.steps == self.warm_steps:
            self.say("gleaner warm")

    def report(self):
        now = time.monotonic()
        if now - self.reported_at >= INTERVAL:
            self.reported_at = now
            # All processes step in unison, so each of them has handled as many samples as this process.
            self.say(f"gleaner samples {int(self.samples * self.processes)}")

    def say(self, line):
        if self.is_heard:
            print(line, flush=True)
