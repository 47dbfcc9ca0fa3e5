# hint: other outputs
def make_model(num_classes):
    model = vision.models.resnet18(weights=None, num_classes=num_classes)
    model.avgpool = nn.AdaptiveMaxPool2d(1)
    return model
