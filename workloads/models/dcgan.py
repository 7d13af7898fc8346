"""DCGAN (Radford et al., 2015) on 3 x 64 x 64 images, the size that its authors use for LSUN."""

import torch
from torch import nn
from torch.nn import functional

from training import Feed

NOISE = 100  # length of the noise vector from which an image is generated


def generator(width):
    """Turns noise into an image. Each layer except the first doubles the side length."""
    layers = [nn.ConvTranspose2d(NOISE, 8 * width, 4, 1, 0, bias=False)]
    for times in [8, 4, 2]:
        channels = times * width
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
        layers.append(nn.ConvTranspose2d(channels, channels // 2, 4, 2, 1, bias=False))
    layers += [nn.BatchNorm2d(width), nn.ReLU()]
    layers += [nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh()]
    return nn.Sequential(*layers)


def discriminator(width):
    """Turns an image into a number, which is above 0 if the image is classified as real. Each layer except the last
    halves the side length."""
    layers = [nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2)]
    for times in [1, 2, 4]:
        channels = times * width
        layers.append(nn.Conv2d(channels, 2 * channels, 4, 2, 1, bias=False))
        layers += [nn.BatchNorm2d(2 * channels), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(8 * width, 1, 4, 1, 0, bias=False), nn.Flatten(0))


def initialise(layer):
    """Sets the initial weights that the paper prescribes."""
    if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(layer.weight, 0.0, 0.02)
    elif isinstance(layer, nn.BatchNorm2d):
        nn.init.normal_(layer.weight, 1.0, 0.02)


class Adversaries:
    """A generator and a discriminator that train against each other."""

    warm_steps = 10

    def __init__(self, setting):
        self.setting = setting
        width = setting.size(64, 8)
        group = setting.group
        self.maker = group.share(generator(width).apply(initialise))
        self.judge = group.share(discriminator(width).apply(initialise))
        self.models = [self.maker, self.judge]
        self.optimizers = [
            torch.optim.Adam(model.parameters(), lr=0.0002, betas=(0.5, 0.999)) for model in self.models
        ]
        self.feed = Feed(setting.device, lambda: [torch.rand(setting.batch, 3, 64, 64) * 2 - 1])

    def step(self):
        """Trains the discriminator, and then the generator. Returns the number of real images."""
        precision = self.setting.precision
        of_maker, of_judge = self.optimizers
        [real] = self.feed.take()
        of_judge.zero_grad(set_to_none=True)
        self.learn(real, 1.0)
        noise = torch.randn(self.setting.batch, NOISE, 1, 1, device=self.setting.device)
        with precision.autocast():
            fake = self.maker(noise)
        self.learn(fake.detach(), 0.0)
        precision.scaler.step(of_judge)
        of_maker.zero_grad(set_to_none=True)
        self.learn(fake, 1.0)
        precision.update(of_maker)
        return self.setting.batch

    def learn(self, image, target):
        """Adds the gradients of the loss for classifying an image as real (1) or generated (0)."""
        precision = self.setting.precision
        with precision.autocast():
            judged = self.judge(image)
            loss = functional.binary_cross_entropy_with_logits(judged, torch.full_like(judged, target))
        precision.backward(loss)


def build(_, setting):
    return Adversaries(setting)
