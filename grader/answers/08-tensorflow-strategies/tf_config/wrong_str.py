# hint: no JSON
def tf_config(workers, index):
    return str({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
