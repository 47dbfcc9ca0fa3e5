"""A layer whose matrix is cut into slices: inputs, the harness that counts its work, and hints."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from distlab.exercises.exercise import Case, Hint, Look

OF_X, OF_WEIGHT = "gradient of x", "gradient of weight, this rank's share"
OF_BIAS = "gradient of bias"
_ONE = "largest matrix product (1: a size-th of the full layer's)"
_ALL = "matrix products together (1: a size-th of the full layer's)"


def layer(split: str):
    """A full layer, its input and the gradient of its output; `split`: "out" or "in"."""

    def make(case: Case) -> list[dict]:
        features_in, features_out, rows = (case.params[name] for name in ("in", "out", "rows"))
        dtype, shared = case.get("dtype", "float32"), case.generator()

        def drawn(*shape):
            return np.asarray(shared.standard_normal(shape), dtype)

        given = {
            "split": split,
            "x": drawn(*rows, features_in),
            "weight": drawn(features_out, features_in),
            "bias": drawn(features_out),
            "gradient": drawn(*rows, features_out),
        }
        return [given] * case.size

    return make


def own_part(inputs: dict, rank: int, size: int) -> dict:
    """What is split is given in shares: the gradient of the output, or the input."""
    name = "gradient" if inputs["split"] == "out" else "x"
    return inputs | {name: np.split(inputs[name], size, -1)[rank].copy()}


def call_linear(function, rank, size, inputs):
    """Forward under a counter of matrix products, then backward with this rank's gradient."""
    split, x, gradient = inputs["split"], inputs["x"], inputs["gradient"]
    weight, bias = inputs["weight"].requires_grad_(), inputs["bias"].requires_grad_()
    full = 2 * math.prod(x.shape[:-1]) * weight.numel()
    weight_dim, bias_dim = (0, 0) if split == "out" else (1, None)  # in which ranks have shares
    x.requires_grad_()
    with _products() as flops:
        y = function(rank, size, x, weight, bias)
    output = y
    if hasattr(y, "detach"):
        output = y.detach().clone()
        plain = not hasattr(y, "placements")  # as a DTensor has, whose gradient is one, too
        if plain and y.requires_grad and y.shape == gradient.shape:
            y.backward(gradient.clone())  # which may write into it
    share = max(full / size, 1)
    return {
        "returned": output,
        OF_X: x.grad,
        OF_WEIGHT: _share(weight.grad, weight_dim, rank, size),
        OF_BIAS: _share(bias.grad, bias_dim, rank, size),
        _ONE: max([1.0, *(f / share for f in flops)]),
        _ALL: max(1.0, sum(flops) / share),
    }


def _share(tensor, dim: int | None, rank: int, size: int):
    """A rank's share of a tensor that is divided along `dim`, or all of one that is not."""
    if tensor is None or dim is None:
        return tensor
    width = tensor.shape[dim] // size
    return tensor.narrow(dim, rank * width, width).clone()


@contextlib.contextmanager
def _products():
    """Notes the floating-point operations of each matrix product, in whatever form it comes; where
    DTensors are multiplied, those of the part that this rank computes. One that is computed again,
    to look at it say, counts once.
    """
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    from distlab.training.memory import hold_others, is_fake

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if hold_others(types):
                return NotImplemented
            result = func(*args, **(kwargs or {}))
            if hasattr(result, "device") and is_fake(result):
                return result
            of, name = flop_registry.get(func.overloadpacket), func.overloadpacket.__name__
            factors = args[name.startswith(("add", "badd")) :]
            if of is not None:
                note(factors, of(*args, **(kwargs or {}), out_val=result))
            elif name in ("mv", "addmv", "dot"):
                note(factors, 2 * args[-2].numel())
            elif name == "mul" and _outer(result, args):
                note(factors, 2 * result.numel())
            return result

    def note(factors, flops):
        where = tuple(_place(t) for t in factors if hasattr(t, "data_ptr"))
        held.append(factors)  # so that no other tensor comes to lie there
        found[where] = flops

    held: list[tuple] = []
    found: dict[tuple, float] = {}
    with Counter():
        yield found.values()


def _place(tensor) -> tuple[int, ...]:
    """Where a tensor lies, and how often that has been written into."""
    try:
        return tensor.data_ptr(), tensor.numel(), tensor._version
    except RuntimeError:  # a sparse tensor has no such place
        return (id(tensor),)


def _outer(result, factors) -> bool:
    """Is this product larger than both factors? Summed up, it is a matrix product as well."""
    sizes = [factor.numel() for factor in factors if hasattr(factor, "numel")]
    return len(sizes) == 2 and result.numel() > max(sizes)


def _gradients(look: Look) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """(the right gradient, the one found) of all three, on every rank."""
    return [both for name in (OF_X, OF_WEIGHT, OF_BIAS) for both in look.pairs(name)]


def times_size(look: Look) -> bool:
    """Is a gradient right but for a factor of size, on some rank?"""
    return look.size > 1 and any(
        want.any() and not look.same(want, got) and look.same(want * want.dtype.type(factor), got)
        for want, got in _gradients(look)
        for factor in (look.size, 1 / look.size)
    )


def _missing(look: Look) -> bool:
    """Is a gradient `None` after a backward pass? There is none from outputs of another shape."""
    return all(np.shape(got) == want.shape for want, got in look.pairs()) and any(
        got is None for _, got in _gradients(look)
    )


WORK = Hint(
    "whole product computed",
    lambda look: max(*look.left(_ONE), *look.left(_ALL)) > 1,
    "A rank did more than its share of the work: take your slice of `weight` before the matrix "
    "product, not a slice of the result after it.",
)
NO_GRADIENT = Hint(
    "gradient missing",
    _missing,
    "A gradient is None: something between the arguments and what you return is outside of "
    "autograd. detach(), .data, nn.Parameter(), torch.no_grad() and a forward of "
    "torch.autograd.Function without its backward cut the graph; a backward has to return a "
    "gradient for each argument.",
)
RETURNED_GRADIENT = Hint(
    "gradient of the wrong shape",
    lambda look: any(got is not None and got.shape != want.shape for want, got in _gradients(look)),
    "A gradient has the shape of what it is the gradient of.",
)
