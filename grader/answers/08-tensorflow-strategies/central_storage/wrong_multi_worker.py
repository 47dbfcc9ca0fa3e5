# status: error
def central_storage(devices):
    return tf.distribute.MultiWorkerMirroredStrategy(devices)
