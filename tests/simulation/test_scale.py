"""What makes a hundred thousand ranks quick changes no time: against each step and event."""

import dataclasses
import resource
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distlab.simulation import (
    Cluster,
    Pattern,
    Step,
    described,
    hierarchical,
    pipeline,
    replay,
    ring,
    run_pipeline,
    run_steps,
    tree,
)
from distlab.simulation.cost_model import Link

links = st.builds(
    Link,
    latency=st.sampled_from([0.0, 1e-6, 1e-4, 3e-3]),
    bandwidth=st.sampled_from([1e6, 3.3e7, 1e9, float("inf")]),
)


@st.composite
def clusters(draw, most_nodes=6, most_gpus=4):
    nodes, gpus = draw(st.integers(1, most_nodes)), draw(st.integers(1, most_gpus))
    slow = draw(st.dictionaries(st.integers(0, nodes * gpus - 1), st.floats(1.0, 4.0), max_size=3))
    return Cluster(
        nodes, gpus, inside=draw(links), between=draw(links), slow=slow,
        adapters=draw(st.integers(0, gpus)),
    )  # fmt: skip


def one_by_one(steps):
    """The same steps, each an object of its own, so that none is left out."""
    return [dataclasses.replace(step) for step in steps]


@given(clusters(), st.sampled_from(["ring", "hierarchical"]), st.sampled_from([0.0, 0.01]))
@settings(max_examples=60, deadline=None)
def test_steps_that_are_left_out_would_have_changed_nothing(cluster, algorithm, seconds):
    steps = ring(cluster.size, 1e6) if algorithm == "ring" else hierarchical(cluster, 1e6)
    steps = [Step(None, seconds=seconds), *steps, *ring(cluster.size, 2e5)]
    expected = run_steps(one_by_one(steps), cluster)
    assert run_steps(steps, cluster) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@given(clusters(4, 3), st.integers(1, 150), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=60, deadline=None)
def test_so_for_any_messages_taken_any_number_of_times(cluster, times, chance, computes):
    """Several messages a rank, idle ranks, messages to oneself left out."""
    if cluster.size == 1:
        return
    pairs = [chance.sample(range(cluster.size), 2) for _ in range(chance.randint(1, 8))]
    src, dst = np.array(pairs).T
    seconds = np.array([chance.choice([0, 1e-3]) for _ in range(cluster.size)]) * computes
    begin = Step(None, seconds=np.array([chance.random() for _ in range(cluster.size)]) / 50)
    step = Step(Pattern(src, dst), 1e4, seconds)
    after = Step(None, seconds=1.0)
    steps = [begin, *[step] * times, after, *[step] * times]
    expected = run_steps(one_by_one(steps), cluster)
    assert run_steps(steps, cluster) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@given(
    clusters(),
    st.integers(1, 6),
    st.sampled_from([0, 1000, 300_000]),
    st.sampled_from([(0.0, 0.0), (1e-3, 2e-3), (0.02, 0.01)]),
)
@settings(max_examples=60, deadline=None)
def test_a_pipeline_at_once_ends_when_its_events_do(cluster, microbatches, n_bytes, work):
    programs = pipeline(cluster.size, microbatches, n_bytes, *work)
    followed = [record.end for record in replay(programs, cluster)]
    at_once = run_pipeline(cluster, microbatches, n_bytes, *work)
    assert at_once == pytest.approx(followed, rel=1e-9, abs=1e-9)


def test_a_pipeline_that_loses_a_rank_is_refused():
    with pytest.raises(ValueError, match="`replay` shows"):
        run_pipeline(Cluster(4, lost={1: 0.0}), 2, 1000, 1e-3, 2e-3)


@given(clusters(3, 3), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_a_straggler_holds_up_both_engines_alike(cluster, seed):
    """Also those who send to it: a send ends when somebody receives it."""
    late = np.random.default_rng(seed).uniform(0, 0.3, cluster.size)
    steps = [Step(None, seconds=late), *ring(cluster.size, 3e5)]
    cluster = dataclasses.replace(cluster, adapters=0)  # shared ones are taken in another order
    followed = [record.end for record in replay(described(steps, cluster.size), cluster)]
    exact = np.ceil(3e5 / cluster.size) * cluster.size  # programs have whole bytes
    steps = [Step(None, seconds=late), *ring(cluster.size, exact)]
    assert run_steps(steps, cluster) == pytest.approx(followed, rel=1e-4, abs=1e-9)


def test_a_hundred_thousand_ranks_take_seconds_of_the_processor_and_little_memory():
    """The limit is of the processor's time: others may be at work."""
    cluster = Cluster(12_500, 8)
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    ends = [
        run_steps(ring(cluster.size, 1e8), cluster).max(),
        run_steps(tree(cluster.size, 1e8), cluster).max(),
        run_steps(hierarchical(cluster, 1e8), cluster).max(),
        run_pipeline(cluster, 16, 1e6, 1e-3, 2e-3).max(),
    ]
    assert time.process_time() - begin < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1e6  # kB
    inside, between = (link.message_time(1e3) for link in (cluster.inside, cluster.between))
    # messages go round at the mean of all links, but a rank is at most a step ahead of the next
    step = max((7 * inside + between) / 8, between / 2)
    assert ends[0] == pytest.approx(2 * (cluster.size - 1) * step, rel=1e-3)
    assert min(ends) > 0
