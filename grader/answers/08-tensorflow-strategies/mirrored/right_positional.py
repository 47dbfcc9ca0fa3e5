def mirrored(devices):
    return tf.distribute.MirroredStrategy(devices)
