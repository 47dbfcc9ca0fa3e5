"""Digits with Horovod and TensorFlow 2, by the tape_step of your notebook.

    horovodrun -np 2 --gloo python tensorflow2_mnist.py --steps 100 --no-cuda

A Keras 3 model in a loop of its own: `model.fit` with Horovod's wrapped optimizer averages nothing.
"""

import argparse
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

from distlab import digits
from distlab.notebook import load

# under a name of its own: a module called horovod is there already
lab = load(Path(__file__).with_name("horovod.ipynb"), name="horovod_lab")

# After the notebook, which imports horovod.torch: of two frameworks in one process Horovod asks the
# one imported last how many workers there are. Asked of the other, a tape averages nothing.
import horovod.tensorflow as hvd  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=64, help="of each worker")
    parser.add_argument("--steps", type=int, default=200, help="of each worker")
    parser.add_argument("--lr", type=float, default=0.05, help="for one worker")
    parser.add_argument("--momentum", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--no-cuda", action="store_true", help="train on CPUs")
    parser.add_argument("--data-dir", help="where MNIST lies")
    return parser.parse_args()


def pin(no_cuda):
    """One GPU for each worker, or one CPU thread."""
    gpus = [] if no_cuda else tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[hvd.local_rank() : hvd.local_rank() + 1], "GPU")
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def network():
    return keras.Sequential([
        keras.layers.Input((28, 28, 1)),
        keras.layers.Conv2D(10, 5, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(20, 5, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(50, activation="relu"),
        keras.layers.Dense(10),
    ])  # fmt: skip


def arrays(dataset):
    """Images with the channel last, as Keras has them, and labels."""
    images, labels = dataset.tensors
    return images.numpy().transpose(0, 2, 3, 1), labels.numpy()


def main():
    options = arguments()
    hvd.init()
    pin(options.no_cuda)
    keras.utils.set_random_seed(options.seed)
    data = digits.load(options.data_dir)
    images, labels = arrays(data.train)
    model = network()
    optimizer = keras.optimizers.SGD(options.lr * hvd.size(), momentum=options.momentum)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # every worker draws from its own numbers: the batches differ, the number of steps does not
    generator = np.random.default_rng([options.seed, hvd.rank()])
    if hvd.rank() == 0:
        print(f"{hvd.size()} worker(s), {data.source}", flush=True)
    for step in range(options.steps):
        rows = generator.integers(0, len(labels), options.batch_size)
        batch = tf.constant(images[rows]), tf.constant(labels[rows])
        loss = lab.tape_step(model, loss_fn, optimizer, *batch, step == 0)
        if hvd.rank() == 0 and step % 50 == 0:
            print(f"step {step}: loss {loss:.4f}", flush=True)
    images, labels = arrays(data.test)
    accuracy = float(np.mean(model.predict(images, verbose=0).argmax(1) == labels))
    weights = np.concatenate([v.numpy().ravel() for v in model.variables])
    everybody = hvd.allgather(tf.constant(weights[None])).numpy()
    if hvd.rank() == 0:
        spread = np.abs(everybody - everybody[0]).max()
        print(f"test accuracy {accuracy:.2%}, workers' weights differ by {spread:.1g}", flush=True)


if __name__ == "__main__":
    main()
