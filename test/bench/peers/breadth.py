"""Architectures beyond those of models.py: full size, seeded random weights, batch 1.

    make bench-breadth           # all of them, into docs/benchmarks_breadth.md

They come from torchvision, timm and transformers as their packages define them. What the packages
lack (volumes, sound, forecasts) is written here in a few lines.
"""

import torch
from torch import nn
from torch.nn import functional as F

from models import Entry, image, timm_model, vision


class Logits(nn.Module):
    """Returns one tensor of a module that returns a dictionary or an object."""

    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, *args):
        return self.model(*args)[self.name]


def segmentation(name):
    def make():
        import torchvision

        model = getattr(torchvision.models.segmentation, name)
        return Logits(model(weights=None, weights_backbone=None), "out"), image()

    return make


def video(name):
    def make():
        import torchvision

        model = getattr(torchvision.models.video, name)(weights=None)
        return model, (torch.randn(1, 3, 8, 112, 112),)

    return make


def transformer(model, config, inputs, part=None, **sizes):
    """A model of transformers, or a part of it, smaller than the published one where `sizes` says
    so. `inputs` returns what it takes."""

    def make():
        import transformers

        module = getattr(transformers, model)(getattr(transformers, config)(**sizes))
        module = getattr(module, part) if part else module
        return Logits(module, "last_hidden_state"), (inputs(),)

    return make


def tokens(count=128):
    return lambda: torch.randint(0, 1000, (1, count))


def signal(*shape):
    return lambda: torch.randn(*shape)


class UNet3d(nn.Module):
    """Segments a volume: 3-d convolutions, instance norms, trilinear upsampling."""

    def __init__(self, widths=(16, 32, 64)):
        super().__init__()

        def twice(a, b):
            layers = []
            for c in (a, b):
                layers += [nn.Conv3d(c, b, 3, padding=1, bias=False),
                           nn.InstanceNorm3d(b, affine=True), nn.LeakyReLU(0.01)]  # fmt: skip
            return nn.Sequential(*layers)

        self.down = nn.ModuleList(twice(a, b) for a, b in zip((1, *widths), widths))
        self.up = nn.ModuleList(twice(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1]))
        self.out = nn.Conv3d(widths[0], 3, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else F.max_pool3d(x, 2))
            kept.append(x)
        for up, skip in zip(self.up, kept[-2::-1]):
            x = F.interpolate(x, scale_factor=2.0, mode="trilinear")
            x = up(torch.cat([x, skip], 1))
        return self.out(x)


class Dilated(nn.Module):
    """Context by dilation on a small image, without pooling."""

    def __init__(self, width=64, dilations=(1, 2, 4, 8, 16, 1)):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, padding=1), nn.ReLU()]
        for d in dilations:
            layers += [nn.Conv2d(width, width, 3, padding=d, dilation=d, bias=False),
                       nn.BatchNorm2d(width), nn.ReLU()]  # fmt: skip
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, 21, 1))

    def forward(self, x):
        return self.layers(x)


class TemporalConvolutions(nn.Module):
    """Causal dilated 1-d convolutions with residuals, as for speech and sensors."""

    def __init__(self, inputs=40, width=128, levels=8):
        super().__init__()
        self.first = nn.Conv1d(inputs, width, 1)
        self.levels = nn.ModuleList(
            nn.ModuleList([nn.Conv1d(width, width, 3, dilation=2**i), nn.BatchNorm1d(width),
                           nn.Conv1d(width, width, 1)])
            for i in range(levels))  # fmt: skip
        self.out = nn.Conv1d(width, 30, 1)

    def forward(self, x):
        x = self.first(x)
        for i, (conv, norm, mix) in enumerate(self.levels):
            x = x + mix(torch.relu(norm(conv(F.pad(x, (2 * 2**i, 0))))))
        return self.out(x)


class ConvTasNet(nn.Module):
    """Separates two speakers: a learned filter bank and dilated depthwise 1-d convolutions."""

    def __init__(self, filters=256, width=128, hidden=256, blocks=8):
        super().__init__()
        self.encode = nn.Conv1d(1, filters, 16, 8, bias=False)
        self.bottleneck = nn.Conv1d(filters, width, 1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, hidden, 1), nn.PReLU(), nn.GroupNorm(1, hidden),
                          nn.Conv1d(hidden, hidden, 3, padding=2**i, dilation=2**i, groups=hidden),
                          nn.PReLU(), nn.GroupNorm(1, hidden), nn.Conv1d(hidden, width, 1))
            for i in range(blocks))  # fmt: skip
        self.mask = nn.Conv1d(width, 2 * filters, 1)
        self.decode = nn.ConvTranspose1d(filters, 1, 16, 8, bias=False)

    def forward(self, sound):
        x = torch.relu(self.encode(sound))
        y = self.bottleneck(x)
        for block in self.blocks:
            y = y + block(y)
        masks = torch.sigmoid(self.mask(y)).view(2, x.shape[1], x.shape[2])
        return self.decode(masks * x)


class SuperResolution(nn.Module):
    """EDSR: residual 3 x 3 convolutions at full size, then pixel shuffle."""

    def __init__(self, width=32, blocks=8):
        super().__init__()

        def conv(a, b):
            return nn.Conv2d(a, b, 3, padding=1)

        self.head = conv(3, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width)) for _ in range(blocks)
        )
        self.tail = nn.Sequential(conv(width, 4 * width), nn.PixelShuffle(2), conv(width, 3))

    def forward(self, x):
        x = self.head(x)
        y = x
        for block in self.blocks:
            y = y + block(y)
        return self.tail(x + y)


class Mixture(nn.Module):
    """Forecasts from 96 steps of 32 series: mixes along time, then along series."""

    def __init__(self, steps=96, series=32, hidden=64, blocks=4):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.ModuleList([nn.LayerNorm([steps, series]), nn.Linear(steps, steps),
                           nn.Linear(series, hidden), nn.Linear(hidden, series)])
            for _ in range(blocks))  # fmt: skip
        self.out = nn.Linear(steps, 24)

    def forward(self, x):
        for norm, time, wide, narrow in self.blocks:
            x = x + torch.relu(time(norm(x).transpose(1, 2))).transpose(1, 2)
            x = x + narrow(torch.relu(wide(x)))
        return self.out(x.transpose(1, 2)).transpose(1, 2)


class Recurrent(nn.Module):
    def __init__(self, kind, width=192):
        super().__init__()
        self.layers = kind(80, width, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 40)

    def forward(self, x):
        return self.out(self.layers(x)[0])


def own(module, *shape):
    return Entry(lambda: (module(), (torch.randn(*shape),)))


TORCHVISION = (
    "alexnet densenet121 efficientnet_v2_s googlenet inception_v3 mnasnet1_0 mobilenet_v3_large "
    "regnet_x_800mf regnet_y_400mf resnet34 resnext50_32x4d shufflenet_v2_x1_0 swin_t vgg11 "
    "convnext_tiny"
).split()
TIMM = (
    "cait_xxs24_224 coat_lite_tiny crossvit_tiny_240 cspresnet50 deit_tiny_patch16_224 dla34 "
    "eca_nfnet_l0 ecaresnet26t edgenext_small efficientformer_l1 efficientvit_b0 "
    "ese_vovnet19b_dw fastvit_t8 fbnetc_100 focalnet_tiny_srf gernet_s ghostnet_100 "
    "hardcorenas_a hrnet_w18_small lcnet_100 levit_128s mixer_s32_224 mixnet_s "
    "mobilenetv4_conv_small mobileone_s0 mobilevit_s nf_regnet_b0 poolformer_s12 pvt_v2_b0 "
    "regnety_002 repvgg_a0 res2net50_26w_4s resmlp_12_224 resnest14d rexnet_100 seresnet50 "
    "starnet_s1 tf_efficientnet_lite0 tinynet_a xcit_nano_12_p16_224"
).split()

ENTRIES = {
    **{name: Entry(vision(name)) for name in TORCHVISION},
    **{name: Entry(timm_model(name)) for name in TIMM},
    "lraspp_mobilenet_v3": Entry(segmentation("lraspp_mobilenet_v3_large")),
    "deeplabv3_mobilenet_v3": Entry(segmentation("deeplabv3_mobilenet_v3_large")),
    "r3d_18": Entry(video("r3d_18")),
    "r2plus1d_18": Entry(video("r2plus1d_18")),
    "distilbert": Entry(transformer("DistilBertModel", "DistilBertConfig", tokens(), n_layers=3)),
    "albert": Entry(transformer("AlbertModel", "AlbertConfig", tokens(), hidden_size=384,
                                num_attention_heads=6, intermediate_size=1536,
                                num_hidden_layers=6)),
    "electra_small": Entry(transformer("ElectraModel", "ElectraConfig", tokens())),
    "gpt2_small": Entry(transformer("GPT2Model", "GPT2Config", tokens(64), n_layer=4)),
    "t5_encoder": Entry(transformer("T5EncoderModel", "T5Config", tokens(), num_layers=4)),
    "whisper_encoder": Entry(transformer("WhisperModel", "WhisperConfig", signal(1, 80, 3000),
                                         part="encoder", encoder_layers=4)),
    "wav2vec2": Entry(transformer("Wav2Vec2Model", "Wav2Vec2Config", signal(1, 16000),
                                  num_hidden_layers=3)),
    "segformer_b0": Entry(transformer("SegformerModel", "SegformerConfig",
                                      signal(1, 3, 224, 224))),
    "unet_3d": own(UNet3d, 1, 1, 32, 64, 64),
    "dilated": own(Dilated, 1, 3, 64, 64),
    "temporal_convolutions": own(TemporalConvolutions, 1, 40, 400),
    "conv_tasnet": own(ConvTasNet, 1, 1, 8000),
    "super_resolution": own(SuperResolution, 1, 3, 96, 96),
    "forecast_mixer": own(Mixture, 1, 96, 32),
    "gru": own(lambda: Recurrent(nn.GRU), 1, 100, 80),
    "bidirectional_lstm": own(lambda: Recurrent(nn.LSTM), 1, 100, 80),
}  # fmt: skip
