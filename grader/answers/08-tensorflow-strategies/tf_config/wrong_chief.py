# hint: another job
def tf_config(workers, index):
    task = {"type": "worker", "index": index} if index else {"type": "chief", "index": 0}
    return json.dumps({"cluster": {"chief": workers[:1], "worker": workers[1:]}, "task": task})
