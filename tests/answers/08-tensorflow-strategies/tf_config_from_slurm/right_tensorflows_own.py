import os


def tf_config_from_slurm(env, port):
    """TensorFlow has a resolver for Slurm; it reads the process's own environment."""
    os.environ.update(env)
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(
        port_base=port, gpus_per_node=1, gpus_per_task=1, auto_set_gpu=False
    )
    workers = resolver.cluster_spec().as_dict()["worker"]
    return json.dumps(
        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": int(env["SLURM_PROCID"])}}
    )
