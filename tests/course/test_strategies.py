"""TensorFlow in processes of its own, and what lab 08 promises of its strategies."""

import os
import socket

import pytest

from distlab import course
from distlab.processes import frameworks
from grader import collected, coursedir

LAB = "08-tensorflow-strategies"
MISSING = frameworks.missing(("tensorflow",))
pytestmark = [pytest.mark.skipif(bool(MISSING), reason=MISSING), pytest.mark.frameworks]


@pytest.fixture
def session(zygote_for):
    from distlab.checking.session import Session

    with Session(zygote_for(LAB)) as made:
        yield made


def test_one_stream_of_batches_has_equal_losses_under_all_strategies():
    exercise = course.exercises(LAB)["train"]
    losses = [
        rank["returned"]
        for case in exercise.visible
        for rank in coursedir.reference(exercise, case)
    ]
    assert len(losses) == 4  # mirrored, central storage, and each of two workers
    for other in losses[1:]:
        assert other == pytest.approx(losses[0], abs=1e-5)


def test_the_cases_of_training_cover_one_replica_and_the_three_synchronous_strategies():
    exercise = course.exercises(LAB)["train"]
    kinds = {case.params["strategy"] for case in coursedir.cases(exercise)}
    assert kinds == {"one replica", "mirrored", "central storage", "two workers"}


def test_exactly_the_scheduled_steps_are_done_although_a_worker_is_killed():
    exercise = course.exercises(LAB)["parameter_server"]
    killed = [c for c in coursedir.cases(exercise) if c.params["killed"] is not None]
    assert {case.params["killed"] for case in killed} == {0, 1}
    for case in killed:
        (found,) = coursedir.reference(exercise, case)
        assert found["steps done"] == found["steps scheduled"] == case.params["steps"]
        assert len(found["returned"]) == case.params["steps"]


def test_no_two_addresses_that_are_asked_for_together_are_the_same():
    from distlab.course.lab08_tensorflow_strategies import strategies

    for _ in range(1_000):  # asked for one by one, so many would hold seven pairs of twins
        with strategies.free_addresses(20) as addresses:
            assert len(set(addresses)) == 20
    with strategies.free_addresses() as (one,), strategies.free_addresses() as (other,):
        assert one != other


def test_a_device_is_named_shortly():
    from distlab.course.lab08_tensorflow_strategies import placement

    assert placement.short("/job:localhost/replica:0/task:0/device:CPU:1") == "CPU:1"
    assert placement.short("/device:GPU:0") == "GPU:0"
    assert placement.short("/job:ps/replica:0/task:0/device:CPU:0") == "ps 0"
    assert placement.short("/job:worker/replica:0/task:1/device:CPU:0") == "worker 1"


PLACED = """
from distlab import placement, strategies
import keras
import tensorflow as tf

def placed(kind):
    strategy = kind(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(10, use_bias=False)])
        optimizer = keras.optimizers.SGD()
        optimizer.build(model.trainable_variables)

    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        optimizer.apply(tape.gradient(loss, model.trainable_variables))
        return loss  # what nobody needs is not computed

    @tf.function
    def step(x):
        return strategy.reduce("SUM", strategy.run(replica_step, args=(x,)), axis=None)

    return vars(placement.of(strategy, model.trainable_variables, step, tf.ones((4, 10))))
"""


def test_mirrored_variables_lie_on_every_device_and_gradients_travel(tmp_path):
    found = _in_a_process("placed(tf.distribute.MirroredStrategy)", tmp_path)
    assert found["holds"] == {"CPU:0": 400, "CPU:1": 400}
    assert {what for _, _, what in found["travels"]} == {"gradients"}


def test_central_variables_lie_on_one_device_and_weights_travel(tmp_path):
    kind = "tf.distribute.experimental.CentralStorageStrategy"
    found = _in_a_process(f"placed({kind})", tmp_path)
    assert found["holds"] == {"CPU:0": 400}
    assert found["travels"]["CPU:0", "CPU:1", "weights"] == 400


def _in_a_process(expression: str, folder):
    """In another process than the tests': TensorFlow can be set up only once in each."""
    import subprocess
    import sys

    code = f"{PLACED}\nstrategies.prepare(2)\nprint({expression})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return eval(done.stdout.strip().splitlines()[-1])


#: counts each step as done half a second after its result can be fetched, as a loaded machine does
COUNTED_LATE = """
import threading

def parameter_server(coordinator, step_fn, steps):
    queue = coordinator._cluster.closure_queue
    count = queue.mark_finished
    queue.mark_finished = lambda: threading.Timer(0.5, count).start()
    return coordinator.fetch([coordinator.schedule(step_fn) for _ in range(steps)])
"""


def test_whoever_has_fetched_all_results_has_waited_for_all_steps(zygote_for):
    judge = collected.grader(LAB, ["parameter_server"])
    plan = judge.plan(collected.handed_in(LAB, parameter_server=COUNTED_LATE))
    verdict = judge.grade(plan, zygote_for(LAB))[0]
    assert verdict.status == "passed", verdict.message


def test_a_server_whose_address_is_taken_just_then_is_started_again(tmp_path, monkeypatch):
    from distlab.course.lab08_tensorflow_strategies import servers

    monkeypatch.setenv("DISTLAB_RUN", str(tmp_path))
    start, taken = servers.Servers.start, []

    def begins(own, job, index=0):
        if job == "worker" and not taken:  # made only now, or the other server would hold it, too
            host, _, port = own.cluster[job][index].rpartition(":")
            taken.append(socket.socket())
            taken[0].bind((host, int(port)))  # and does not listen
        elif job == "worker":
            taken[0].close()
        start(own, job, index)

    monkeypatch.setattr(servers.Servers, "start", begins)
    with servers.Servers(1) as held:
        assert taken[0].fileno() == -1  # it was started twice
        assert [server[:2] for server in held.story.processes] == [("ps", 0), ("worker", 0)]
