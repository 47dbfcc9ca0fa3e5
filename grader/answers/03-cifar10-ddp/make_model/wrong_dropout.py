# hint: other outputs
def make_model(num_classes):
    model = vision.models.resnet18(num_classes=num_classes)
    model.avgpool = nn.Sequential(model.avgpool, nn.Dropout(0.5))
    return model
