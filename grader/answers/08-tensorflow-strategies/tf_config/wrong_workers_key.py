# hint: another job
def tf_config(workers, index):
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"workers": workers}, "task": task})
