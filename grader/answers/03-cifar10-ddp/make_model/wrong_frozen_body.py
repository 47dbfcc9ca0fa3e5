# hint: parameters frozen
def make_model(num_classes):
    model = vision.models.resnet18()
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.fc = nn.Linear(512, num_classes)
    return model
