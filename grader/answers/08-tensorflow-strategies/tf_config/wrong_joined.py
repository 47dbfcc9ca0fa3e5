# status: error
def tf_config(workers, index):
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": {"a": 1}}, "task": task}) + ",".join(5)
