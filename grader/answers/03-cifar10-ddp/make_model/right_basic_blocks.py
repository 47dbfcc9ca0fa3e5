from torchvision.models.resnet import BasicBlock, ResNet


def make_model(num_classes):
    import warnings

    warnings.warn("built by hand")
    return ResNet(BasicBlock, [2, 2, 2, 2], num_classes=num_classes)
