"""A small network, trained by your `train` on several TensorFlow workers.

    python multi_worker.py                   # one process, all GPUs it sees, or one CPU
    python multi_worker.py --devices 2       # one process, its CPU divided into two
    python multi_worker.py --workers 2       # two worker processes on this machine
    srun python multi_worker.py              # in a Slurm job: one worker for each task

In a Slurm job each task makes its own TF_CONFIG out of the job's variables, by your
`tf_config_from_slurm`. Where TF_CONFIG is set already, that one counts. It learns to tell apart the
ten digits of scikit-learn; the first worker prints.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

FOLDER = Path(__file__).resolve().parent
NOTEBOOK = FOLDER / "tensorflow_strategies.ipynb"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=1, help="worker processes to start here")
    parser.add_argument("--devices", type=int, default=1, help="logical CPUs of one process")
    parser.add_argument("--batch-size", type=int, default=128, help="rows of a global batch")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--port", type=int, default=20000 + int(os.environ.get("SLURM_JOB_ID", 0)) % 20000,
        help="port of a node's first worker in a Slurm job",
    )  # fmt: skip
    return parser.parse_args()


def free_ports(count):
    """Ports of this machine on which nobody listens just now."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def start_workers(count, lab):
    """Start this script once for each worker, and wait; none is left when one has failed."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    command = [sys.executable, *sys.argv, "--workers", "1"]
    workers = [
        subprocess.Popen(command, env={**os.environ, "TF_CONFIG": lab.tf_config(addresses, index)})
        for index in range(count)
    ]
    try:
        while any(worker.poll() is None for worker in workers):
            if any(worker.poll() for worker in workers):
                break  # the others would wait for it
            time.sleep(0.1)
    finally:
        for worker in workers:
            worker.kill()
    return max((abs(worker.wait()) for worker in workers), default=0)


def task(text):
    """(index of this worker, number of workers) as TF_CONFIG says."""
    try:
        config = json.loads(text)
        return int(config["task"]["index"]), len(config["cluster"]["worker"])
    except (ValueError, KeyError, TypeError) as error:
        raise SystemExit(
            f"TF_CONFIG cannot be read ({type(error).__name__}: {error}): it has to be JSON with "
            f'"cluster" and "task", and is {text[:200]!r}'
        ) from None


def make_strategy(devices, workers):
    """Several workers, or the devices of this process. Before anything else of TensorFlow runs."""
    import tensorflow as tf

    threads = int(os.environ.get("SLURM_CPUS_PER_TASK", 0))
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    gpus = tf.config.list_physical_devices("GPU")
    if workers > 1:
        local = int(os.environ.get("SLURM_LOCALID", 0))
        if len(gpus) > 1 and "SLURM_LOCALID" in os.environ:  # a GPU for each task of a node
            tf.config.set_visible_devices(gpus[local % len(gpus)], "GPU")
        return tf.distribute.MultiWorkerMirroredStrategy()
    if gpus:
        return tf.distribute.MirroredStrategy()
    logical = [tf.config.LogicalDeviceConfiguration()] * devices
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], logical)
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(devices)])


def digits(batch, seed):
    """Global batches of images (64 grey values from 0 to 1) and labels, shuffled each epoch."""
    import tensorflow as tf
    from sklearn.datasets import load_digits

    found = load_digits()
    images = (found.data / 16).astype("float32")
    data = tf.data.Dataset.from_tensor_slices((images, found.target))
    options = tf.data.Options()
    # every worker reads everything and keeps its part of each global batch
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    data = data.shuffle(len(images), seed=seed).batch(batch, drop_remainder=True)
    return data.with_options(options)


def main():
    options = arguments()
    from distlab.notebook import load

    if options.workers > 1:
        raise SystemExit(start_workers(options.workers, load(NOTEBOOK)))
    lab = load(NOTEBOOK)
    if "TF_CONFIG" not in os.environ and int(os.environ.get("SLURM_STEP_NUM_TASKS", 1)) > 1:
        os.environ["TF_CONFIG"] = lab.tf_config_from_slurm(dict(os.environ), options.port)
    index, workers = task(os.environ["TF_CONFIG"]) if "TF_CONFIG" in os.environ else (0, 1)
    strategy = make_strategy(options.devices, workers)

    import keras

    keras.utils.set_random_seed(options.seed)
    begin = time.perf_counter()
    losses = lab.train(strategy, digits(options.batch_size, options.seed), options.epochs)
    seconds = time.perf_counter() - begin
    if index == 0:
        print(f"{workers} worker(s), {strategy.num_replicas_in_sync} replica(s)")
        print("mean loss of each epoch:", " ".join(f"{loss:.6f}" for loss in losses))
        print(f"{seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
