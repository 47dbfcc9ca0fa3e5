from json import dumps


def tf_config(workers, index):
    config = {}
    config["task"] = dict(index=int(index), type="worker")
    config["cluster"] = dict(worker=[w for w in workers])
    return dumps(config, indent=2, sort_keys=True)
