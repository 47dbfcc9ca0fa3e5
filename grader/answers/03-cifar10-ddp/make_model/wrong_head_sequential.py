# hint: wrong head
def make_model(num_classes):
    model = vision.models.resnet18()
    model.fc = nn.Sequential(nn.Dropout(0.2), nn.Linear(512, num_classes))
    return model
