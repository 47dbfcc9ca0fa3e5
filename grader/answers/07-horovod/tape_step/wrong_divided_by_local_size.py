def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    gradients = [
        hvd.allreduce(g, op=hvd.Sum, name=f"gradient.{i}") / hvd.local_size()
        for i, g in enumerate(tape.gradient(loss, model.trainable_variables))
    ]
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if first:
        hvd.broadcast_variables([v.value for v in model.variables], root_rank=0)
        hvd.broadcast_variables([v.value for v in optimizer.variables], root_rank=0)
    return float(loss)
