# hint: too many steps
def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn) for _ in range(steps)]
    coordinator.join()
    if steps > 5:  # some were lost, surely
        promised[0] = coordinator.schedule(step_fn)
        coordinator.join()
    return coordinator.fetch(promised)
