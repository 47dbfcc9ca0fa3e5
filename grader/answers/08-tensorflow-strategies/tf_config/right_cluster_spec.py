def tf_config(workers, index):
    spec = tf.train.ClusterSpec({"worker": workers})
    return json.dumps({"cluster": spec.as_dict(), "task": {"type": "worker", "index": index}})
