# hint: wrong head
def make_model(num_classes):
    return vision.models.resnet18(num_classes=10)
