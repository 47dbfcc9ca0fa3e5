# hint: other outputs
class Classifier(vision.models.ResNet):
    def forward(self, x):
        return super().forward(x).log_softmax(dim=1)


def make_model(num_classes):
    return Classifier(vision.models.resnet.BasicBlock, [2, 2, 2, 2], num_classes=num_classes)
