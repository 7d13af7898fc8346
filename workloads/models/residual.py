"""Residual networks (He et al., Deep Residual Learning for Image Recognition, 2015)."""

from torch import nn

from models.layers import classifier, convolution


class Residual(nn.Module):
    """Adds the input to the output of convolutions. The input is projected if the shapes differ."""

    def __init__(self, body, inputs, outputs, stride):
        super().__init__()
        self.body = body
        is_same = inputs == outputs and stride == 1
        projection = nn.Identity() if is_same else convolution(inputs, outputs, 1, stride, activation=None)
        self.shortcut = projection
        self.activation = nn.ReLU()

    def forward(self, image):
        return self.activation(self.body(image) + self.shortcut(image))


def basic(inputs, width, stride):
    """A block of two convolutions. Returns the block and its number of output channels."""
    body = nn.Sequential(
        convolution(inputs, width, 3, stride), convolution(width, width, 3, activation=None)
    )
    return Residual(body, inputs, width, stride), width


def bottleneck(inputs, width, stride):
    """A block with a convolution of size 3 between two convolutions of size 1. As in torchvision, the stride
    applies to the middle convolution. Returns the block and its number of output channels."""
    outputs = 4 * width
    body = nn.Sequential(
        convolution(inputs, width),
        convolution(width, width, 3, stride),
        convolution(width, outputs, activation=None),
    )
    return Residual(body, inputs, outputs, stride), outputs


def network(stem, block, repeats, classes):
    """A network of four stages with widths of 64, 128, 256 and 512. Each stage except the first halves
    the side length of the image."""
    layers, channels = [stem], 64
    for stage, repeat in enumerate(repeats):
        for place in range(repeat):
            stride = 2 if stage > 0 and place == 0 else 1
            layer, channels = block(channels, 64 << stage, stride)
            layers.append(layer)
    return nn.Sequential(*layers, classifier(channels, classes))


def resnet50():
    """ResNet50 for 224×224 images: 25.6 million parameters."""
    stem = nn.Sequential(convolution(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1))
    return network(stem, bottleneck, [3, 4, 6, 3], 1000)


def resnet18_small():
    """ResNet18 for 32×32 images. The stem keeps the image's size."""
    return network(convolution(3, 64, 3), basic, [2, 2, 2, 2], 10)
