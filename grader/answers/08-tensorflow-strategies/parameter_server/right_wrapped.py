def parameter_server(coordinator, step_fn, steps):
    @tf.function
    def worker_step():
        return step_fn()

    with coordinator.strategy.scope():
        promised = [coordinator.schedule(worker_step) for _ in range(steps)]
    coordinator.join()
    return coordinator.fetch(promised)
