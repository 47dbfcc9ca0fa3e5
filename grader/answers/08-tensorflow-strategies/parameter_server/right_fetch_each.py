def parameter_server(coordinator, step_fn, steps):
    results = []
    for _ in range(steps):
        results.append(coordinator.schedule(step_fn))
    coordinator.join()
    return [result.fetch() for result in results]
