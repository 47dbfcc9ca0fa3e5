def tf_config(workers, index):
    """TensorFlow takes the index as a text too."""
    task = {"type": "worker", "index": str(index)}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
