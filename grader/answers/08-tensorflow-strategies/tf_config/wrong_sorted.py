# hint: other addresses
def tf_config(workers, index):
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": sorted(set(workers), reverse=True)}, "task": task})
