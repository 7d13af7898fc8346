"""Networks with inverted residuals: MobileNetV2 (Sandler et al., 2018), MobileNetV3 (Howard et al., 2019)
and EfficientNet (Tan and Le, 2019)."""

from torch import nn

from models.layers import classifier, convolution, multiple_of_8


class Relu6(nn.Module):
    """Replaces PyTorch's ReLU6, which has no gradient for bfloat16 in older versions."""

    def forward(self, image):
        return image.clamp(0, 6)


class Squeeze(nn.Module):
    """Multiplies each channel by a weight that is computed from the means of all channels (squeeze and excitation)."""

    def __init__(self, channels, inner, activation, gate):
        super().__init__()
        self.weights = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            activation(),
            nn.Conv2d(inner, channels, 1),
            gate(),
        )

    def forward(self, image):
        return image * self.weights(image)


class Inverted(nn.Module):
    """Increases the number of channels, convolves each channel separately, and then reduces the number of channels."""

    def __init__(self, inputs, wide, outputs, size, stride, activation, squeeze=None):
        super().__init__()
        layers = [convolution(inputs, wide, activation=activation)] if wide != inputs else []
        layers.append(convolution(wide, wide, size, stride, groups=wide, activation=activation))
        if squeeze:
            layers.append(squeeze(wide))
        layers.append(convolution(wide, outputs, activation=None))
        self.body = nn.Sequential(*layers)
        self.has_shortcut = inputs == outputs and stride == 1

    def forward(self, image):
        narrow = self.body(image)
        return image + narrow if self.has_shortcut else narrow


def mobilenet_v2_small():
    """MobileNetV2 for 32×32 images. The stem and the second stage keep the image's size."""
    # Expansion, channels, repeats and stride. All but the stride come from table 2 of the paper.
    stages = [(1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2)]
    stages += [(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    layers, channels = [convolution(3, 32, 3, activation=Relu6)], 32
    for widening, outputs, repeats, stride in stages:
        for place in range(repeats):
            step = stride if place == 0 else 1
            layers.append(Inverted(channels, widening * channels, outputs, 3, step, Relu6))
            channels = outputs
    layers += [convolution(channels, 1280, activation=Relu6), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, 10))


def mobilenet_v3():
    """MobileNetV3-Small, for 224×224 images: 2.5 million parameters."""
    relu, swish = nn.ReLU, nn.Hardswish
    # Kernel size, expanded channels, channels, squeeze, activation and stride, from table 2 of the paper.
    stages = [(3, 16, 16, True, relu, 2), (3, 72, 24, False, relu, 2), (3, 88, 24, False, relu, 1)]
    stages += [(5, 96, 40, True, swish, 2), (5, 240, 40, True, swish, 1), (5, 240, 40, True, swish, 1)]
    stages += [(5, 120, 48, True, swish, 1), (5, 144, 48, True, swish, 1)]
    stages += [(5, 288, 96, True, swish, 2), (5, 576, 96, True, swish, 1), (5, 576, 96, True, swish, 1)]
    layers, channels = [convolution(3, 16, 3, 2, activation=swish)], 16
    for size, wide, outputs, is_squeezed, activation, stride in stages:
        squeeze = quarter if is_squeezed else None
        layers.append(Inverted(channels, wide, outputs, size, stride, activation, squeeze))
        channels = outputs
    layers += [convolution(channels, 576, activation=swish), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    head = [nn.Linear(576, 1024), swish(), nn.Dropout(0.2), nn.Linear(1024, 1000)]
    return nn.Sequential(*layers, *head)


def quarter(channels):
    """MobileNetV3's squeeze, whose inner layer has a quarter of the expanded channels."""
    return Squeeze(channels, multiple_of_8(channels // 4), nn.ReLU, nn.Hardsigmoid)


def efficientnet_small():
    """EfficientNet-B0 for 32×32 images, with the strides of Lucid's variant."""
    # Expansion, kernel size, channels, repeats and stride. All but the stride come from table 1 of the paper.
    stages = [(1, 3, 16, 1, 2), (6, 3, 24, 2, 1), (6, 5, 40, 2, 2), (6, 3, 80, 3, 2)]
    stages += [(6, 5, 112, 3, 1), (6, 5, 192, 4, 2), (6, 3, 320, 1, 2)]
    layers, channels = [convolution(3, 32, 3, activation=nn.SiLU)], 32
    for widening, size, outputs, repeats, stride in stages:
        for place in range(repeats):
            step = stride if place == 0 else 1
            wide = widening * channels
            # As in the authors' code, the inner layer of a squeeze has a quarter of the channels that enter the block.
            inner = channels // 4
            squeeze = lambda wide, inner=inner: Squeeze(wide, inner, nn.SiLU, nn.Sigmoid)
            layers.append(Inverted(channels, wide, outputs, size, step, nn.SiLU, squeeze))
            channels = outputs
    return nn.Sequential(
        *layers, convolution(channels, 1280, activation=nn.SiLU), nn.Dropout(0.2), classifier(1280, 10)
    )
