"""PointNet (Qi et al., 2016), which classifies point clouds like those of ShapeNet: 2,500
points, 16 classes."""

import functools

import torch
from torch import nn
from torch.nn import functional

from training import Supervised

CLASSES = 16


def pointwise(*widths):
    """Layers that process each point separately."""
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


def dense(*widths):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class Turn(nn.Module):
    """Transforms each cloud by a matrix that is predicted from its points."""

    def __init__(self):
        super().__init__()
        self.points = pointwise(3, 64, 128, 1024)
        self.matrix = nn.Sequential(dense(1024, 512, 256), nn.Linear(256, 9))

    def forward(self, cloud):
        matrix = self.matrix(self.points(cloud).amax(2)).view(-1, 3, 3)
        matrix = matrix + torch.eye(3, device=matrix.device).to(matrix.dtype)
        return torch.bmm(matrix, cloud.to(matrix.dtype))


class PointNet(nn.Module):
    """Computes features of each point. The features of a cloud are the maxima over its points."""

    def __init__(self):
        super().__init__()
        self.turn = Turn()
        self.points = pointwise(3, 64, 128, 1024)
        self.head = nn.Sequential(dense(1024, 512, 256), nn.Dropout(0.3), nn.Linear(256, CLASSES))

    def forward(self, cloud):
        return self.head(self.points(self.turn(cloud)).amax(2))


def loss(model, cloud, label):
    return functional.cross_entropy(model(cloud), label)


def build(_, setting):
    points = setting.size(2500, 128)
    make = lambda: (torch.rand(setting.batch, 3, points), torch.randint(CLASSES, (setting.batch,)))
    optimizer = functools.partial(torch.optim.Adam, lr=0.001)
    return Supervised(setting, PointNet(), make, loss, optimizer)
