# hint: weights downloaded
def make_model(num_classes):
    model = vision.models.resnet18(weights="DEFAULT")
    model.fc = nn.Linear(512, num_classes)
    return model
