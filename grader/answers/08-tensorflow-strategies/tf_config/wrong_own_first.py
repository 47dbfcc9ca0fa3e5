# hint: other addresses
def tf_config(workers, index):
    own = [workers[index], *workers[:index], *workers[index + 1 :]]
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": own}, "task": task})
