"""`make_model`: ResNet-18 for so many classes."""

from __future__ import annotations

import contextlib
import zlib

from distlab.exercises.exercise import Case, Exercise, Hint, Look
from distlab.exercises.raised import Advice

_ENTRIES = "state dict's names and shapes"
_OTHER_OUTPUTS = "Module with other outputs than ResNet-18's for the same weights"


@contextlib.contextmanager
def _no_downloads(asked: list[str]):
    """Note requests for pretrained weights, and answer them with an untrained network's."""
    import importlib
    from unittest import mock

    from distlab.training.vision import models

    def instead(url, *args, **kwargs):
        asked.append(str(url))
        return models.resnet18().state_dict()

    with contextlib.ExitStack() as stack:
        for name in (
            "torch.hub",
            "torchvision._internally_replaced_utils",
            "torchvision.models._api",
        ):
            module = importlib.import_module(name)
            if hasattr(module, "load_state_dict_from_url"):
                stack.enter_context(mock.patch.object(module, "load_state_dict_from_url", instead))
        yield


def _output(model, images):
    """The output in training, but for BatchNorm, which then may want other ranks."""
    from torch.nn.modules.batchnorm import _BatchNorm

    for layer in model.modules():
        layer.training = not isinstance(layer, _BatchNorm)
    return model(images)


def _computes(model, num_classes, images) -> tuple[list[int], bool]:
    """The shape of a model's output, and whether torchvision's network has the same output with the
    same weights. (Of a state dict that does not fit it the comparison of names and shapes tells.)
    """
    import torch

    from distlab.training.vision import models

    with torch.device("meta"):  # without drawing weights that are replaced
        theirs = models.resnet18(num_classes=num_classes)
    with torch.no_grad():
        output = _output(model, images)
        try:
            theirs.load_state_dict(model.state_dict(), assign=True)
        except RuntimeError:
            return list(output.shape), True
        expected = _output(theirs, images)
    apart = output.shape == expected.shape and (output - expected).norm() > 0.05 * expected.norm()
    return list(output.shape), not apart


def _build_twice(function, rank, size, inputs):
    import torch

    asked: list[str] = []
    with _no_downloads(asked):
        model, other = function(inputs["num_classes"]), function(inputs["num_classes"])
    if not isinstance(model, torch.nn.Module):
        return {"returned": type(model).__name__}
    state = model.state_dict()
    entries = [f"{name} {tuple(value.shape)}" for name, value in state.items()]
    shapes = {
        name: list(state[name].shape) if name in state else None
        for name in ("conv1.weight", "layer4.1.bn2.running_var", "fc.weight", "fc.bias")
    }
    place = next((value.device for value in state.values()), None)  # perhaps a GPU
    # larger than CIFAR-10's, of which avgpool gets a single number a channel
    images = torch.randn(2, 3, 40, 40, generator=torch.Generator().manual_seed(0)).to(place)
    output, alike = _computes(model, inputs["num_classes"], images)
    return {
        "returned": "Module" if alike else _OTHER_OUTPUTS,
        "weights downloaded": bool(asked),
        "shapes": shapes,
        "number of entries": len(entries),
        "frozen parameters": [n for n, p in model.named_parameters() if not p.requires_grad][:3],
        "output's shape": output,
        _ENTRIES: zlib.crc32("\n".join(entries).encode()),
        "second model": "the same one" if other is model else "another one",
    }


def _shape(look: Look, name: str) -> list[int] | None:
    """The shape of what is under this name in the state dict."""
    return look.left("shapes")[0][name]


exercise = Exercise(
    points=2,
    make=lambda case: [dict(case.params) for _ in range(case.size)],
    call=_build_twice,
    asks="make_model returns torchvision's ResNet-18 with a head for num_classes classes, "
    "untrained and with every parameter trainable.",
    visible=(Case(1, 0, {"num_classes": 10}), Case(1, 0, {"num_classes": 3})),
    hints=(
        Hint(
            "other outputs",
            lambda look: _OTHER_OUTPUTS in look.left("returned"),
            "Names and shapes of the weights are resnet18's, but with the same weights "
            "torchvision's own network computes other numbers. Layers without weights belong to it "
            "too, such as maxpool, relu and avgpool: leave them as they are, for 32×32 images too, "
            "add no dropout, and return what fc returns, without a softmax.",
        ),
        Hint(
            "no module",
            lambda look: look.returned[0] != "Module",
            "What came back is no model: is the network returned, and is the constructor called?",
        ),
        Hint(
            "weights downloaded",
            lambda look: look.left("weights downloaded")[0],
            "This asks torchvision for pretrained weights: the lab trains from scratch, also where "
            "there is no network.",
        ),
        Hint(
            "parameters frozen",
            lambda look: look.left("frozen parameters")[0],
            "Some parameters do not require a gradient: here nothing is frozen, DDP would not even "
            "look at them.",
        ),
        Hint(
            "one model for all calls",
            lambda look: "the same one" in look.left("second model"),
            "A second call returned the first call's model: build a new one each time.",
        ),
        Hint(
            "stem changed",
            lambda look: _shape(look, "conv1.weight") not in ([64, 3, 7, 7], None),
            "The first convolution is another one. Small stems are popular for 32×32 images, but "
            "here the network is torchvision's own.",
        ),
        Hint(
            "wrong head",
            lambda look: (
                _shape(look, "fc.weight") != look.asked("shapes")[0]["fc.weight"]
                and _shape(look, "conv1.weight") is not None
            ),
            "The last layer, fc, is not the one for this number of classes (1000 is ImageNet's).",
        ),
        Hint(
            "other names",
            lambda look: look.differs(_ENTRIES),
            "Names, shapes or number of the state dict's entries are not resnet18's: another "
            "depth, a wrapper around it, or a head of several layers. A checkpoint would not fit.",
        ),
    ),
    advice=(
        Advice(
            "no output",
            r"Input type .* should be the same|shapes cannot be multiplied|size is too small",
            "The check sends float32 images of 40×40 through the network: resnet18 takes these as "
            "it takes other sizes. Leave the layers before fc and their dtype as they are; fc gets "
            "512 numbers an image.",
        ),
    ),
    group=False,
)
