# hint: one address
def tf_config(workers, index):
    others = workers[:index] + workers[index + 1 :]
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": others}, "task": task})
