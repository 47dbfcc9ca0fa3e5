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
        more: added to every element that arrives. Who returns what was received returns it changed
            as well, and who makes up the same number does not.

    Attributes:
        arrived: the stamps of what it has received, in that order.
    """

    def __init__(self, number: int | None, more: int = 0) -> None:
        self._number, self._more = number or 0, more
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
        return buffer[:-1] + self._more if self._more else buffer[:-1]
