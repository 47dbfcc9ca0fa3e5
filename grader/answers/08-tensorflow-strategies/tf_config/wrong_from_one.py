# hint: another index
def tf_config(workers, index):
    task = {"type": "worker", "index": index + 1}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
