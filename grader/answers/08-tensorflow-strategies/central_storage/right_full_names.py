def central_storage(devices):
    names = ['/device:' + name.upper().replace('/', '').replace('DEVICE:', '') for name in devices]
    return tf.distribute.experimental.CentralStorageStrategy(compute_devices=names)
