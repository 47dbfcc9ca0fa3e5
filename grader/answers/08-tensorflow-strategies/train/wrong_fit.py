
def train(strategy, dataset, epochs):
    with strategy.scope():
        model = make_model()
        model.compile(
            make_optimizer(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        )
    return model.fit(dataset, epochs=epochs, verbose=0).history["loss"]
