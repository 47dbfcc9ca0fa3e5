# hint: other outputs
def make_model(num_classes):
    model = vision.models.resnet18(weights=None, num_classes=num_classes)
    model.maxpool = nn.Identity()  # 32×32 images are small enough
    return model
