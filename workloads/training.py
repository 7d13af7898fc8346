"""The common parts of all workloads: settings, precision, input, and a training step with a single loss."""

import dataclasses

import torch

BATCHES = 4  # number of batches; they are created once and used in turn


@dataclasses.dataclass
class Setting:
    """The settings of a workload."""

    batch: int
    precision: "Precision"
    group: object
    is_tiny: bool
    own: bool

    @property
    def device(self):
        return self.group.device

    def size(self, full, tiny):
        """Chooses a size of the model or of its input: `tiny` in tests, otherwise `full`."""
        return tiny if self.is_tiny else full


class Precision:
    """Full or mixed precision. Mixed precision is float16 with scaled gradients on a GPU, and bfloat16 on
    CPU cores."""

    def __init__(self, device, is_mixed):
        self.kind = device.type
        self.is_mixed = is_mixed
        is_scaled = is_mixed and self.kind == "cuda"
        # In newer versions of PyTorch, GradScaler is in torch.amp, and the use of torch.cuda.amp causes a warning.
        if hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler("cuda", enabled=is_scaled)
        else:
            self.scaler = torch.cuda.amp.GradScaler(enabled=is_scaled)

    def autocast(self):
        half = torch.float16 if self.kind == "cuda" else torch.bfloat16
        return torch.autocast(self.kind, dtype=half, enabled=self.is_mixed)

    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def update(self, *optimizers):
        for optimizer in optimizers:
            self.scaler.step(optimizer)
        self.scaler.update()


class Feed:
    """Batches of random input. The batches are in host memory, like those of a data loader, and are copied to the
    device when they are used."""

    def __init__(self, device, make):
        self.device = device
        is_pinned = device.type == "cuda"
        batches = [make() for _ in range(BATCHES)]
        self.batches = [[one.pin_memory() if is_pinned else one for one in batch] for batch in batches]
        self.next = 0

    def take(self):
        batch = self.batches[self.next]
        self.next = (self.next + 1) % BATCHES
        return [one.to(self.device, non_blocking=True) for one in batch]


class Supervised:
    """Trains a model with a single loss, `loss(model, *batch)`."""

    warm_steps = 10

    def __init__(self, setting, model, make, loss, optimizer):
        """`make()` returns the tensors of a batch, and `optimizer(parameters)` returns the
        optimiser."""
        self.setting = setting
        self.model = setting.group.share(model)
        self.models = [self.model]
        self.feed = Feed(setting.device, make)
        self.loss = loss
        self.optimizer = optimizer(model.parameters())

    def step(self):
        """Trains the model on one batch. Returns the number of samples in the batch."""
        precision = self.setting.precision
        batch = self.feed.take()
        self.optimizer.zero_grad(set_to_none=True)
        with precision.autocast():
            loss = self.loss(self.model, *batch)
        precision.backward(loss)
        precision.update(self.optimizer)
        return self.setting.batch


def from_library(setting, library, make):
    """Returns a model from a library, created by `make(module)`, or `None` if the library is not installed or must
    not be used."""
    if setting.own:
        return None
    try:
        module = __import__(library)
    except ImportError:
        return None
    model = make(module)
    if setting.group.rank == 0:
        print(f"{type(model).__name__} of {library} {module.__version__}", flush=True)
    return model
