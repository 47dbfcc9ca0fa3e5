# hint: one step's result for all
def parameter_server(coordinator, step_fn, steps):
    promises = [coordinator.schedule(step_fn) for _ in range(steps)]
    coordinator.join()
    return [promises[0].fetch() for _ in promises]
