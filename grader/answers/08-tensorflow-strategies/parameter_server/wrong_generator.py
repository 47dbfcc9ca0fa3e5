# says: builtins.generator where a list of 5 items was expected
def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn) for _ in range(steps)]
    coordinator.join()
    return (coordinator.fetch(promise) for promise in promised)
