"""Building blocks of image networks."""

from torch import nn


def convolution(inputs, outputs, size=1, stride=1, groups=1, activation=nn.ReLU):
    """A convolution followed by batch normalisation and an activation. At stride 1, it keeps the image's size."""
    layers = [
        nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([activation()] if activation else []))


def classifier(channels, classes):
    """Takes the mean over the image, and applies a linear layer."""
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def multiple_of_8(channels):
    """The multiple of 8 nearest to `channels`, but at least 90 % of this number (MobileNetV2's rule)."""
    nearest = max(8, int(channels + 4) // 8 * 8)
    return nearest if nearest >= 0.9 * channels else nearest + 8
