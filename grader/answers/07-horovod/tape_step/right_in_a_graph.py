_graphs = {}
def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import tensorflow as tf
    if first:
        optimizer.build(model.trainable_variables)

        @tf.function
        def step(images, labels):
            with tf.GradientTape() as tape:
                loss = loss_fn(labels, model(images, training=True))
            tape = hvd.DistributedGradientTape(tape)
            gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
            optimizer.apply(gradients, model.trainable_variables)
            return loss
        _graphs["step"] = step
    loss = _graphs["step"](images, labels)
    if first:
        variables = [v.value for v in model.variables + optimizer.variables]
        hvd.broadcast_variables(variables, root_rank=0)
    return float(loss)
