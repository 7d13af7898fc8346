"""Trains one of the models that Lucid's authors measured. The input is random, and the training runs
until it is stopped.

The program reports `gleaner warm`, and then `gleaner samples N`, as `gleaner profile` expects. See README.md."""

import argparse
import importlib
import signal
import sys

# The module in models/ that builds each model.
MODELS = {
    "ResNet50": "imagenet",
    "MobileNetV3": "imagenet",
    "ResNet18": "cifar",
    "VGG": "cifar",
    "MobileNetV2": "cifar",
    "EfficientNet": "cifar",
    "PointNet": "pointnet",
    "DCGAN": "dcgan",
    "PPO": "ppo",
    "TD3": "td3",
    "NeuMF": "neumf",
    "LSTM": "lstm",
    "BERT": "bert",
    "Transformer": "transformer",
}
# The models that Lucid's authors measured only in full precision.
WITHOUT_AMP = ["PPO", "TD3", "Transformer"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--batch", type=int, default=32, help="number of samples in each process's batch")
    parser.add_argument("--amp", type=int, choices=[0, 1], default=0, help="1: mixed precision")
    parser.add_argument("--device", choices=["cuda", "cpu"], help="default: cuda if there is a GPU")
    parser.add_argument("--processes", type=int, default=1, help="processes, each on its own GPU or share of CPU cores")
    parser.add_argument("--tiny", action="store_true", help="small models and inputs, for tests")
    parser.add_argument("--own", action="store_true", help="use no models from libraries other than PyTorch")
    options = parser.parse_args()
    if options.batch < 2:
        parser.error("--batch: batch normalisation needs at least 2 samples")
    if options.processes < 1:
        parser.error("--processes: expected at least 1")
    if options.amp and options.model in WITHOUT_AMP:
        parser.error(f"--amp 1: Lucid's authors measured {options.model} only in full precision; use --amp 0")
    return options


def train(options, group):
    import torch

    from protocol import Reporter
    from training import Precision, Setting

    torch.manual_seed(group.rank)
    torch.backends.cudnn.benchmark = True
    precision = Precision(group.device, options.amp == 1)
    setting = Setting(options.batch, precision, group, options.tiny, options.own)
    module = importlib.import_module(f"models.{MODELS[options.model]}")
    workload = module.build(options.model, setting)
    warm_steps = setting.size(workload.warm_steps, 3)
    reporter = Reporter(group.device, warm_steps, group.processes, group.rank == 0)
    while True:
        reporter.step(workload.step())


def main():
    options = parse()
    # On SIGTERM, the program exits normally, which also ends the other processes. The default action would not end
    # them.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        import torch
    except ImportError:
        raise SystemExit("PyTorch is not installed for this python3; to install it, run: pip install torch") from None
    import processes

    if options.device is None:
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    if options.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no GPU; to train on CPU cores, use --device cpu")
    processes.start(train, options)


if __name__ == "__main__":
    main()
