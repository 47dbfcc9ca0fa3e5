"""`make_model` is judged alike wherever its model lies."""

import torch

from distlab.course.lab03_cifar10_ddp import make_model


def test_a_model_that_is_returned_on_another_device_is_tried_there(monkeypatch):
    """An answer may end in `.to(device)`; a machine with a GPU has one."""
    norm = torch.Tensor.norm  # on this device there are no numbers
    monkeypatch.setattr(torch.Tensor, "norm", lambda tensor: norm(torch.zeros(tensor.shape)))

    def answer(num_classes):
        from distlab.training.vision import models

        with torch.device("meta"):
            return models.resnet18(num_classes=num_classes)

    found = make_model.exercise.call(answer, 0, 1, {"num_classes": 4})
    assert found["output's shape"] == [2, 4] and found["second model"] == "another one"
