# hint: no text
def tf_config(workers, index):
    task = {"type": "worker", "index": index}
    return json.dumps({"cluster": {"worker": workers}, "task": task}).encode()
