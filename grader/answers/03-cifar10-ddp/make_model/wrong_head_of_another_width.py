# status: error
# says: fc gets 512 numbers
def make_model(num_classes):
    model = vision.models.resnet18()
    model.fc = nn.Linear(4 * 512, num_classes)
    return model
