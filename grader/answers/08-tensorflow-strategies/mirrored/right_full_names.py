def mirrored(devices):
    names = ['/device:' + name.upper().replace('/', '').replace('DEVICE:', '') for name in devices]
    return tf.distribute.MirroredStrategy(devices=names)
