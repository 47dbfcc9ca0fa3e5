class Mine(tf.distribute.MirroredStrategy):
    pass
def mirrored(devices):
    strategy = Mine(devices=list(devices))
    with strategy.scope():
        pass
    return strategy
