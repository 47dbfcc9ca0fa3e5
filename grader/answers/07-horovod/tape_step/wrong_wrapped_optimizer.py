# hint: not averaged
def tape_step(model, loss_fn, optimizer, images, labels, first):
    """The planted bug of the lab: Horovod's wrapper of a Keras 3 optimizer averages nothing."""
    import horovod.tensorflow as hvd
    import horovod.tensorflow.keras as hvd_keras
    import tensorflow as tf

    wrapped = hvd_keras.DistributedOptimizer(optimizer)
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    wrapped.apply_gradients(zip(gradients, model.trainable_variables))
    if first:
        hvd.broadcast_variables([v.value for v in model.variables], root_rank=0)
        hvd.broadcast_variables([v.value for v in optimizer.variables], root_rank=0)
    return float(loss)
