"""Lab 06, cutting a layer's matrix into slices: column-parallel and row-parallel linear layers."""

from __future__ import annotations

import math

import numpy as np

from distlab.course.lab06_model_parallel.splitting import LAB
from distlab.exercises import hints
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_ONE = "largest matrix product (1: a size-th of the full layer's)"
_ALL = "matrix products together (1: a size-th of the full layer's)"


def _layer(split: str):
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


def _own_part(inputs: dict, rank: int, size: int) -> dict:
    """What is split is given in shares: the gradient of the output, or the input."""
    name = "gradient" if inputs["split"] == "out" else "x"
    return inputs | {name: np.split(inputs[name], size, -1)[rank].copy()}


def _call_linear(function, rank, size, inputs):
    """Forward under a counter of matrix products, then backward with this rank's gradient."""
    split, x, gradient = inputs["split"], inputs["x"], inputs["gradient"]
    weight, bias = inputs["weight"].requires_grad_(), inputs["bias"].requires_grad_()
    full = 2 * math.prod(x.shape[:-1]) * weight.numel()
    rows, of_bias = (0, 0) if split == "out" else (1, None)
    x.requires_grad_()
    with _products() as flops:
        y = function(rank, size, x, weight, bias)
    output = y
    if hasattr(y, "detach"):
        output = y.detach().clone()
        if y.requires_grad and y.shape == gradient.shape:  # backward may write into it
            y.backward(gradient.clone())
    share = max(full / size, 1)
    return {
        "returned": output,
        "gradient of x": x.grad,
        "gradient of weight, this rank's share": _share(weight.grad, rows, rank, size),
        "gradient of bias": (
            bias.grad if of_bias is None else _share(bias.grad, of_bias, rank, size)
        ),
        _ONE: max([1.0, *(f / share for f in flops)]),
        _ALL: max(1.0, sum(flops) / share),
    }


def _share(tensor, dim: int, rank: int, size: int):
    if tensor is None:
        return None
    width = tensor.shape[dim] // size
    return tensor.narrow(dim, rank * width, width).clone()


def _products():
    """Notes the floating-point operations of each matrix product, in whatever form it comes."""
    import contextlib

    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            of = flop_registry.get(func.overloadpacket)
            if of is not None:
                found.append(of(*args, **(kwargs or {}), out_val=result))
            elif func.overloadpacket.__name__ in ("mv", "addmv", "dot"):
                found.append(2 * args[-2].numel())
            elif func.overloadpacket.__name__ == "mul" and _outer(result, args):
                found.append(2 * result.numel())
            return result

    @contextlib.contextmanager
    def counting():
        with Counter():
            yield found

    found: list[float] = []
    return counting()


def _outer(result, factors) -> bool:
    """Is this product larger than both factors? Summed up, it is a matrix product as well."""
    sizes = [factor.numel() for factor in factors if hasattr(factor, "numel")]
    return len(sizes) == 2 and result.numel() > max(sizes)


# what their hints share


def _part(name: str):
    return lambda look: ([w[name] for w in look.expected], [g[name] for g in look.got])


_output, _of_x = _part("returned"), _part("gradient of x")
_of_weight = _part("gradient of weight, this rank's share")
_of_bias = _part("gradient of bias")


def _times_size(part):
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
    return any(
        g is None and w is not None
        for part in (_of_x, _of_weight, _of_bias)
        for w, g in zip(*part(look), strict=True)
    )


def _right(part, look: Look) -> bool:
    return all(map(look.same, *part(look)))


_WORK = Hint(
    "whole product computed",
    lambda look: any(got[_ONE] > 1 or got[_ALL] > 1 for got in look.got),
    "The values may be right, but a rank did more than its share of the work: take your slice of "
    "`weight` before the matrix product, not a slice of the result after it.",
)
_NO_GRADIENT = Hint(
    "gradient missing",
    _missing,
    "A gradient is None: something between the arguments and what you return is outside of "
    "autograd. detach(), .data, torch.no_grad() and a forward of torch.autograd.Function without "
    "its backward cut the graph; a backward has to return a gradient for each argument.",
)
_RETURNED_GRADIENT = Hint(
    "gradient of the wrong shape",
    lambda look: any(
        g is not None and g.shape != w.shape
        for part in (_of_x, _of_weight, _of_bias)
        for w, g in zip(*part(look), strict=True)
    ),
    "A gradient has the shape of what it is the gradient of.",
)


# column_parallel_linear


def _whole_columns(look: Look) -> np.ndarray:
    """The output of the full layer."""
    given = look.inputs[0]
    return given["x"] @ given["weight"].T + given["bias"]


def _slice_elsewhere(look: Look) -> bool:
    """Every rank has a slice that is another rank's, or the same as another rank."""
    want, got = _output(look)
    return not _right(_output, look) and all(any(look.same(w, g) for w in want) for g in got)


column_parallel_linear = Exercise(
    "column_parallel_linear", LAB, 4,
    make=_layer("out"),
    share=_own_part,
    call=_call_linear,
    asks="In column_parallel_linear, each rank computes its own slice of the outputs with its "
    "slice of weight and bias alone, and after backward() x has the gradient of the full layer.",
    visible=(
        Case(2, 1, {"in": 3, "out": 4, "rows": [5]}),
        Case(3, 2, {"in": 4, "out": 6, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        _WORK,
        Hint(
            "full output returned",
            lambda look: look.size > 1
            and any(look.same(_whole_columns(look), got) for got in _output(look)[1]),
            "This is the output of the full layer. Here each rank keeps its own slice of it: the "
            "next layer will want just that.",
        ),
        Hint(
            "no bias",
            lambda look: any(
                look.same(w - np.split(look.inputs[0]["bias"], look.size)[r], g)
                for r, (w, g) in enumerate(zip(*_output(look), strict=True))
            ),
            "The bias is missing: each output has one, so each rank adds its slice of it.",
        ),
        Hint(
            "another slice",
            _slice_elsewhere,
            "A rank has the slice of another one: rank r computes the r-th run of neighbouring "
            "outputs, counted from 0.",
        ),
        _NO_GRADIENT,
        _RETURNED_GRADIENT,
        Hint(
            "gradient of x not added up",
            lambda look: look.size > 1 and _right(_output, look) and _own_part_of_x(look),
            "Each rank's x has only the part of the gradient that came through its own slice. "
            "Every rank used the same x, so its gradient is the sum over the ranks: something has "
            "to happen in the backward pass.",
        ),
        Hint(
            "gradient size times",
            lambda look: any(_times_size(part)(look) for part in (_of_x, _of_weight, _of_bias)),
            "A gradient is `size` times too large or too small: each rank holds a part of the sum, "
            "so the parts are added up once, and nothing is divided. Only x needs it: "
            "weight and bias are each rank's own.",
        ),
        *hints.COMMON,
    ),
)  # fmt: skip


def _own_part_of_x(look: Look) -> bool:
    given = look.inputs[0]
    parts = zip(
        np.split(given["gradient"], look.size, -1), np.split(given["weight"], look.size),
        _of_x(look)[1], strict=True,
    )  # fmt: skip
    return all(look.same(gradient @ weight, got) for gradient, weight, got in parts)


# row_parallel_linear


def _bias_times(look: Look) -> float | None:
    """How often the bias is in the output, if that is all that is wrong with it."""
    want, got = _output(look)
    for times in (0, look.size):
        extra = look.inputs[0]["bias"] * (times - 1)
        if times != 1 and all(look.same(w + extra, g) for w, g in zip(want, got, strict=True)):
            return times
    return None


row_parallel_linear = Exercise(
    "row_parallel_linear", LAB, 4,
    make=_layer("in"),
    share=_own_part,
    call=_call_linear,
    asks="In row_parallel_linear, each rank multiplies its slice of the input with its slice of "
    "weight, and every rank returns the output of the full layer; gradients are those of the full "
    "layer.",
    visible=(
        Case(2, 1, {"in": 4, "out": 3, "rows": [5]}),
        Case(3, 2, {"in": 6, "out": 4, "rows": [2, 3]}),
    ),
    hints=(
        hints.NOTHING,
        _WORK,
        Hint(
            "bias on every rank",
            lambda look: look.size > 1 and _bias_times(look) == look.size,
            "The bias is in the output `size` times: every rank added it before the sum.",
        ),
        Hint("no bias", lambda look: _bias_times(look) == 0, "The bias is missing."),
        Hint(
            "partial sums",
            lambda look: look.size > 1 and not any(map(look.same, *_output(look))),
            "No rank has the output of the full layer. Each rank's product is one term of a sum: "
            "the terms of all ranks have to be added up, on every rank, and the columns of "
            "`weight` have to be those that belong to this rank's slice of x.",
        ),
        _NO_GRADIENT,
        _RETURNED_GRADIENT,
        Hint(
            "gradient size times",
            lambda look: _right(_output, look)
            and any(_times_size(part)(look) for part in (_of_x, _of_weight, _of_bias)),
            "The output is right, a gradient is `size` times too large or too small. The gradient "
            "of the output is already the same on every rank: in the backward pass, what goes "
            "into the sum gets it as it is, and nothing is added up or divided. (The all_reduce "
            "of torch.distributed.nn adds up once more in its backward.)",
        ),
        *hints.COMMON,
    ),
)  # fmt: skip
