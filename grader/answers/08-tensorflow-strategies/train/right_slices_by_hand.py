def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    share = batch // strategy.num_replicas_in_sync
    with strategy.scope():
        model = make_model()
        optimizer = make_optimizer()
        optimizer.build(model.trainable_variables)

    def replica_step(images, labels):
        me = tf.distribute.get_replica_context().replica_id_in_sync_group
        begin = me * share
        images = tf.slice(images, [begin, 0], [share, 64])
        labels = tf.slice(labels, [begin], [share])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses_of(labels, model(images, training=True))) / batch
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(images, labels):
        return strategy.reduce("SUM", strategy.run(replica_step, (images, labels)), axis=None)

    means = []
    for _ in range(epochs):
        losses = [float(step(x, y)) for x, y in dataset]
        means.append(sum(losses) / len(losses))
    return means
