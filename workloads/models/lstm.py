"""A language model with two LSTM layers. Its vocabulary is as large as that of WikiText-2: 33,278 words. A
sample is a sequence of 35 words."""

import functools

import torch
from torch import nn
from torch.nn import functional

from training import Supervised

LENGTH = 35  # number of words in a sequence


class Language(nn.Module):
    """Predicts each word from the words before it."""

    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.drop = nn.Dropout(0.2)
        self.memory = nn.LSTM(width, width, 2, dropout=0.2)
        self.next_word = nn.Linear(width, words)

    def forward(self, sequence):
        remembered, _ = self.memory(self.drop(self.embedding(sequence)))
        return self.next_word(self.drop(remembered))


def loss(model, text):
    predicted = model(text[:-1])
    return functional.cross_entropy(predicted.flatten(0, 1), text[1:].flatten())


def build(_, setting):
    words = setting.size(33278, 200)
    model = Language(words, setting.size(200, 16))
    make = lambda: [torch.randint(words, (LENGTH + 1, setting.batch))]
    return Supervised(setting, model, make, loss, functools.partial(torch.optim.SGD, lr=0.01))
