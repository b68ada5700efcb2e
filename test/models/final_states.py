"""LSTM layers whose final states are returned and computed with, and counts of equal neighbours.

`final_states_2_11.pt2` is what PyTorch 2.11 writes of it, which states a dimension too many for
these states, and the dtype of the input for counts. It was made by that version:

    python test/models/make.py --small --only final_states --out DIR
    mv DIR/final_states.pt2 test/models/data/final_states_2_11.pt2
"""

import os

import torch
from torch import nn

from model import Model, randn


class FinalStates(nn.Module):
    def __init__(self):
        super().__init__()
        self.deep = nn.LSTM(3, 4, num_layers=2, batch_first=True)
        self.flat = nn.LSTM(3, 5, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(4, 2)
        self.wide = nn.Linear(8, 2)
        self.one = nn.Linear(5, 2)

    def forward(self, x):
        _, (h, c) = self.deep(x)
        _, (single, _) = self.flat(x)
        last = self.fc(self.dropout(torch.relu(h[-1])))
        both = self.wide(h.transpose(0, 1).reshape(x.shape[0], -1))
        _, counts = torch.unique_consecutive(x > 0, return_counts=True)
        return last + both + self.one(single.squeeze(0)), c, counts.max() + 1


def of_other_versions(path):
    """The file that PyTorch 2.11 wrote, which stays as it is."""
    other = path.replace(".pt2", "_2_11.pt2")
    return [other] if os.path.exists(other) else []


def models(full):
    x = randn(3, 5, 3, seed=1)
    return [Model("final_states", FinalStates(), (x,), repack=of_other_versions)]
