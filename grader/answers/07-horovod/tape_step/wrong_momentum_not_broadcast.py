# hint: optimizer not broadcast
def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if first:
        hvd.broadcast_variables([v.value for v in model.variables], root_rank=0)
        optimizer.learning_rate.assign(hvd.broadcast(optimizer.learning_rate.value, 0))
    return float(loss)
