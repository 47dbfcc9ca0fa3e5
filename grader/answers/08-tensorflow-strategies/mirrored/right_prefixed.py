def mirrored(devices):
    return tf.distribute.MirroredStrategy(devices=[f"/device:{name}" for name in devices])
