"""Networks for images like those of CIFAR-10: 3 x 32 x 32, 10 classes."""

import functools

import torch
from torch import nn

from models import inverted, residual
from models.imagenet import images, loss
from models.layers import convolution
from training import Supervised


def vgg11():
    """VGG's network A (Simonyan and Zisserman, 2014) with batch normalisation. One linear layer is
    enough, because the five pooling layers leave a single pixel."""
    layers, channels = [], 3
    for stage in [[64], [128], [256, 256], [512, 512], [512, 512]]:
        for outputs in stage:
            layers.append(convolution(channels, outputs, 3))
            channels = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels, 10))


MODELS = {
    "ResNet18": residual.resnet18_small,
    "VGG": vgg11,
    "MobileNetV2": inverted.mobilenet_v2_small,
    "EfficientNet": inverted.efficientnet_small,
}


def build(name, setting):
    optimizer = functools.partial(torch.optim.SGD, lr=0.01, momentum=0.9, weight_decay=5e-4)
    return Supervised(setting, MODELS[name](), lambda: images(setting.batch, 32, 10), loss, optimizer)
