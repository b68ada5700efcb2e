"""timm: convolutional networks, transformers and hybrids, with small images."""

import vision_models  # noqa: F401  declares torchvision's operators for timm

import timm

from entry import Entry, randn

# Name and size of the square image; `size!` if the size must be passed to the model.
CONVOLUTION = """
resnet26d 64, resnetv2_50 64, efficientnet_lite0 64, ghostnetv2_100 64, hrnet_w18_small 64,
res2net50_14w_8s 64, dla34 64, ese_vovnet19b_dw 64, repvgg_a0 64, mobileone_s0 64,
convnextv2_atto 64, convmixer_1024_20_ks9_p14 56, mobilenetv4_conv_small 64, nf_resnet26 64, dm_nfnet_f0 64,
rexnet_100 64, lcnet_050 64, selecsls42b 64, xception41 64, dpn48b 64, cspdarknet53 64,
inception_v4 96, inception_next_atto 64, repvit_m0_9 64, fastvit_t8 64, starnet_s1 64,
mambaout_femto 64, focalnet_tiny_srf 64, tinynet_e 64, skresnet18 64, resnest14d 64,
gernet_s 64, eca_resnet33ts 64, gcresnet33ts 64, edgenext_xx_small 64, hgnetv2_b0 64, pit_ti_224 224
"""
TRANSFORMER = """
deit_tiny_patch16_224 64!, beit_base_patch16_224 64!, eva02_tiny_patch14_224 56!,
vit_relpos_small_patch16_224 64!, swin_tiny_patch4_window7_224 64!, swinv2_cr_tiny_ns_224 64!,
cait_xxs24_224 64!, xcit_nano_12_p16_224 64!, crossvit_9_240 240, pvt_v2_b0 64, twins_svt_small 64!,
davit_tiny 64, gcvit_xxtiny 224, hiera_tiny_224 224, mvitv2_tiny 224, volo_d1_224 224,
tiny_vit_5m_224 224, convit_tiny 224, tnt_s_patch16_224 224, vit_tiny_r_s16_p8_224 64!,
flexivit_small 240, visformer_tiny 224, deit3_small_patch16_224 64!, nest_tiny 224
"""
HYBRID = """
mobilevit_xxs 64, mobilevitv2_050 64, coat_lite_tiny 64!, coatnet_nano_rw_224 64!,
maxvit_rmlp_pico_rw_256 64!, levit_128s 224, poolformer_s12 64, efficientformer_l1 224,
efficientformerv2_s0 224, nextvit_small 64, efficientvit_b0 64, efficientvit_m0 224,
sebotnet33ts_256 256, halonet26t 256, lambda_resnet26t 256, mobilenetv4_hybrid_medium 64,
mixer_s32_224 224, resmlp_12_224 224, gmlp_ti16_224 224, sequencer2d_s 224
"""
QUICK = {"lcnet_050", "deit_tiny_patch16_224", "mobilevit_xxs"}


def model(name, size, told):
    extra = {"img_size": size} if told else {}
    return timm.create_model(name, pretrained=False, num_classes=10, **extra), (
        randn(1, 3, size, size),
    )


def entries():
    out = []
    families = (
        (CONVOLUTION, "image classification, convolutions"),
        (TRANSFORMER, "image classification, transformer"),
        (HYBRID, "image classification, mixed"),
    )
    for text, family in families:
        for item in text.replace("\n", " ").split(","):
            name, size = item.split()
            told, side = size.endswith("!"), int(size.rstrip("!"))
            make = lambda name=name, side=side, told=told: model(name, side, told)
            out.append(
                Entry(f"timm/{name}", family, make, f"{name} {size} settled 5", name in QUICK)
            )
    return out
