# status: error
# says: Leave the layers before fc
def make_model(num_classes):
    model = vision.models.resnet18(num_classes=num_classes)
    model.avgpool = nn.AvgPool2d(4)
    return model
