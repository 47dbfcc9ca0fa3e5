"""A model in DDP, as harnesses give it to answers."""

from __future__ import annotations

from typing import Any


def in_ddp(model: Any, **options: Any) -> Any:
    """The model on this rank's device, wrapped in DDP; what wrapping it sends goes unrecorded."""
    from torch.nn.parallel import DistributedDataParallel

    from distlab.rank import recording, world

    device = world.here().device
    ids = [device.index] if device.type == "cuda" else None
    with recording.paused():
        return DistributedDataParallel(model.to(device), device_ids=ids, **options)
