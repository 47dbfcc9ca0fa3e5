class Trainer:
    def __init__(self, strategy, dataset):
        self.strategy = strategy
        self.global_batch = int(next(iter(dataset))[0].shape[0])
        self.batches = int(dataset.cardinality())
        self.divided = strategy.experimental_distribute_dataset(dataset)
        with strategy.scope():
            self.model = make_model()
            self.optimizer = make_optimizer()

    def one(self, batch):
        images, labels = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(losses_of(labels, self.model(images))) / self.global_batch
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def step(self, iterator):
        return self.strategy.run(self.one, args=(next(iterator),))

    def epoch(self):
        iterator = iter(self.divided)
        parts = [self.step(iterator) for _ in range(self.batches)]
        losses = [self.strategy.reduce("SUM", part, axis=None) for part in parts]
        return float(tf.reduce_mean(losses))


def train(strategy, dataset, epochs):
    trainer = Trainer(strategy, dataset)
    return [trainer.epoch() for _ in range(epochs)]
