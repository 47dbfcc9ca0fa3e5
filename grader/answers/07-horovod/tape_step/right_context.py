def tape_step(model, loss_fn, optimizer, images, labels, first):
    import horovod.tensorflow as hvd
    import tensorflow as tf
    unwrap = lambda vs: [getattr(v, "value", v) for v in vs]
    with hvd.DistributedGradientTape(tf.GradientTape(persistent=True)) as tape:
        predictions = model(images, training=True)
        loss = loss_fn(labels, predictions)
    grads = tape.gradient(loss, unwrap(model.trainable_weights))
    optimizer.apply(grads, model.trainable_variables)
    if first:
        everything = unwrap(model.variables) + unwrap(optimizer.variables)
        for i, v in enumerate(everything):
            v.assign(hvd.broadcast(v, 0, name=f"start.{i}"))
    return loss.numpy().item()
