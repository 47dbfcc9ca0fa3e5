# hint: a scope
def mirrored(devices):
    return tf.distribute.MirroredStrategy(devices).scope()
