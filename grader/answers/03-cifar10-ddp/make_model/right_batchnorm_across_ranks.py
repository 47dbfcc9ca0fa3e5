def make_model(num_classes):
    model = vision.models.resnet18(num_classes=num_classes, zero_init_residual=True)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return model.to(memory_format=torch.channels_last)
