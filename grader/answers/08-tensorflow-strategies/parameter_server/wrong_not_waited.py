# hint: not fetched
def parameter_server(coordinator, step_fn, steps):
    return [coordinator.schedule(step_fn) for _ in range(steps)]
