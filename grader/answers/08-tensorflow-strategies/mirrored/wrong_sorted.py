# hint: another order
def mirrored(devices):
    return tf.distribute.MirroredStrategy(sorted(devices))
