# hint: dictionary for text
def tf_config(workers, index):
    return {"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}}
