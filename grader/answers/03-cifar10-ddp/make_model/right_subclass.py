class Net(vision.models.ResNet):
    def __init__(self, num_classes):
        super().__init__(vision.models.resnet.BasicBlock, [2] * 4, num_classes)


def make_model(num_classes):
    return Net(num_classes)
