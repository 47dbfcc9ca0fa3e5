"""Newton–Schulz against the singular value decomposition, and Muon's step against SGD's."""

import pytest
import torch

from distlab.training import muon, small_net


def matrix(rows, columns, values):
    """A matrix with these singular values, and its U·Vᵀ."""
    generator = torch.Generator().manual_seed(rows * columns)
    least = min(rows, columns)
    u, _, v = torch.linalg.svd(torch.randn(rows, columns, generator=generator), full_matrices=False)
    return (u * torch.tensor(values)[:least]) @ v, u @ v


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (16, 5), (5, 16), (1, 7), (7, 1)])
def test_newton_schulz_keeps_singular_vectors_and_brings_values_near_one(rows, columns):
    values = torch.linspace(1.0, 0.05, min(rows, columns)).tolist()
    given, exact = matrix(rows, columns, values)
    found = muon.newton_schulz(given)
    assert found.shape == given.shape and found.dtype == given.dtype
    left, sizes, right = torch.linalg.svd(found, full_matrices=False)
    assert sizes.min() > 0.6 and sizes.max() < 1.3
    # the same directions: in the bases of the exact factor the result is diagonal, and positive
    u, _, v = torch.linalg.svd(given, full_matrices=False)
    inside = u.T @ found @ v.T
    torch.testing.assert_close(inside, torch.diag(inside.diag()), atol=1e-4, rtol=0)
    assert (found * exact).sum() / (found.norm() * exact.norm()) > 0.97


def test_newton_schulz_does_not_depend_on_the_size_of_what_it_gets():
    given, _ = matrix(6, 9, [1.0, 0.9, 0.8, 0.7, 0.6, 0.5])
    torch.testing.assert_close(
        muon.newton_schulz(given), muon.newton_schulz(given * 1e3), atol=1e-4, rtol=0
    )
    assert muon.newton_schulz(torch.zeros(3, 4)).abs().max() == 0


def test_newton_schulz_is_what_torch_s_own_muon_does():
    from torch.optim import _muon

    given, _ = matrix(12, 20, torch.linspace(1, 0.1, 12).tolist())
    theirs = _muon._zeropower_via_newtonschulz(given, muon.COEFFICIENTS, muon.STEPS, 1e-7)
    # theirs computes in bfloat16 on a CPU too
    torch.testing.assert_close(muon.newton_schulz(given), theirs.float(), atol=0.05, rtol=0)


def test_a_plain_group_is_sgd_with_nesterov_s_momentum():
    ours, theirs = torch.ones(4), torch.ones(4)
    ours.requires_grad_(True), theirs.requires_grad_(True)
    muons = muon.Muon([{"params": [ours], "lr": 0.1, "momentum": 0.85, "weight_decay": 0.01}])
    sgd = torch.optim.SGD([theirs], lr=0.1, momentum=0.85, nesterov=True, weight_decay=0.01)
    for step in range(4):
        for one, optimizer in ((ours, muons), (theirs, sgd)):
            optimizer.zero_grad()
            (one * torch.arange(4.0) + step).pow(2).sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)


def test_an_orthogonal_group_keeps_the_norm_of_filters_and_turns_them_by_the_rate():
    filters = torch.randn(8, 3, 3, 3, generator=torch.Generator().manual_seed(0))
    filters.requires_grad_(True)
    optimizer = muon.Muon([{"params": [filters], "lr": 0.24, "momentum": 0.6, "orthogonal": True}])
    filters.square().sum().mul(1e-4).backward()
    before = filters.detach() * 8**0.5 / filters.detach().norm()
    optimizer.step()
    step = (before - filters.detach()).reshape(8, -1) / 0.24
    sizes = torch.linalg.svdvals(step)
    assert sizes.min() > 0.6 and sizes.max() < 1.3


def test_parameters_without_a_gradient_stay_and_frozen_ones_are_in_no_group():
    net = small_net.SmallNet(10, (4, 6, 8))
    net.first.weight.requires_grad_(False)
    groups = muon.parameter_groups(net, 0.1)
    inside = {id(one) for group in groups for one in group["params"]}
    assert inside == {id(one) for one in net.parameters() if one.requires_grad}
    assert all(one.dim() == 4 for one in groups[0]["params"])
    before = [one.detach().clone() for one in net.parameters()]
    muon.Muon(groups).step()
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))


def test_its_state_goes_through_a_checkpoint():
    net = small_net.SmallNet(10, (4, 6, 8))
    images = torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))

    def stepped(optimizer):
        optimizer.zero_grad()
        net(images).square().sum().backward()
        optimizer.step()

    first = muon.Muon(muon.parameter_groups(net, 0.1))
    stepped(first)
    other = muon.Muon(muon.parameter_groups(net, 0.1))
    other.load_state_dict(first.state_dict())
    assert [group["orthogonal"] for group in other.param_groups] == [True, False]
    one = net.blocks[0].conv1.weight
    assert torch.equal(first.state[one]["momentum_buffer"], other.state[one]["momentum_buffer"])
