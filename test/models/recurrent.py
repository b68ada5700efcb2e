"""Recurrent networks: LSTMs with two layers, with two directions and a given state; a GRU, and a
GRU cell in a loop.
"""

import torch
from torch import nn

from model import Model, randn


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, batch_first=True)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.fc(y[:, -1]), h, c


class BidirectionalLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 7, bidirectional=True)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return y, h, c


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(6, 8, num_layers=2, bidirectional=True, bias=False)
        self.cell = nn.GRUCell(16, 4)

    def forward(self, x):
        y, h = self.gru(x)
        state = x.new_zeros(x.size(1), 4)
        for row in y.unbind(0):
            state = self.cell(row, state)
        return y, h, state


def models(full):
    state = (randn(2, 3, 7, seed=3), randn(2, 3, 7, seed=4))
    return [
        Model("lstm", Lstm(), (randn(2, 5, 6, seed=1),)),
        Model("lstm_bidirectional", BidirectionalLstm(), (randn(4, 3, 6, seed=2), *state)),
        Model("gru", Gru(), (randn(4, 3, 6, seed=5),)),
    ]
