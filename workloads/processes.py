"""Runs several processes that train one model together, each on its own batches."""

import datetime
import multiprocessing
import os

import torch
import torch.distributed as distributed

HOST = "127.0.0.1"
PATIENCE = datetime.timedelta(seconds=120)  # maximum wait for the other processes to start


class Group:
    """A process in the group of processes that train together."""

    def __init__(self, device, rank=0, processes=1):
        self.device = device
        self.rank = rank
        self.processes = processes

    def share(self, model):
        """Moves the model to the device of this process. If there are several processes, the model then averages its
        gradients over all of them."""
        model = model.to(self.device)
        if self.processes == 1:
            return model
        gpus = [self.device.index] if self.device.type == "cuda" else None
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=gpus)

    def average(self, parameters):
        """Averages the gradients of the given parameters over all processes. This is for models whose parts are trained
        one after another."""
        if self.processes == 1:
            return
        gradients = [one.grad for one in parameters if one.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= self.processes
        sizes = [gradient.numel() for gradient in gradients]
        for gradient, mean in zip(gradients, flat.split(sizes)):
            gradient.copy_(mean.view_as(gradient))


def start(train, options):
    """Calls `train(options, group)` in each process. The caller's process is the first of them. The others
    are daemon processes, so they end with the first."""
    processes = options.processes
    limit_threads(processes)
    if processes == 1:
        return train(options, Group(device_of(options, 0)))
    if options.device == "cuda" and torch.cuda.device_count() < processes:
        found = torch.cuda.device_count()
        raise SystemExit(f"--processes {processes} needs {processes} GPUs, found {found}")
    store = distributed.TCPStore(HOST, 0, processes, True, PATIENCE, wait_for_workers=False)
    spawn = multiprocessing.get_context("spawn")
    for rank in range(1, processes):
        arguments = (train, options, rank, store.port)
        spawn.Process(target=follow, args=arguments, daemon=True).start()
    return train(options, join(options, 0, store))


def follow(train, options, rank, port):
    """Runs every process except the first."""
    limit_threads(options.processes)
    store = distributed.TCPStore(HOST, port, options.processes, False, PATIENCE)
    train(options, join(options, rank, store))


def join(options, rank, store):
    device = device_of(options, rank)
    backend = "nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(
        backend, store=store, rank=rank, world_size=options.processes, timeout=PATIENCE
    )
    return Group(device, rank, options.processes)


def device_of(options, rank):
    if options.device == "cpu":
        return torch.device("cpu")
    torch.cuda.set_device(rank)
    return torch.device("cuda", rank)


def limit_threads(processes):
    """Divides the cores of this program among the processes, unless the user has set OMP_NUM_THREADS."""
    if "OMP_NUM_THREADS" in os.environ:
        return
    cores = len(os.sched_getaffinity(0))
    torch.set_num_threads(max(cores // processes, 1))
