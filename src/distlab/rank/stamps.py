"""A number that goes along with messages, unseen by the function that sends and receives them.

Where a contract says what a message holds, its receiver could return that without a message. The
stamp is an input that the sender's rank alone has: the receiving rank's harness hands it back only
if a message has brought it.
"""

from __future__ import annotations

import torch

BELOW = 1 << 24  # float32 holds whole numbers up to this


class Stamps:
    """Makes a rank's messages one element longer than their tensors: the stamp.

    Args:
        number: the stamp of what this rank sends.

    Attributes:
        arrived: the stamps of what it has received, in that order.
    """

    def __init__(self, number: int | None) -> None:
        self._number = number or 0
        self.arrived: list[int] = []

    def put_on(self, tensor: torch.Tensor) -> torch.Tensor:
        """What is sent in place of `tensor`; a tensor that cannot be sent stays as it is."""
        if not tensor.is_contiguous():
            return tensor
        flat = tensor.detach().reshape(-1)
        return torch.cat([flat, torch.tensor([self._number]).to(flat)])

    def room_for(self, tensor: torch.Tensor) -> torch.Tensor:
        """A buffer for a message that fills `tensor`."""
        if not tensor.is_contiguous():
            return tensor
        return tensor.detach().new_empty(tensor.numel() + 1)

    def taken_off(self, buffer: torch.Tensor) -> torch.Tensor:
        """What has arrived without its stamp, flat."""
        number = complex(buffer[-1].item()).real
        self.arrived.append(int(number) if 0 < number < BELOW else 0)  # small types cut it off
        return buffer[:-1]
