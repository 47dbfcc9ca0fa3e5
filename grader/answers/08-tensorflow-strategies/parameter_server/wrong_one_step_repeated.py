# hint: too few steps
def parameter_server(coordinator, step_fn, steps):
    promised = coordinator.schedule(step_fn)
    coordinator.join()
    return [promised.fetch()] * steps
