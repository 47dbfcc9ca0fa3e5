"""Values as data: what goes into a student's function and what comes out of it, without pickle.

A payload is a JSON tree and a safetensors block with its tensors. Both sides of the wall between
student code and referee write and read payloads; reading one runs no code.

Needs NumPy and safetensors. On the ranks tensors are torch's, elsewhere they are NumPy arrays.
"""

from __future__ import annotations

import json
import operator
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors import numpy as safe

from distlab.processes import framing, repetition

MAX_DEPTH = 50
BLOCK = 1 << 14  # bytes; of a large tensor, a block that comes several times in a row is sent once
LARGEST = 64 << 20  # bytes that the tensors of a payload may have once repetitions are written out
#: keys of a set or dict that is read. Keys can be chosen so that their hashes collide, which takes
#: time that grows with the square of their number, and with what there is to compare of each: of
#: several, the sum of the squares is limited
MOST_KEYS = 10_000
MOST_BITS = 14_284  # of an int: Python neither writes nor reads more than 4,300 digits
TREE_LIMIT = 2 << 20  # bytes of JSON beside the tensors; as objects they take 25 times that much
#: bytes of JSON that list the tensors, each of which takes 40 µs to read, empty or not
HEADER_LIMIT = 2 << 20
ODD_TENSOR = "torch.Tensor of "  # how the name of a tensor begins that no array can hold
_DTYPES = {
    "float16", "float32", "float64", "complex64", "bool", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64",
}  # fmt: skip

Block = bytes | bytearray | memoryview


@dataclass(frozen=True)
class Foreign:
    """Stands for a value that is not data: an object, a function, a tensor of an unusual kind."""

    type_name: str

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


def encode(value: Any, arrays: bool = True, shorten: bool = True) -> bytes:
    """Encode any tree of None, bool, int, float, str, list, tuple, set, dict, and tensors.

    Everything else becomes a `Foreign` with its type's name. Subclasses of the plain types are
    reduced to the plain value that they hold.

    Args:
        arrays: take NumPy arrays for tensors. On a rank they are not: a function that returns one
            where a tensor is asked for has made a mistake.
        shorten: send a block that is repeated in a large tensor once.
    """
    tensors: dict[str, np.ndarray] = {}
    tree = _down(value, tensors, arrays, 0)
    shortened = _shortened(tensors) if shorten else {}
    return pack([tree, shortened] if shortened else tree, safe.save(tensors))


def decode(data: Block, as_torch: bool = False) -> Any:
    """The tree that `encode` was given. Tensors are NumPy arrays, some of them read-only, or torch
    tensors that share their memory with nothing.

    Raises:
        ValueError: `data` is no payload, or holds too much beside its tensors.
    """
    try:
        tree, block = unpack(data, TREE_LIMIT)
        if int.from_bytes(block[:8], "little") > HEADER_LIMIT:
            raise ValueError("they are too many")
        arrays = safe.load(bytes(block))
        if isinstance(tree, list):
            tree, shortened = tree
            _lengthen(arrays, shortened, own=as_torch)
    except Exception as error:
        raise ValueError(f"the tensors of this payload cannot be read: {error}") from error
    try:
        return _Up(arrays, as_torch).value(tree, 0)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a payload: {error}") from error


def full_size(data: Block) -> int:
    """Bytes of a payload of our own making, once repetitions are written out."""
    tree, block = unpack(data)
    shortened = tree[1] if isinstance(tree, list) else {}
    left_out: int = sum(sum(times) - len(times) for times, _ in shortened.values())
    return len(block) + BLOCK * left_out


def text(value: Any) -> str:
    """A string from an untrusted process, without lone surrogates, which no file can hold.

    Raises:
        TypeError: it is not a string.
    """
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where a text belongs")
    return value.encode("utf-8", "replace").decode("utf-8")


def parts(tree: Any, *blocks: Block) -> list[Block]:
    """The parts of a message that holds a JSON tree and byte blocks, without copying the blocks."""
    return [head(tree, [len(block) for block in blocks]), *blocks]


def head(tree: Any, lengths: Sequence[int]) -> bytes:
    """The beginning of a message with blocks of these lengths."""
    told = json.dumps([lengths, tree]).encode()
    return len(told).to_bytes(8, "little") + told


def pack(tree: Any, *blocks: Block) -> bytes:
    """A JSON tree and byte blocks as one message."""
    return b"".join(parts(tree, *blocks))


def unpack(message: bytes | bytearray | memoryview, limit: int | None = None) -> tuple[Any, ...]:
    """The tree and the blocks that `pack` was given; the blocks are views of `message`.

    Raises:
        ValueError: it is not such a message, or its tree has more than `limit` bytes.
    """
    try:
        data = memoryview(message)
        size = int.from_bytes(data[:8], "little")
        if limit is not None and size > limit:
            raise ValueError(f"{size} bytes beside the tensors")
        lengths, tree = json.loads(bytes(data[8 : 8 + size]))
        at, blocks = 8 + size, []
        for length in lengths:
            if not 0 <= length <= len(data) - at:
                raise ValueError("a block is cut short")
            blocks.append(data[at : at + length])
            at += length
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"not a payload: {error}") from error
    return (tree, *blocks)


def receive_head(
    connection: socket.socket, limit: int | None = None
) -> tuple[Any, list[int]] | None:
    """The tree of the next message, and the lengths of its blocks, which the caller reads; `None`
    when the other end has closed.

    Raises:
        ValueError: it is not such a message, and was read to its end; or it has more than `limit`
            bytes.
        TimeoutError: the socket has a timeout and it passed.
    """
    size = framing.read_size(connection, limit)
    if size is None:
        return None
    start = framing.exactly(connection, min(8, size))
    if start is None:
        return None
    size -= len(start)
    told = framing.exactly(connection, min(int.from_bytes(start, "little"), size))
    if told is None:
        return None
    size -= len(told)
    try:
        lengths, tree = json.loads(told)
        lengths = [int(length) for length in lengths]
        if min(lengths, default=0) < 0 or sum(lengths) != size:
            raise ValueError("a block is cut short")
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        framing.exactly(connection, size)
        raise ValueError(f"not a payload: {error}") from error
    return tree, lengths


def receive(connection: socket.socket, limit: int | None = None) -> tuple[Any, ...] | None:
    """The next message as `unpack` returns it, but with each block in memory of its own; otherwise
    as `receive_head`.
    """
    begun = receive_head(connection, limit)
    if begun is None:
        return None
    tree, lengths = begun
    blocks = [framing.exactly(connection, length) for length in lengths]
    return None if None in blocks else (tree, *blocks)


def _shortened(tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """Replace each tensor that is mostly repetition by those of its blocks that differ from the
    block before. Returns {its key: [how often each of these comes, the tensor's shape]}. Tensors
    beyond `LARGEST` bytes in all stay as they are.
    """
    found, left = {}, LARGEST
    for key, array in tensors.items():
        if array.nbytes < 2 * BLOCK or array.nbytes % BLOCK or array.nbytes > left:
            continue
        words = array.reshape(-1).view(np.uint64).reshape(-1, BLOCK // 8)
        differs = (words[1:] != words[:-1]).any(axis=1)
        starts = np.flatnonzero(np.concatenate([[True], differs]))
        if 4 * len(starts) <= len(words):
            left -= array.nbytes
            times = np.diff(starts, append=len(words))
            found[key] = [times.tolist(), list(array.shape)]
            tensors[key] = words[starts].reshape(-1).view(array.dtype)
    return found


def _lengthen(arrays: dict[str, np.ndarray], shortened: dict[str, Any], own: bool) -> None:
    """Undo `_shortened`, with new arrays (`own`), or with read-only ones that are shared.

    Raises:
        ValueError, TypeError, AttributeError, KeyError: `shortened` does not fit the arrays.
    """
    left = LARGEST
    for key, (times, shape) in shortened.items():
        blocks = arrays[key].reshape(len(times), -1)
        times = [operator.index(often) for often in times]
        # blocks of any other size are refused: empty ones could be repeated forever
        if min(times) < 0 or blocks[0].nbytes != BLOCK or (left := left - sum(times) * BLOCK) < 0:
            raise ValueError("blocks that repeat themselves too often")
        if own:
            arrays[key] = np.repeat(blocks, times, axis=0).reshape(shape)
        else:
            arrays[key] = repetition.lengthened(blocks, times, shape)


def _down(value: Any, tensors: dict[str, np.ndarray], arrays: bool, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return {"foreign": "something nested too deeply"}
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        if int.bit_length(value) > MOST_BITS:
            return {"foreign": "builtins.int of more than 4,300 digits"}
        return int.__add__(value, 0)
    if isinstance(value, float):
        return {"float": float.hex(float.__add__(value, 0.0))}
    if isinstance(value, (list, tuple, set, frozenset)):
        kind = next(k for k in (list, tuple, set, frozenset) if isinstance(value, k))
        items = sorted(value, key=repr) if kind in (set, frozenset) else value
        name = "set" if kind is frozenset else kind.__name__
        return {name: [_down(item, tensors, arrays, depth + 1) for item in items]}
    if isinstance(value, dict):
        return {
            "dict": [
                [_down(part, tensors, arrays, depth + 1) for part in (_plain(key), held)]
                for key, held in dict.items(value)
            ]
        }
    if isinstance(value, Foreign):
        return {"foreign": value.type_name}
    array = value if arrays and isinstance(value, np.ndarray) else _array(value)
    if array is None:
        return {"foreign": _name(value)[:200]}
    key = str(len(tensors))
    tensors[key] = np.ascontiguousarray(array).reshape(array.shape)
    return {"tensor": key}


def _plain(key: Any) -> Any:
    """A key as Python's own number: a dict finds one by the other, `{np.int64(2): …}[2]`."""
    return np.generic.item(key) if isinstance(key, np.integer) else key


def _array(value: Any) -> np.ndarray | None:
    """A torch tensor as an array, if an array can hold it."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor) or _odd(value):
        return None
    if value.is_meta or value.is_nested or value.is_quantized:
        return None
    try:
        plain = value.detach().as_subclass(torch.Tensor)
        array: np.ndarray = plain.resolve_conj().resolve_neg().cpu().contiguous().numpy()
    except (torch.AcceleratorError, torch.OutOfMemoryError):  # the GPU failed, not the tensor
        raise
    # it only stands for elements elsewhere, as a DTensor does, or has none yet, as in a lazy module
    except (RuntimeError, TypeError, ValueError):
        return None
    return array


def _odd(tensor: Any) -> str:
    """What keeps a torch tensor from being sent as an array; empty for most."""
    layout, dtype = (str(one).removeprefix("torch.") for one in (tensor.layout, tensor.dtype))
    if layout != "strided":
        return f"layout {layout}"
    if dtype not in _DTYPES:
        return f"dtype {dtype}"
    try:
        # as sharded training does with what it has gathered: there is nothing to be read any more
        freed = tensor.numel() and not tensor.untyped_storage().nbytes()
    except (RuntimeError, ValueError):  # no memory of its own (one that vmap made), or none yet
        return ""
    return "freed memory" if freed else ""


def _name(value: Any) -> str:
    """The name of its type, or what is unusual about a tensor, for a `Foreign`."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and (odd := _odd(value)):
        return f"{ODD_TENSOR}{odd}"
    return f"{type(value).__module__}.{type(value).__qualname__}"


class _Up:
    """Turns a tree that `_down` made into values again."""

    def __init__(self, arrays: dict[str, np.ndarray], as_torch: bool) -> None:
        self._arrays, self._as_torch = arrays, as_torch
        self._left = MOST_KEYS**2  # comparisons of keys that may still be needed

    def value(self, node: Any, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise ValueError("a payload nested too deeply")
        if node is None or isinstance(node, (bool, int, str)):
            return node
        if not isinstance(node, dict) or len(node) != 1:
            raise ValueError("not a payload: an unknown node")
        (kind, content), *_ = node.items()
        if kind == "float":
            return float.fromhex(content)
        if kind == "foreign":
            return Foreign(str(content))
        if kind == "tensor":
            return self._tensor(content)
        if kind in ("dict", "set"):
            keys = [key for key, _ in content] if kind == "dict" else content
            self._left -= len(keys) ** 2 * max(map(_parts, keys), default=0)
            if self._left < 0:
                raise ValueError(f"not a payload: dicts or sets of more than {MOST_KEYS} items")
        if kind == "dict":
            return {_key(self.value(k, depth + 1)): self.value(v, depth + 1) for k, v in content}
        if kind not in ("list", "tuple", "set"):
            raise ValueError("not a payload: an unknown kind")
        items = [self.value(item, depth + 1) for item in content]
        if kind == "set":
            return {_key(item) for item in items}
        return items if kind == "list" else tuple(items)

    def _tensor(self, name: str) -> Any:
        array = self._arrays[name]
        if not self._as_torch:
            return array
        import torch

        # safetensors gives each tensor memory of its own
        return torch.from_numpy(array if array.flags.writeable else array.copy())


def _parts(node: Any) -> int:
    """How many values a node of the tree holds, itself included: what comparing two may look at."""
    count, left = 0, [node]
    while left:
        one = left.pop()
        count += 1
        if isinstance(one, (list, dict)):
            left += one.values() if isinstance(one, dict) else one
    return count


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
