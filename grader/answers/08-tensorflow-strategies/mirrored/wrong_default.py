# hint: devices beside those given
def mirrored(devices):
    return tf.distribute.MirroredStrategy()
