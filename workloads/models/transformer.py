"""The Transformer (Vaswani et al., 2017) in its base size. Its vocabularies are as large as those of
Multi30k, without words that occur only once: 7,853 German words and 5,893 English words. A sample
is a pair of sentences."""

import functools
import math

import torch
from torch import nn
from torch.nn import functional

from training import Supervised

LENGTH = 32  # maximum number of words in a sentence
SHORTEST = 8
PADDING = 0


class Translator(nn.Module):
    """Predicts each word of a translation from the original sentence and the words before it."""

    def __init__(self, words, width, layers, heads):
        super().__init__()
        self.width = width
        self.source = nn.Embedding(words[0], width, PADDING)
        self.target = nn.Embedding(words[1], width, PADDING)
        self.register_buffer("waves", waves(LENGTH, width))
        self.drop = nn.Dropout(0.1)
        self.transformer = nn.Transformer(
            width, heads, layers, layers, 4 * width, 0.1, batch_first=True
        )
        self.next_word = nn.Linear(width, words[1])

    def forward(self, source, target):
        length = target.shape[1]
        ahead = torch.ones(length, length, dtype=torch.bool, device=target.device).triu(1)
        decoded = self.transformer(
            self.embed(self.source, source),
            self.embed(self.target, target),
            tgt_mask=ahead,
            src_key_padding_mask=source == PADDING,
            tgt_key_padding_mask=target == PADDING,
            memory_key_padding_mask=source == PADDING,
        )
        return self.next_word(decoded)

    def embed(self, embedding, words):
        scaled = embedding(words) * math.sqrt(self.width)
        return self.drop(scaled + self.waves[: words.shape[1]])


def waves(length, width):
    """Sines and cosines that encode the positions in a sentence."""
    place = torch.arange(length)[:, None]
    angle = place / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def loss(model, source, target):
    predicted = model(source, target[:, :-1]).flatten(0, 1)
    return functional.cross_entropy(predicted, target[:, 1:].flatten(), ignore_index=PADDING)


def sentences(words, batch):
    """Random sentences of different lengths, padded to the maximum length."""
    lengths = torch.randint(SHORTEST, LENGTH + 1, (batch, 1))
    drawn = torch.randint(1, words, (batch, LENGTH))
    return drawn.masked_fill(torch.arange(LENGTH) >= lengths, PADDING)


def build(_, setting):
    words = setting.size((7853, 5893), (60, 50))
    width, layers, heads = setting.size((512, 6, 8), (32, 1, 2))
    model = Translator(words, width, layers, heads)
    make = lambda: [sentences(count, setting.batch) for count in words]
    optimizer = functools.partial(torch.optim.Adam, lr=1e-4, betas=(0.9, 0.98), eps=1e-9)
    return Supervised(setting, model, make, loss, optimizer)
