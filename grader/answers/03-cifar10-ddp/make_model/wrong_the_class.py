# hint: no module
def make_model(num_classes):
    return vision.models.resnet18
