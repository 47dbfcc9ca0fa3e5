# hint: tensor for list
def parameter_server(coordinator, step_fn, steps):
    promised = [coordinator.schedule(step_fn) for _ in range(steps)]
    coordinator.join()
    return tf.stack(coordinator.fetch(promised))
