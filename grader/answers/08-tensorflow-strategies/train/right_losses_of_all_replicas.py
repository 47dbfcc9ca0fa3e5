def train(strategy, dataset, epochs):
    with strategy.scope():
        model, optimizer = make_model(), make_optimizer()
        optimizer.build(model.trainable_variables)
    batch = int(dataset.element_spec[1].shape[0])
    distributed = strategy.experimental_distribute_dataset(dataset)

    class Loop:
        @tf.function
        def step(self, batch_):
            def replica(images, labels):
                with tf.GradientTape() as tape:
                    per = losses_of(labels, model(images))
                    loss = tf.math.divide(tf.math.reduce_sum(per), tf.cast(batch, per.dtype))
                optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
                return per
            per = strategy.run(replica, args=batch_)
            return strategy.reduce("SUM", per, axis=0) / batch

    loop, history = Loop(), []
    for epoch in range(epochs):
        total, n = 0.0, 0
        for item in distributed:
            total, n = total + loop.step(item).numpy().item(), n + 1
        history.append(total / n)
    return history
