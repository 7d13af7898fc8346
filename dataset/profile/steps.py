"""Imitates a training script: it executes batches and reports samples in the format of `gleaner profile`. It needs only
Python's standard library, and runs until it is stopped."""

import argparse
import multiprocessing
import time

REPORT = 0.05  # seconds between two reports


def spin(samples):
    """Keeps a core busy."""
    for _ in range(samples * 500):
        pass


def copy(samples):
    """Keeps the memory busy."""
    source = bytes(1 << 20)
    for _ in range(samples):
        bytearray(source)


def wait(samples):
    """Waits most of the time, like a workload that reads from a disk."""
    spin(samples)
    time.sleep(0.002)


WORK = {"spin": spin, "copy": copy, "wait": wait}


def train(work, steps, batch, done):
    while True:
        work(steps)
        with done.get_lock():
            done.value += batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", choices=WORK, default="spin")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--amp", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    # With mixed precision, a sample takes half the work.
    steps = max(options.batch // (1 + options.amp), 1)
    done = [multiprocessing.Value("q", 0) for _ in range(options.processes)]
    for counter in done:
        arguments = (WORK[options.work], steps, options.batch, counter)
        multiprocessing.Process(target=train, args=arguments, daemon=True).start()
    while not all(counter.value for counter in done):
        time.sleep(0.005)
    print("gleaner warm", flush=True)
    while True:
        print("gleaner samples", sum(counter.value for counter in done), flush=True)
        time.sleep(REPORT)


if __name__ == "__main__":
    main()
