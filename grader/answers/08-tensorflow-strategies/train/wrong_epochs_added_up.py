# hint: first epoch alone
def train(strategy, dataset, epochs):
    size = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model, optimizer = make_model(), make_optimizer()
        optimizer.build(model.trainable_variables)

    def body(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses_of(y, model(x))) / size
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(x, y):
        return strategy.reduce("SUM", strategy.run(body, args=(x, y)), axis=None)

    data = strategy.experimental_distribute_dataset(dataset)
    total = 0.0
    history = []
    for _ in range(epochs):
        n = 0
        for b in data:
            total += float(step(*b))
            n += 1
        history.append(total / n)
    return history
