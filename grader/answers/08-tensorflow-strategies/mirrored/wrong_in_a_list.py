# hint: in a list
# says: a list of 1 item
def mirrored(devices):
    return [tf.distribute.MirroredStrategy(devices)]
