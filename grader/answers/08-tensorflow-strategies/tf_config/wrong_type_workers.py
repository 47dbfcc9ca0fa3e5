# hint: another type
def tf_config(workers, index):
    task = {"type": "workers", "index": index}
    return json.dumps({"cluster": {"worker": workers}, "task": task})
