"""A layer whose matrix is cut into slices: inputs, the harness that counts its work, and hints."""

from __future__ import annotations

import math

import numpy as np

from distlab.exercises.exercise import Case, Hint, Look

_ONE = "largest matrix product (1: a size-th of the full layer's)"
_ALL = "matrix products together (1: a size-th of the full layer's)"


def layer(split: str):
    """A full layer, its input and the gradient of its output; `split`: "out" or "in"."""

    def make(case: Case) -> list[dict]:
        features_in, features_out = case.get("in", 4), case.get("out", 4)
        dtype, rows, shared = case.get("dtype", "float32"), case.get("rows", [3]), case.generator()

        def drawn(*shape):
            return np.asarray(shared.standard_normal(shape), dtype)

        given = {
            "split": split,
            "x": drawn(*rows, features_in),
            "weight": drawn(features_out, features_in),
            "bias": drawn(features_out),
            "gradient": drawn(*rows, features_out),
        }
        return [dict(given) for _ in range(case.size)]

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
        "gradient of x": x.grad,
        "gradient of weight, this rank's share": _share(weight.grad, weight_dim, rank, size),
        "gradient of bias": _share(bias.grad, bias_dim, rank, size),
        _ONE: max([1.0, *(f / share for f in flops)]),
        _ALL: max(1.0, sum(flops) / share),
    }


def _share(tensor, dim: int | None, rank: int, size: int):
    """A rank's share of a tensor that is divided along `dim`, or all of one that is not."""
    if tensor is None or dim is None:
        return tensor
    width = tensor.shape[dim] // size
    return tensor.narrow(dim, rank * width, width).clone()


def _products():
    """Notes the floating-point operations of each matrix product, in whatever form it comes; where
    DTensors are multiplied, those of the part that this rank computes. One that is computed again,
    to look at it say, counts once.
    """
    import contextlib

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

    @contextlib.contextmanager
    def counting():
        with Counter():
            yield found.values()

    held: list[tuple] = []
    found: dict[tuple, float] = {}
    return counting()


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


def _part(name: str):
    return lambda look: ([w[name] for w in look.expected], [g[name] for g in look.got])


output, of_x = _part("returned"), _part("gradient of x")
of_weight = _part("gradient of weight, this rank's share")
of_bias = _part("gradient of bias")


def times_size(part):
    """Is this part right but for a factor of size, on some rank?"""

    def shows(look: Look) -> bool:
        want, got = part(look)
        return look.size > 1 and any(
            g is not None and w.any() and not look.same(w, g) and look.same(w * w.dtype.type(f), g)
            for w, g in zip(want, got, strict=True)
            for f in (look.size, 1 / look.size)
        )

    return shows


def _missing(look: Look) -> bool:
    """Is a gradient `None` after a backward pass? There is none from outputs of another shape."""
    outputs = zip(*output(look), strict=True)
    if any(np.shape(got) != want.shape for want, got in outputs):
        return False
    return any(
        g is None and w is not None
        for part in (of_x, of_weight, of_bias)
        for w, g in zip(*part(look), strict=True)
    )


def right(part, look: Look) -> bool:
    return all(map(look.same, *part(look)))


WORK = Hint(
    "whole product computed",
    lambda look: any(got[_ONE] > 1 or got[_ALL] > 1 for got in look.got),
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
    lambda look: any(
        g is not None and g.shape != w.shape
        for part in (of_x, of_weight, of_bias)
        for w, g in zip(*part(look), strict=True)
    ),
    "A gradient has the shape of what it is the gradient of.",
)
