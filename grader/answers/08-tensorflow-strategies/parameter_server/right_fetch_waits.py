def parameter_server(coordinator, step_fn, steps):
    """fetch waits for each result by itself."""
    promised = list(map(lambda _: coordinator.schedule(step_fn), range(steps)))
    return [float(value) for value in coordinator.fetch(promised)]
