# hint: other keys
def tf_config(workers, index):
    return json.dumps({"cluster": {"worker": workers}})
