def central_storage(devices):
    names = ["/device:" + d for d in devices]
    strategy = tf.distribute.experimental.CentralStorageStrategy(compute_devices=names, parameter_device="/cpu:0")
    assert strategy.num_replicas_in_sync == len(devices)
    return strategy
