# hint: other devices
def mirrored(devices):
    return tf.distribute.MirroredStrategy()
