# hint: other keys
def tf_config(workers, index):
    task = {"type": "worker", "index": index}
    return json.dumps({"worker": workers, "task": task})
