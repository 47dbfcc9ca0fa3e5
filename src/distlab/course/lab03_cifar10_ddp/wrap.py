"""`wrap`: a model in DDP."""

from __future__ import annotations

import functools
from typing import Any

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice
from distlab.rank.models import gradients, parameters, set_to
from distlab.rank.pretended_gpus import PretendedGpus

_ON_CPU = "The check also gives a CPU as device on a machine that has GPUs"
_IDS_ON_CPU = "device_ids on a CPU beside GPUs"


def _linear(case: Case) -> list[dict]:
    features, n = case.get("features", 3), case.get("n", 4)
    return [
        {
            "weight": case.draw(r, [2, features]),
            "bias": case.draw(r, [2]),
            "batch": case.draw(10 + r, [n, features]),
            "index": case.get("index", 0),
        }
        for r in range(case.size)
    ]


def _small_model(weight, bias):
    from torch import nn

    outputs, inputs = weight.shape
    return nn.Sequential(set_to(nn.Linear(inputs, outputs), weight, bias))


def _wrap_and_step(function, rank, size, inputs):
    import torch
    from torch.nn.parallel import DistributedDataParallel

    from distlab.rank import world

    device = world.here().device
    model = _small_model(inputs["weight"], inputs["bias"])
    wrapped = function(model, device)
    if not isinstance(wrapped, DistributedDataParallel):
        return {"returned": type(wrapped).__name__}
    inside = wrapped.module
    # a copy of the model will do, something around it will not: a checkpoint has its names
    own = [(_plain(name), p.shape) for name, p in inside.named_parameters()] == [
        (name, p.shape) for name, p in model.named_parameters()
    ]
    result = {
        "returned": "DistributedDataParallel",
        "wrapped module": "the model" if own else "something else",
        "device of the parameters": "the rank's"
        if all(p.device == device for p in inside.parameters())
        else "another",
        "device_ids": "fitting"
        if _ids(wrapped.device_ids) == ([] if device.type == "cpu" else [device.index])
        else "others",
        "parameters": parameters(inside),
    }
    # in the model's own dtype: another one than it had is told by its parameters
    batch = inputs["batch"].to(device, next(inside.parameters()).dtype)
    wrapped(batch).square().mean().backward()
    result["gradients"] = gradients(inside.parameters())
    there = torch.device("cuda", inputs["index"])
    result["GPU"] = _beside_gpus(function, inputs, there)
    result[_IDS_ON_CPU] = _beside_gpus(function, inputs, torch.device("cpu"))["device_ids"]
    return result


def _ids(device_ids) -> list[int | str]:
    """device_ids as plain numbers: torch takes devices, names and numbers."""
    import torch

    return [
        torch.device(one).index if isinstance(one, (str, torch.device)) else one
        for one in device_ids or []
    ]


def _beside_gpus(function, inputs, device) -> dict[str, Any]:
    """What a rank would do with this device on a machine with GPUs, where there may be none."""
    from unittest import mock

    import torch
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    gpus = PretendedGpus(inputs["index"] + 1)
    seen: dict[str, Any] = {"moved to": None, "device_ids": None, "moved": "never"}
    model, as_ever = _small_model(inputs["weight"], inputs["bias"]), torch.Tensor.to

    def there(where) -> Any:
        """The device that is named, as what lies on it names it."""
        where = torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
        whole = where.type != "cuda" or where.index is not None
        return where if whole else torch.device("cuda", gpus.current)

    def note(where) -> None:
        seen["moved to"] = str(where)
        if seen["moved"] == "never":
            seen["moved"] = "before wrapping" if seen["device_ids"] is None else "after wrapping"

    def to(module, *args, **kwargs):
        if (where := _device_named(*args, **kwargs)) is not None:
            note(there(where))
            for parameter in module.parameters():
                _say_it_is_on(parameter, there(where))
        return module

    def cuda(module, device=None):
        return to(module, gpus.current if device is None else device)

    def tensor_to(tensor, *args, **kwargs):
        """An answer may move a model's parameters, or their data, one by one."""
        where = _device_named(*args, **kwargs)
        if where is None or there(where).type != "cuda":
            return as_ever(tensor, *args, **kwargs)
        for parameter in model.parameters():
            if parameter.data_ptr() == tensor.data_ptr():
                _say_it_is_on(parameter, there(where))
        if all(parameter.device == there(where) for parameter in model.parameters()):
            note(there(where))
        return _say_it_is_on(tensor.detach(), there(where))

    def tensor_cuda(tensor, device=None, *args, **kwargs):
        return tensor_to(tensor, gpus.current if device is None else device)

    def wrap(self, module, device_ids=None, *args, **kwargs):
        nn.Module.__init__(self)
        self.module, self.device_ids = module, device_ids
        seen["device_ids"] = _ids(device_ids)

    with (
        gpus.there(),
        mock.patch.object(nn.Module, "to", to),
        mock.patch.object(nn.Module, "cuda", cuda),
        mock.patch.object(torch.Tensor, "to", tensor_to),
        mock.patch.object(torch.Tensor, "cuda", tensor_cuda),
        mock.patch.object(DistributedDataParallel, "__init__", wrap),
    ):
        function(model, device)
    return seen


def _device_named(where=None, *args, device=None, **kwargs) -> Any:
    """What a call of `to` names as the device: one, or a tensor that lies there; `None` for a dtype
    alone.
    """
    import torch

    named = kwargs.get("other", kwargs.get("tensor", device)) if where is None else where
    named = getattr(named, "device", named)
    return None if isinstance(named, torch.dtype) else named


def _say_it_is_on(tensor, where) -> Any:
    """Let a tensor say that it is on this device, and what is detached from it: an answer may ask a
    parameter, its `data`, or an entry of the state dict. Returns the tensor.
    """
    tensor.__class__ = _elsewhere(getattr(type(tensor), "plain", type(tensor)), where)
    return tensor


@functools.cache
def _elsewhere(kind: Any, where) -> Any:
    """The class of such tensors: `torch.Tensor` or `nn.Parameter`, on a device. What is made of
    them is as plain as what is made of a parameter, so that they can be copied and saved.
    """
    import torch

    class Elsewhere(kind):
        plain = kind
        __torch_function__ = torch._C._disabled_torch_function_impl
        device = property(lambda self: where)
        is_cuda = property(lambda self: where.type == "cuda")
        is_cpu = property(lambda self: where.type == "cpu")

        def get_device(self) -> int:
            return -1 if where.index is None else where.index

        def detach(self):
            return _say_it_is_on(super().detach(), where)

        @property
        def data(self):
            return _say_it_is_on(kind.data.__get__(self), where)

        @data.setter
        def data(self, value):
            kind.data.__set__(self, value)

        def __deepcopy__(self, memo):
            copied = super().detach().clone()
            copied.__class__ = type(self)
            return memo.setdefault(id(self), copied.requires_grad_(self.requires_grad))

        def __reduce_ex__(self, protocol):
            plain = self.as_subclass(kind) if kind is torch.Tensor else super()
            return plain.__reduce_ex__(protocol)

    return Elsewhere


def _plain(name: str) -> str:
    """A parameter's name as it is in the model that torch.compile was given."""
    return name.replace("_orig_mod.", "")


def _not_rank_0s(look: Look) -> bool:
    """Has a rank other weights than it should, in the dtype that they should have?"""
    return look.differs("parameters") and all(
        [p.dtype for p in want] == [p.dtype for p in got] for want, got in look.pairs("parameters")
    )


def _beside_a_gpu(look: Look, name: str) -> list[tuple[Any, Any]]:
    """(asked for, found) by rank, with a GPU as device."""
    return [(want[name], got[name]) for want, got in look.pairs("GPU")]


exercise = Exercise(
    points=3,
    make=_linear,
    call=_wrap_and_step,
    asks="wrap moves the model to the device and returns it inside DistributedDataParallel, with "
    "device_ids on a GPU and without on a CPU.",
    visible=(Case(2, 1), Case(4, 2, {"features": 5, "index": 1})),
    hints=(
        Hint(
            "no DDP",
            lambda look: look.returned[0] != "DistributedDataParallel",
            "What came back is no DistributedDataParallel module: is the wrapped model returned?",
        ),
        Hint(
            "wrapped twice",
            lambda look: look.got[0]["wrapped module"] != "the model",
            "Inside DDP there is something other than the model that was given. A module around "
            "it puts a prefix before the names of its parameters, so that a checkpoint of the bare "
            "model no longer fits.",
        ),
        Hint(
            "no gradient",
            lambda look: any(one is None for found in look.left("gradients") for one in found),
            "A parameter has no gradient after backward: wrapping leaves requires_grad as it is.",
        ),
        Hint(
            "each rank its own weights",
            _not_rank_0s,
            "After wrapping, the ranks do not all have rank 0's weights. DDP copies them to every "
            "rank of its group when it is made, unless it is told not to (init_sync), or its group "
            "(process_group) does not hold all ranks.",
        ),
        Hint(
            "not moved",
            lambda look: any(got is None for _, got in _beside_a_gpu(look, "moved to")),
            "With a GPU as device the model was never moved there.",
        ),
        Hint(
            "moved too late",
            lambda look: look.got[0]["GPU"]["moved"] == "after wrapping",
            "With a GPU as device the model was moved after it was wrapped: DDP builds its buckets "
            "on the device where it finds the parameters.",
        ),
        Hint(
            "wrong GPU",
            lambda look: any(want != got for want, got in _beside_a_gpu(look, "moved to")),
            "With a GPU as device the model went to another one: use the device that is given, "
            "neither the rank's number nor the default.",
        ),
        Hint(
            "no device_ids",
            lambda look: any(got == [] for _, got in _beside_a_gpu(look, "device_ids")),
            "With a GPU as device, DDP was given no device_ids: they name the one GPU of this "
            "process.",
        ),
        Hint(
            "wrong device_ids",
            lambda look: any(want != got for want, got in _beside_a_gpu(look, "device_ids")),
            "With a GPU as device, device_ids is not that GPU: the device knows its own index.",
        ),
        Hint(
            "device_ids on a CPU",
            lambda look: any(look.left(_IDS_ON_CPU)),
            f"{_ON_CPU}, and there DDP was given device_ids: whether there is a GPU is not what "
            "counts, but which device is given.",
        ),
    ),
    advice=(
        Advice(
            "no GPU given",
            "Expected a (cuda|torch.device with a specified index)",
            f"{_ON_CPU}: whether there is a GPU does not say that this is the device.",
        ),
    ),
)
