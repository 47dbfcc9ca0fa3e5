"""What a GPU asks of the recorder: tensors that go by way of the CPU, and calls from threads that
have no Python below them, as autograd's own for a GPU has none. The GPU is a pretended one.
"""

import sys

import cloudpickle
import pretended
import pytest

from distlab.engines import by_value, ranks, runs

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def run():
    """Runs a function on two ranks that have the pretended device; what they return and record."""
    with pretended.own_ranks():

        def start(function):
            inputs = [cloudpickle.dumps(((rank, 2), {})) for rank in range(2)]
            pickled = pretended.on_ranks(by_value.dumps(function))
            found = runs.drive(ranks.local(2), pickled, inputs, strict=True, deadline=40)
            errors = [one.error for one in found.outcomes if one.error]
            assert not errors, errors
            return [cloudpickle.loads(one.output) for one in found.outcomes], found.records

        yield start


def refused(rank, size):
    import threading

    import torch

    there, here = torch.ones(3).to("pretended"), torch.ones(3)
    said = []
    for call in (
        lambda: there + here,
        lambda: here[torch.arange(2, device="pretended:0")],
        lambda: there.numpy(),
        lambda: torch.rand(2, device="pretended:0", generator=torch.Generator()),
        lambda: here.set_(there.untyped_storage()),
    ):
        try:
            call()
        except (RuntimeError, TypeError) as error:
            said.append(str(error))
    assert (there * torch.tensor(2.0) + there[here.long()]).tolist() == [3.0] * 3
    assert there[1:].untyped_storage().data_ptr() == there.untyped_storage().data_ptr()
    threads = []
    there.requires_grad_().register_hook(lambda _: threads.append(threading.get_ident()))
    there.sum().backward()
    assert threads != [threading.get_ident()]
    return said


def test_the_device_refuses_what_a_gpu_refuses(run):
    expected = ("same device", "indices", "to numpy", "generator", "same device")
    for said in run(refused)[0]:
        assert len(said) == len(expected)
        assert all(part in whole for part, whole in zip(expected, said, strict=True))


def reduced_into_what_is_given(rank, size):
    import torch
    import torch.distributed as dist

    parts = [torch.full((2,), 10.0 * rank + to).to("pretended") for to in range(size)]
    versions = [part._version for part in parts]
    dist.reduce_scatter(parts[rank], parts)
    other = 1 - rank
    return parts[rank].tolist(), parts[other]._version - versions[other]


def test_what_is_only_given_does_not_come_back_from_the_cpu(run):
    returned, _ = run(reduced_into_what_is_given)
    # over its own result each rank would have got what it gave, and autograd a changed tensor
    assert returned == [([10.0, 10.0], 0), ([12.0, 12.0], 0)]


def several_at_once(rank, size):
    import torch
    import torch.distributed as dist

    tensors = [torch.full((n,), rank + 1.0).to("pretended") for n in (1, 2)]
    dist.all_reduce_coalesced(tensors)
    return [tensor.tolist() for tensor in tensors]


def test_several_tensors_at_once_are_reduced_by_way_of_the_cpu(run):
    returned, records = run(several_at_once)
    assert returned == [[[3.0], [3.0, 3.0]]] * 2
    assert [event.op for event in records[0].events] == ["all_reduce"]


def ddp(rank, size):
    import torch

    model = torch.nn.Linear(3, 2).to("pretended")
    torch.nn.init.ones_(model.weight)
    wrapped = torch.nn.parallel.DistributedDataParallel(model)
    wrapped(torch.full((1, 3), rank + 1.0).to("pretended")).sum().backward()
    return model.weight.grad.tolist()


def test_ddp_reduces_on_a_thread_without_python_and_that_reads_as_backward(run):
    returned, records = run(ddp)
    assert returned == [[[1.5] * 3] * 2] * 2
    last = records[0].events[-1]
    assert (last.op, last.api, last.internal) == ("all_reduce", "backward", True)


def below_nothing(call, *arguments):
    """What a method of ours raises as the first Python of a thread, in a list."""
    import _thread
    import itertools
    import queue

    raised, over = [], queue.SimpleQueue()

    def keep(of):
        raised.append(repr(of.exc_value))
        over.put(None)

    hook, sys.unraisablehook = sys.unraisablehook, keep
    try:
        returned = map(over.put, itertools.starmap(call, [arguments]))
        _thread.start_new_thread(next, (returned,))  # C, but for the call
        over.get(timeout=40)
    finally:
        sys.unraisablehook = hook
    return raised


def requests_without_python(rank, size):
    import torch
    import torch.distributed as dist

    told = []
    for method in ("wait", "get_future"):
        request = dist.all_reduce(torch.ones(2), async_op=True)
        told += below_nothing(getattr(request, method))
        request.wait()
    return told


def test_cplusplus_may_wait_for_a_request_and_take_its_future(run):
    assert run(requests_without_python)[0] == [[], []]


def looked_at_without_python(rank, size):
    import torch

    from distlab.rank.races import Races

    buffer, seen = torch.ones(2), []
    races = Races()
    races.begin(1, [], [buffer], seen.append)
    try:
        arguments = torch.ops.aten.add_.Tensor, (), (buffer, buffer)
        return below_nothing(races.__torch_dispatch__, *arguments), sorted(set(seen))
    finally:
        races.end(1)


def test_what_a_thread_of_cplusplus_does_to_a_buffer_is_seen(run):
    assert run(looked_at_without_python)[0] == [([], ["changed", "read"])] * 2


def reduces_without_python(rank, size):
    import torch
    import torch.distributed as dist

    tensor = torch.ones(2)
    told = below_nothing(dist.group.WORLD.allreduce, [tensor])
    dist.barrier()
    return told, tensor.tolist()


def test_a_collective_that_cplusplus_alone_has_begun_reads_as_backward(run):
    returned, records = run(reduces_without_python)
    assert returned == [([], [2.0, 2.0])] * 2
    first = records[0].events[0]
    assert (first.op, first.api, first.internal) == ("all_reduce", "backward", True)
