"""Trains Driple's GCN inspector with PyTorch and prints its results as a line of JSON:

    train-torch.py DATA half|LAYERS EPOCHS SEED THREADS [WEIGHTS]

The arithmetic is that of Driple's original code. The recurrent unit takes a node's state as its input and the
convolution as its memory. The number of Set2Set steps equals the number of nodes. The optimiser is Adam, and batches
are in the order of the file. The validation error is computed after each epoch, and the test error only with the
weights of the best epoch.
"""

import json
import sys
import time

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

HIDDEN = 64


def uniform(*shape, bound):
    return nn.Parameter((torch.rand(*shape) * 2 - 1) * bound)


class Gates(nn.Module):
    """The weights of a recurrent cell."""

    def __init__(self, rows, inputs):
        super().__init__()
        bound = HIDDEN**-0.5
        self.weight_ih_l0 = uniform(rows, inputs, bound=bound)
        self.weight_hh_l0 = uniform(rows, HIDDEN, bound=bound)
        self.bias_ih_l0 = uniform(rows, bound=bound)
        self.bias_hh_l0 = uniform(rows, bound=bound)

    def all(self):
        return self.weight_ih_l0, self.weight_hh_l0, self.bias_ih_l0, self.bias_hh_l0


class Convolution(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.W = uniform(inputs, HIDDEN, bound=HIDDEN**-0.5)
        self.b = uniform(HIDDEN, bound=HIDDEN**-0.5)

    def forward(self, adjacency, x):
        return F.leaky_relu(torch.matmul(adjacency, x @ self.W) + self.b, 0.01)


class Layer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        nn.init.xavier_uniform_(self.linear.weight, gain=1 / inputs)
        nn.init.zeros_(self.linear.bias)


def module(**parts):
    whole = nn.Module()
    for name, part in parts.items():
        setattr(whole, name, part)
    return whole


class Inspector(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        self.conv_layers = nn.ModuleList([Convolution(3), Convolution(HIDDEN)])
        self.gru = module(gru=Gates(3 * HIDDEN, HIDDEN))
        widths = [(2 * HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 12)]
        layers = nn.ModuleList([Layer(*pair) for pair in widths])
        self.graph_read_out = module(
            set2set=module(lstm=Gates(4 * HIDDEN, 2 * HIDDEN)), mlp=module(fully_connected=layers)
        )

    def forward(self, adjacency, x):
        batch, nodes, features = x.shape
        for layer in range(nodes // 2 if self.depth == "half" else int(self.depth)):
            heard = self.conv_layers[min(layer, 1)](adjacency, x).reshape(-1, HIDDEN)
            x = F.pad(x, (0, HIDDEN - features)) if layer == 0 else x
            x = torch.gru_cell(x.reshape(-1, HIDDEN), heard, *self.gru.gru.all())
            x = x.reshape(batch, nodes, HIDDEN)
        first, second, last = self.graph_read_out.mlp.fully_connected
        values = F.relu(first.linear(self.read(x)))
        return F.leaky_relu(last.linear(F.relu(second.linear(values))), 0.01)

    def read(self, x):
        batch, nodes, _ = x.shape
        state, cell = x.new_zeros(batch, HIDDEN), x.new_zeros(batch, HIDDEN)
        query = x.new_zeros(batch, 2 * HIDDEN)
        for _ in range(nodes):
            state, cell = torch.lstm_cell(
                query, (state, cell), *self.graph_read_out.set2set.lstm.all()
            )
            attention = torch.softmax(torch.bmm(x, state.unsqueeze(-1)), 1)
            reading = torch.bmm(attention.transpose(1, 2), x).squeeze(1)
            query = torch.cat([state, reading], -1)
        return query


def batches(data, part):
    """Returns the batches of a part of the data set: `train`, `val` or `test`. The adjacency matrices are normalised
    only once, here."""
    found = []
    while f"{part}.{len(found)}.adj" in data:
        name = f"{part}.{len(found)}"
        adjacency = data[f"{name}.adj"].float()
        adjacency = adjacency + torch.eye(adjacency.shape[-1])
        root = adjacency.sum(-1).rsqrt()
        adjacency = root.unsqueeze(-1) * adjacency * root.unsqueeze(-2)
        labels = data[f"{name}.y"] / data["y_train_max"]
        found.append((adjacency, data[f"{name}.x"], labels))
    return found


@torch.no_grad()
def error(model, part):
    squares = [((model(adj, x) - y) ** 2).flatten() for adj, x, y in part]
    return torch.cat(squares).mean().item()


def main(path, depth, epochs, seed, threads, weights=None):
    torch.set_num_threads(int(threads))
    torch.manual_seed(int(seed))
    data = load_file(path)
    train, val, test = (batches(data, part) for part in ("train", "val", "test"))
    model = Inspector(depth)
    if weights:
        model.load_state_dict(load_file(weights))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003, weight_decay=1e-6)
    best, kept = float("inf"), None
    begun = time.perf_counter()
    for _ in range(int(epochs)):
        for adjacency, x, labels in train:
            optimiser.zero_grad()
            F.mse_loss(model(adjacency, x), labels).backward()
            optimiser.step()
        now = error(model, val)
        if now < best:
            best, kept = now, {name: value.clone() for name, value in model.state_dict().items()}
    seconds = (time.perf_counter() - begun) / int(epochs)
    model.load_state_dict(kept)
    print(json.dumps({"seconds": round(seconds, 4), "test": round(error(model, test), 5)}))


main(*sys.argv[1:])
