# hint: another order
import os


def tf_config_from_slurm(env, port):
    """TensorFlow's resolver for Slurm sorts nodes as words: n1, n10, n2."""
    os.environ.update(env)
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
        port_base=port, gpus_per_node=16, gpus_per_task=1, auto_set_gpu=False
    )
    workers = resolver.cluster_spec().as_dict()["worker"]
    return json.dumps(
        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}}
    )
