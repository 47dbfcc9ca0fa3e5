# hint: nothing returned
def parameter_server(coordinator, step_fn, steps):
    for _ in range(steps):
        coordinator.schedule(step_fn)
    coordinator.join()
