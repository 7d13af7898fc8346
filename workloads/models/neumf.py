"""NeuMF (He et al., Neural Collaborative Filtering, 2017) with the numbers of users and films of
MovieLens 1M: 6,040 and 3,706."""

import functools

import torch
from torch import nn
from torch.nn import functional

from training import Supervised

FACTORS = 32


class NeuMF(nn.Module):
    """Combines the product of the factors of a user and a film with the output of a network of three layers."""

    def __init__(self, users, items):
        super().__init__()
        wide = 4 * FACTORS
        self.user_factors = nn.Embedding(users, FACTORS)
        self.item_factors = nn.Embedding(items, FACTORS)
        self.user_inputs = nn.Embedding(users, wide)
        self.item_inputs = nn.Embedding(items, wide)
        layers = []
        for width in [2 * wide, wide, wide // 2]:
            layers += [nn.Linear(width, width // 2), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.rating = nn.Linear(2 * FACTORS, 1)

    def forward(self, user, item):
        product = self.user_factors(user) * self.item_factors(item)
        inputs = torch.cat([self.user_inputs(user), self.item_inputs(item)], 1)
        return self.rating(torch.cat([product, self.layers(inputs)], 1)).squeeze(1)


def loss(model, user, item, is_seen):
    return functional.binary_cross_entropy_with_logits(model(user, item), is_seen)


def build(_, setting):
    users, items = setting.size(6040, 60), setting.size(3706, 40)
    shape = (setting.batch,)

    def make():
        # Four out of five samples are negative: they contain films that the user has not seen.
        is_seen = (torch.rand(shape) < 0.2).float()
        return torch.randint(users, shape), torch.randint(items, shape), is_seen

    optimizer = functools.partial(torch.optim.SGD, lr=0.01, momentum=0.9, weight_decay=5e-4)
    return Supervised(setting, NeuMF(users, items), make, loss, optimizer)
