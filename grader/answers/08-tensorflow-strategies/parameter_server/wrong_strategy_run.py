# hint: step called here
def parameter_server(coordinator, step_fn, steps):
    strategy = coordinator.strategy
    with strategy.scope():
        return [strategy.run(step_fn).numpy() for _ in range(steps)]
