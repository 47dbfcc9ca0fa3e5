def make_model(num_classes):
    return vision.models.get_model("resnet18", weights=None, num_classes=num_classes)
