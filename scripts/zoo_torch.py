"""The models of the zoo that PyTorch exports: torchvision's classics, narrow and with small images, and networks over sequences, all with
random weights; each by the exporter that traces TorchScript (`_script`) and by the one over torch.export (`_dynamo`)."""

import logging
import warnings
from functools import partial

import torch
import torchvision.models as vision
from torch import nn
from torch.export import Dim
from torchvision.models import detection, segmentation
from torchvision.models.efficientnet import MBConvConfig

IMAGE = 64


class Decoder(nn.Module):
    """One layer of a decoder: a step, with the keys and values of the steps before, gives what it says and the longer cache."""

    def __init__(self, width=32, heads=2):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, keys, values):
        batch, steps, width = x.shape
        q, k, v = self.qkv(self.before(x)).reshape(batch, steps, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        mixed = (q @ keys.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1) @ values
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, steps, width))
        return x + self.mlp(self.after(x)), keys, values


class TextClassifier(nn.Module):
    """Words embedded, convolved, and the largest over time."""

    def __init__(self):
        super().__init__()
        self.embed, self.conv, self.out = nn.Embedding(100, 16), nn.Conv1d(16, 24, 3, padding=1), nn.Linear(24, 5)

    def forward(self, words):
        return self.out(self.conv(self.embed(words).transpose(1, 2)).relu().amax(2))


class UNet(nn.Module):
    """Down and up again, with a way past."""

    def __init__(self):
        super().__init__()
        self.first, self.low = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 2, 1)
        self.norm, self.shrink = nn.GroupNorm(4, 16), nn.MaxPool2d(2)

    def forward(self, x):
        high = self.first(x).relu()
        low = self.norm(self.low(self.shrink(high))).relu()
        return self.last(torch.cat([high, self.up(low)], 1))


class Upscaler(nn.Module):
    """Three ways to enlarge an image."""

    def __init__(self):
        super().__init__()
        self.conv, self.wide = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 16, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        x = self.conv(x)
        bilinear = nn.functional.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        nearest = nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
        cubic = nn.functional.interpolate(x, scale_factor=2.0, mode="bicubic", align_corners=True)
        return bilinear + nearest + cubic + self.shuffle(self.wide(x))


class Encoder(nn.Module):
    """Words embedded, and a transformer's encoder over them."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, activation="gelu")
        self.embed, self.layers, self.out = nn.Embedding(100, 32), nn.TransformerEncoder(layer, 2), nn.Linear(32, 4)

    def forward(self, words):
        return self.out(self.layers(self.embed(words)).mean(1))


class Detections(nn.Module):
    """A detector's answer to one image, as tensors."""

    def __init__(self, detector):
        super().__init__()
        self.detector = detector

    def forward(self, image):
        found = self.detector([image])[0]
        return found["boxes"], found["labels"], found["scores"]


def efficientnet():
    blocks = [MBConvConfig(1, 3, 1, 8, 8, 1), MBConvConfig(4, 3, 2, 8, 12, 2), MBConvConfig(4, 5, 2, 12, 16, 1)]
    return vision.EfficientNet(blocks, 0.1, last_channel=64, num_classes=10)


def densenet():
    return vision.DenseNet(growth_rate=8, block_config=(2, 3, 2), num_init_features=8, num_classes=10)


def swin():
    return vision.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10)


def vit():
    return vision.VisionTransformer(IMAGE, 16, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10)


def convnext():
    block = vision.convnext.CNBlockConfig
    return vision.ConvNeXt([block(16, 32, 1), block(32, 64, 1), block(64, None, 1)], num_classes=10)


def ssd():
    return Detections(detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5))


def faster_rcnn():
    return Detections(
        detection.fasterrcnn_mobilenet_v3_large_320_fpn(
            weights=None, weights_backbone=None, num_classes=5, min_size=IMAGE, max_size=IMAGE,
            rpn_pre_nms_top_n_test=20, rpn_post_nms_top_n_test=8,
        )
    )


def lraspp():
    class Mask(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)

        def forward(self, x):
            return self.net(x)["out"]

    return Mask()


def resnet():
    return vision.ResNet(vision.resnet.Bottleneck, [1, 2, 1, 1], num_classes=10, width_per_group=8)


IMAGES = {
    "resnet": resnet,
    "resnet18": vision.resnet18,
    "mobilenet_v2": partial(vision.mobilenet_v2, width_mult=0.25, num_classes=10),
    "mobilenet_v3": partial(vision.mobilenet_v3_small, num_classes=10),
    "mnasnet": partial(vision.MNASNet, 0.25, num_classes=10),
    "squeezenet": partial(vision.squeezenet1_1, num_classes=10),
    "shufflenet": partial(vision.ShuffleNetV2, [2, 2, 2], [8, 16, 32, 64, 128], num_classes=10),
    "efficientnet": efficientnet,
    "densenet": densenet,
    "convnext": convnext,
    "vit": vit,
    "swin": swin,
    "lraspp": lraspp,
    "unet": UNet,
    "upscaler": Upscaler,
}
STEPS = {
    "lstm": (partial(nn.LSTM, 8, 16, num_layers=2, bidirectional=True, batch_first=True), 8),
    "gru": (partial(nn.GRU, 8, 16, batch_first=True), 8),
    "rnn": (partial(nn.RNN, 8, 16), 8),
}
WORDS = {"text": TextClassifier, "encoder": Encoder}
DETECTORS = {"ssd": ssd, "faster_rcnn": faster_rcnn}


def random_statistics(model):
    """Gives normalisations statistics of their own: as they begin, they do nothing."""
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            nn.init.uniform_(module.running_mean, -0.2, 0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.2, 0.2)


def write(make, inputs, names, open_axes, dynamo, file):
    """Exports a model. `open_axes` names the axes whose sizes are left open, for each input."""
    torch.manual_seed(0)
    model = make().eval()
    random_statistics(model)
    axes = {name: named for name, named in zip(names, open_axes) if named}
    dims = {axis: Dim(axis, min=2, max=512) for named in open_axes for axis in named.values()}
    shapes = tuple({place: dims[axis] for place, axis in named.items()} for named in open_axes)
    how = {"dynamic_shapes": shapes if dims else None} if dynamo else {"dynamic_axes": axes, "opset_version": 17}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, inputs, str(file), input_names=names, dynamo=dynamo, external_data=False, verbose=False, **how
        )


def cases():
    """Names, models, example inputs, names of the inputs, and which of their axes are open."""
    torch.manual_seed(1)
    for name, make in IMAGES.items():
        yield name, make, (torch.randn(2, 3, IMAGE, IMAGE),), ["image"], [{0: "batch"}]
    for name, (make, width) in STEPS.items():
        batch = 0 if name != "rnn" else 1
        open_axes = {batch: "batch"} if name == "lstm" else {}
        yield name, make, (torch.randn(*((2, 5) if batch == 0 else (5, 2)), width),), ["x"], [open_axes]
    for name, make in WORDS.items():
        # TorchScript's tracer keeps a size here and there although the axis is open: one that inputs are tried with.
        yield name, make, (torch.randint(0, 100, (2, 8)),), ["words"], [{0: "batch", 1: "length"}]
    cache = {0: "batch", 2: "past"}
    x = (torch.randn(2, 1, 32), torch.randn(2, 2, 6, 16), torch.randn(2, 2, 6, 16))
    yield "decoder", Decoder, x, ["x", "keys", "values"], [{0: "batch"}, cache, cache]
    for name, make in DETECTORS.items():
        size = 320 if name == "ssd" else IMAGE
        yield name, make, (torch.rand(3, size, size),), ["image"], [{}]


def exports():
    """Names, and what writes each to a file."""
    for module in ["torch.onnx", "onnxscript", "onnx_ir"]:
        logging.getLogger(module).setLevel(logging.ERROR)
    # The fast path of attention is one operator that ONNX does not have.
    torch.backends.mha.set_fastpath_enabled(False)
    for name, make, inputs, names, open_axes in cases():
        for exporter, dynamo in [("script", False), ("dynamo", True)]:
            yield f"{name}_{exporter}", partial(write, make, inputs, names, open_axes, dynamo)
