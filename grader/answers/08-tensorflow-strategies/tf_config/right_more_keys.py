class Config:
    def __init__(self, workers, index):
        self.workers, self.index = workers, index

    def __str__(self):
        task = {"type": "worker", "index": self.index}
        return json.dumps(
            {"cluster": {"worker": self.workers}, "task": task, "rpc_layer": "grpc"}
        )


tf_config = lambda workers, index: str(Config(workers, index))  # noqa: E731
