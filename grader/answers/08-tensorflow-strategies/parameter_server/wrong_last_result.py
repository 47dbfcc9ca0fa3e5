# hint: one result
def parameter_server(coordinator, step_fn, steps):
    for _ in range(steps):
        last = coordinator.schedule(step_fn)
    coordinator.join()
    return coordinator.fetch(last)
