def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model = make_model()
        optimizer = make_optimizer()
        objective = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def replica_step(images, labels):
        with tf.GradientTape() as tape:
            # Keras divides by the number of replicas itself
            loss = objective(labels, model(images, training=True))
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
    return means
