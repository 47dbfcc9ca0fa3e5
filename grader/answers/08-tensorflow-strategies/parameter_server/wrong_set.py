# hint: number of results
def parameter_server(coordinator, step_fn, steps):
    promises = [coordinator.schedule(step_fn) for _ in range(steps)]
    coordinator.join()
    return set(coordinator.fetch(promises))
