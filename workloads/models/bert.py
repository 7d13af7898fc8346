"""BERT-base (Devlin et al., 2018), which finds answers in texts of 384 words. This is the usual length for
SQuAD."""

import functools

import torch
from torch import nn
from torch.nn import functional

from training import Supervised, from_library

WORDS = 30522
POSITIONS = 512


class Bert(nn.Module):
    """Scores each word as the beginning and as the end of the answer."""

    def __init__(self, width, layers, heads):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.positions = nn.Embedding(POSITIONS, width)
        # Two vectors: one for the words of the question, and one for the words of the text.
        self.parts = nn.Embedding(2, width)
        self.norm = nn.Sequential(nn.LayerNorm(width, eps=1e-12), nn.Dropout(0.1))
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, 0.1, "gelu", layer_norm_eps=1e-12, batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.ends = nn.Linear(width, 2)

    def forward(self, word, part):
        place = torch.arange(word.shape[1], device=word.device)
        sequence = self.words(word) + self.positions(place) + self.parts(part)
        return self.ends(self.encoder(self.norm(sequence)))


class OfLibrary(nn.Module):
    """Wraps BERT from the library Transformers, with the input and output of `Bert`."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, word, part):
        found = self.model(input_ids=word, token_type_ids=part)
        return torch.stack([found.start_logits, found.end_logits], 2)


def loss(model, word, part, answer):
    """The mean of the losses for the beginning and the end of the answer."""
    return functional.cross_entropy(model(word, part), answer)


def build(_, setting):
    width, layers, heads = setting.size((768, 12, 12), (32, 2, 2))

    def of(transformers):
        config = transformers.BertConfig(
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
        )
        return OfLibrary(transformers.BertForQuestionAnswering(config))

    model = from_library(setting, "transformers", of) or Bert(width, layers, heads)
    length = setting.size(384, 16)
    shape = (setting.batch, length)

    def make():
        part = (torch.arange(length) > length // 6).long().expand(shape).clone()
        return torch.randint(WORDS, shape), part, torch.randint(length, (setting.batch, 2))

    optimizer = functools.partial(torch.optim.AdamW, lr=5e-5, weight_decay=0.0)
    return Supervised(setting, model, make, loss, optimizer)
