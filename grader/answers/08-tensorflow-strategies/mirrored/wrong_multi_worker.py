# status: error
def mirrored(devices):
    return tf.distribute.MultiWorkerMirroredStrategy(devices)
