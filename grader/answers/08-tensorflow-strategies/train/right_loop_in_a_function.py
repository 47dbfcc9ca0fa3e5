def train(strategy, dataset, epochs):
    """The whole epoch is one tf.function."""
    with strategy.scope():
        model, optimizer = make_model(), make_optimizer()
        optimizer.build(model.trainable_variables)
    divided = strategy.experimental_distribute_dataset(dataset)

    def replica_step(images, labels):
        with tf.GradientTape() as tape:
            per_sample = losses_of(labels, model(images))
            loss = tf.nn.compute_average_loss(per_sample)
        weights = model.trainable_weights
        optimizer.apply(tape.gradient(loss, weights), weights)
        return loss

    @tf.function
    def epoch():
        total, count = 0.0, 0.0
        for images, labels in divided:
            parts = strategy.run(replica_step, (images, labels))
            total += strategy.reduce("SUM", parts, axis=None)
            count += 1.0
        return total / count

    return [epoch().numpy() for _ in range(epochs)]
