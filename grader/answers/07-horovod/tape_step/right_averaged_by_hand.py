def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients = [hvd.allreduce(g, op=hvd.Average, name=f"g{i}") for i, g in enumerate(gradients)]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if first:
        state = [v.numpy() for v in [*model.variables, *optimizer.variables]]
        state = hvd.broadcast_object(state, root_rank=0)
        for variable, value in zip([*model.variables, *optimizer.variables], state):
            variable.assign(value)
    return float(loss)
