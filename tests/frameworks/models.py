"""Models of one layer that tell a listener of each batch: (steps so far as they see it, batches)."""

from collections.abc import Callable
from typing import Any

import torch
from lightning.pytorch import LightningModule
from torch.utils.data import DataLoader, TensorDataset

Listener = Callable[[int, int], None]


def rows(batches: int) -> DataLoader[Any]:
    """Return so many batches for each of two ranks."""
    return DataLoader(TensorDataset(torch.ones(2 * 4 * batches, 4)), batch_size=4)


class LightningModel(LightningModule):
    """For Lightning."""

    def __init__(self, listen: Listener) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.listen, self.batches = listen, 0

    def training_step(self, batch: Any, _: int) -> Any:
        self.batches += 1
        self.listen(self.global_step, self.batches)
        return self.layer(batch[0]).mean()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


class HfModel(torch.nn.Module):
    """For the Trainer of transformers."""

    def __init__(self, listen: Listener) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.listen, self.batches = listen, 0

    def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
        self.batches += 1
        self.listen(self.batches, self.batches)
        out = self.layer(x)
        return {"loss": ((out - 1) ** 2).mean(), "logits": out}


class Rows(torch.utils.data.Dataset[Any]):
    """Rows of ones."""

    def __init__(self, count: int = 32) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int) -> dict[str, Any]:
        return {"x": torch.ones(4), "labels": torch.ones(1)}
