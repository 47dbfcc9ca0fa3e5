# hint: too few steps
def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn) for _ in range(steps - 1)]
    coordinator.join()
    return coordinator.fetch(promised)
