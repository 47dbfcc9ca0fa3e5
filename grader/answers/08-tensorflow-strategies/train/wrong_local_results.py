# hint: each worker its own part
def train(strategy, dataset, epochs):
    batch = dataset.element_spec[0].shape[0]
    with strategy.scope():
        model, optimizer = make_model(), make_optimizer()
        optimizer.build(model.trainable_variables)

    def one(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses_of(y, model(x))) / batch
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    @tf.function
    def step(x, y):
        return strategy.run(one, (x, y))

    parts = strategy.experimental_distribute_dataset(dataset)
    history = []
    for _ in range(epochs):
        losses = [sum(float(v) for v in strategy.experimental_local_results(step(x, y))) for x, y in parts]
        history.append(sum(losses) / len(losses))
    return history
