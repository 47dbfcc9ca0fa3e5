# hint: other names
def make_model(num_classes):
    return nn.Sequential(vision.models.resnet18(num_classes=num_classes), nn.Identity())
