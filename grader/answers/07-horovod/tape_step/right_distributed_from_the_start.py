def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import keras
    import tensorflow as tf

    def plain(variables):
        return [v.value if isinstance(v, keras.Variable) else v for v in variables]

    with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
        loss = loss_fn(labels, model(images))
    gradients = tape.gradient(loss, plain(model.trainable_variables))
    optimizer.apply(gradients, model.trainable_variables)
    if first:
        hvd.broadcast_variables(plain(model.variables) + plain(optimizer.variables), root_rank=0)
    return loss.numpy().item()
