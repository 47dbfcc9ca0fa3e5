import sys


def tape_step(model, loss_fn, optimizer, images, labels, first):
    from horovod.tensorflow import DistributedGradientTape, broadcast_variables
    from tensorflow import GradientTape

    variables = model.trainable_variables
    with GradientTape() as recording:
        loss = loss_fn(labels, model(images, training=True))
    gradients = DistributedGradientTape(recording).gradient(loss, [v.value for v in variables])
    optimizer.apply_gradients(list(zip(gradients, variables)))
    if first:
        for variable in [*model.variables, *optimizer.variables]:
            broadcast_variables([variable.value], root_rank=0)
        print("broadcast", file=sys.stderr)
    return float(loss.numpy())
