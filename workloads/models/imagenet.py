"""ResNet50 and MobileNetV3 for images like those of ImageNet: 3 x 224 x 224, 1,000 classes."""

import functools

import torch
from torch.nn import functional

from models import inverted, residual
from training import Supervised, from_library


def build(name, setting):
    if name == "ResNet50":
        model = from_library(setting, "torchvision", lambda vision: vision.models.resnet50())
        model = model or residual.resnet50()
    else:
        model = from_library(setting, "torchvision", lambda vision: vision.models.mobilenet_v3_small())
        model = model or inverted.mobilenet_v3()
    side = setting.size(224, 64)
    optimizer = functools.partial(torch.optim.SGD, lr=0.01)
    return Supervised(setting, model, lambda: images(setting.batch, side, 1000), loss, optimizer)


def images(batch, side, classes):
    """Random images and their classes."""
    return torch.randn(batch, 3, side, side), torch.randint(classes, (batch,))


def loss(model, image, label):
    return functional.cross_entropy(model(image), label)
