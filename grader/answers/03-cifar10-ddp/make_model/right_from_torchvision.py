from torchvision.models import resnet18


def make_model(num_classes):
    return resnet18(weights=None, num_classes=num_classes).train()
