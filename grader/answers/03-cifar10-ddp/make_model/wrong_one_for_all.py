# hint: one model for all calls
MODELS = {}


def make_model(num_classes):
    if num_classes not in MODELS:
        MODELS[num_classes] = vision.models.resnet18(num_classes=num_classes)
    return MODELS[num_classes]
