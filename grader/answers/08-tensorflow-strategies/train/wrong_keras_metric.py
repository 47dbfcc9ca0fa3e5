# hint: wrong under central storage alone
def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model, optimizer = make_model(), make_optimizer()
        optimizer.build(model.trainable_variables)
        train_loss = keras.metrics.Mean(name="train_loss")

    def one(x, y):
        with tf.GradientTape() as tape:
            per_sample = losses_of(y, model(x))
            loss = tf.reduce_sum(per_sample) / batch
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        train_loss.update_state(per_sample)

    @tf.function
    def step(x, y):
        strategy.run(one, (x, y))

    parts = strategy.experimental_distribute_dataset(dataset)
    history = []
    for _ in range(epochs):
        train_loss.reset_state()
        for x, y in parts:
            step(x, y)
        history.append(float(train_loss.result()))
    return history
