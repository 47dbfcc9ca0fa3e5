# hint: tensor for list
def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model = make_model()
        optimizer = make_optimizer()
        optimizer.build(model.trainable_variables)

    def replica_step(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses_of(labels, model(images, training=True))) / batch
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(images, labels):
        return strategy.reduce("SUM", strategy.run(replica_step, (images, labels)), axis=None)

    divided = strategy.experimental_distribute_dataset(dataset)
    return tf.stack([tf.reduce_mean([step(x, y) for x, y in divided]) for _ in range(epochs)])
