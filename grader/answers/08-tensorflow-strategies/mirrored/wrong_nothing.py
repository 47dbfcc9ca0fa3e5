# hint: nothing returned
def mirrored(devices):
    tf.distribute.MirroredStrategy(devices)
