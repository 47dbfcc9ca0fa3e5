# says: left None
def make_model(num_classes):
    return nn.Sequential(vision.models.resnet18(), nn.Linear(1000, num_classes))
