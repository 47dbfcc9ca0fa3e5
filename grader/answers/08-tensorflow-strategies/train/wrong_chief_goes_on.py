# status: deadlock or error
def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model = make_model()
        optimizer = make_optimizer()

    def replica_step(images, labels):
        with tf.GradientTape() as tape:
            losses = losses_of(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / batch
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def step(images, labels):
        parts = strategy.run(replica_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, parts, axis=None)

    means = []
    divided = strategy.experimental_distribute_dataset(dataset)
    for _ in range(epochs):
        losses = [float(step(images, labels)) for images, labels in divided]
        means.append(sum(losses) / len(losses))
    resolver = strategy.cluster_resolver
    if resolver is not None and resolver.task_id == 0:  # the chief looks once more at the end
        for images, labels in divided:
            step(images, labels)
    return means
