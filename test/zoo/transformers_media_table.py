"""Audio, image, video and time-series models of transformers: (class, configuration, inputs)."""

import torch
import transformers

from entry import ids, randn
from transformers_parts import GROUPED, PICTURE, SEQ2SEQ, STAGES, TEXT, WAVE
from transformers_parts import masked, picture, sound, vision_text

SPEECH = [
    ("Wav2Vec2ForCTC", WAVE, sound),
    ("Wav2Vec2ConformerModel", dict(WAVE, position_embeddings_type="relative"), sound),
    ("HubertModel", WAVE, sound),
    ("WavLMModel", WAVE, sound),
    ("SEWModel", dict(WAVE, squeeze_factor=2), sound),
    ("UniSpeechModel", WAVE, sound),
    ("Data2VecAudioModel", dict(WAVE, num_conv_pos_embeddings=2, conv_pos_kernel_size=5), sound),
    (
        "Speech2TextModel",
        dict(
            SEQ2SEQ,
            input_feat_per_channel=20,
            input_channels=1,
            conv_channels=32,
            max_source_positions=200,
            max_target_positions=64,
        ),
        lambda: {"input_features": randn(2, 40, 20), "decoder_input_ids": ids(2, 6)},
    ),
    (
        "WhisperModel",
        dict(
            SEQ2SEQ,
            num_mel_bins=20,
            max_source_positions=30,
            max_target_positions=32,
            decoder_start_token_id=1,
        ),
        lambda: {"input_features": randn(2, 20, 60), "decoder_input_ids": ids(2, 6)},
    ),
    (
        "ASTModel",
        dict(
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            patch_size=8,
            frequency_stride=8,
            time_stride=8,
            max_length=64,
            num_mel_bins=16,
        ),
        lambda: {"input_values": randn(2, 64, 16)},
    ),
    (
        "DacModel",
        dict(
            encoder_hidden_size=8,
            downsampling_ratios=[2, 4],
            decoder_hidden_size=16,
            n_codebooks=2,
            codebook_size=16,
            codebook_dim=4,
            hidden_size=32,
        ),
        lambda: {"input_values": randn(1, 1, 320)},
    ),
    (
        "UnivNetModel",
        dict(
            model_hidden_channels=8,
            model_in_channels=8,
            num_mel_bins=10,
            kernel_predictor_hidden_channels=8,
        ),
        lambda: {"input_features": randn(1, 9, 10), "noise_sequence": randn(1, 9, 8)},
    ),
    (
        "SpeechT5HifiGan",
        dict(
            model_in_dim=10,
            upsample_initial_channel=16,
            upsample_rates=[4, 2],
            upsample_kernel_sizes=[8, 4],
        ),
        lambda: {"spectrogram": randn(9, 10)},
    ),
]
PICTURES = [
    ("ViTForImageClassification", PICTURE, picture),
    ("DeiTModel", PICTURE, picture),
    ("BeitModel", dict(PICTURE, use_relative_position_bias=True), picture),
    ("Dinov2Model", PICTURE, picture),
    ("ViTMSNModel", PICTURE, picture),
    (
        "SwinModel",
        dict(
            image_size=32,
            patch_size=2,
            embed_dim=16,
            depths=[2, 2],
            num_heads=[2, 4],
            window_size=4,
        ),
        picture,
    ),
    (
        "Swinv2Model",
        dict(
            image_size=32,
            patch_size=2,
            embed_dim=16,
            depths=[2, 2],
            num_heads=[2, 4],
            window_size=4,
        ),
        picture,
    ),
    (
        "Swin2SRModel",
        dict(image_size=32, patch_size=1, embed_dim=16, depths=[2], num_heads=[2], window_size=4),
        picture,
    ),
    ("ConvNextModel", STAGES, picture),
    ("ResNetModel", dict(STAGES, embedding_size=8, layer_type="basic"), picture),
    ("RegNetModel", dict(STAGES, embedding_size=8, groups_width=8), picture),
    (
        "MobileViTModel",
        dict(
            hidden_sizes=[16, 24, 32],
            neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 48],
            image_size=64,
            num_attention_heads=2,
        ),
        lambda: picture(64),
    ),
    (
        "SegformerForSemanticSegmentation",
        dict(
            hidden_sizes=[8, 16, 24, 32],
            depths=[1, 1, 1, 1],
            decoder_hidden_size=16,
            num_attention_heads=[1, 2, 2, 4],
        ),
        lambda: picture(64),
    ),
    (
        "PvtV2Model",
        dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4]),
        lambda: picture(64),
    ),
    (
        "PoolFormerModel",
        dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]),
        lambda: picture(64),
    ),
    (
        "FocalNetModel",
        dict(
            image_size=32,
            patch_size=2,
            embed_dim=16,
            depths=[1, 1],
            focal_levels=[2, 2],
            focal_windows=[3, 3],
        ),
        picture,
    ),
    (
        "LevitModel",
        dict(
            image_size=64,
            hidden_sizes=[16, 32, 48],
            num_attention_heads=[2, 2, 4],
            depths=[1, 1, 1],
            key_dim=[8, 8, 8],
        ),
        lambda: picture(64),
    ),
    (
        "DPTForDepthEstimation",
        dict(
            dict(PICTURE, num_hidden_layers=4),
            image_size=64,
            is_hybrid=False,
            backbone_out_indices=[0, 1, 2, 3],
            neck_hidden_sizes=[8, 16, 24, 32],
            fusion_hidden_size=16,
        ),
        lambda: picture(64),
    ),
    (
        "DepthAnythingForDepthEstimation",
        dict(
            backbone_config=transformers.Dinov2Config(
                **dict(PICTURE, image_size=64, num_hidden_layers=4),
                out_indices=[1, 2, 3, 4],
                reshape_hidden_states=False,
                apply_layernorm=True,
            ),
            reassemble_hidden_size=32,
            patch_size=8,
            neck_hidden_sizes=[8, 16, 24, 32],
            fusion_hidden_size=16,
        ),
        lambda: picture(64),
    ),
    (
        "GLPNForDepthEstimation",
        dict(
            hidden_sizes=[8, 16, 24, 32],
            depths=[1, 1, 1, 1],
            decoder_hidden_size=16,
            num_attention_heads=[1, 2, 2, 4],
        ),
        lambda: picture(64),
    ),
    (
        "YolosForObjectDetection",
        dict(PICTURE, image_size=[32, 32], num_detection_tokens=6),
        picture,
    ),
    (
        "DetrForObjectDetection",
        dict(
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_queries=7,
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=transformers.ResNetConfig(
                **STAGES, embedding_size=8, layer_type="basic", out_features=["stage4"]
            ),
        ),
        lambda: picture(64),
    ),
    (
        "ConditionalDetrForObjectDetection",
        dict(
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_queries=7,
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=transformers.ResNetConfig(
                **STAGES, embedding_size=8, layer_type="basic", out_features=["stage4"]
            ),
        ),
        lambda: picture(64),
    ),
    (
        "DeformableDetrForObjectDetection",
        dict(
            d_model=32,
            encoder_layers=1,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            num_queries=7,
            num_feature_levels=2,
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            disable_custom_kernels=True,
            backbone_config=transformers.ResNetConfig(
                **STAGES, embedding_size=8, layer_type="basic", out_features=["stage3", "stage4"]
            ),
        ),
        lambda: picture(64),
    ),
    ("SuperPointForKeypointDetection", dict(), lambda: picture(64)),
    (
        "VideoMAEModel",
        dict(PICTURE, num_frames=4, tubelet_size=2),
        lambda: {"pixel_values": randn(1, 4, 3, 32, 32)},
    ),
    (
        "TimesformerModel",
        dict(PICTURE, num_frames=4),
        lambda: {"pixel_values": randn(1, 4, 3, 32, 32)},
    ),
    (
        "VivitModel",
        dict(PICTURE, num_frames=4, tubelet_size=[2, 8, 8]),
        lambda: {"pixel_values": randn(1, 4, 3, 32, 32)},
    ),
    (
        "SamModel",
        dict(
            vision_config=dict(
                PICTURE,
                image_size=64,
                window_size=2,
                output_channels=16,
                global_attn_indexes=[1],
                mlp_dim=64,
                num_pos_feats=8,
            ),
            mask_decoder_config=dict(
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                mlp_dim=32,
                iou_head_hidden_dim=16,
            ),
            prompt_encoder_config=dict(
                hidden_size=16, image_size=64, patch_size=8, mask_input_channels=4
            ),
        ),
        lambda: {"pixel_values": randn(1, 3, 64, 64), "input_points": randn(1, 1, 2, 2).abs() * 20},
    ),
]
TOWER = dict(PICTURE, num_channels=3)
MULTIMODAL = [
    (
        "CLIPModel",
        dict(text_config=dict(TEXT, eos_token_id=95), vision_config=TOWER, projection_dim=16),
        vision_text,
    ),
    (
        "ChineseCLIPModel",
        dict(text_config=TEXT, vision_config=TOWER, projection_dim=16),
        vision_text,
    ),
    ("SiglipModel", dict(text_config=dict(TEXT), vision_config=TOWER), vision_text),
    (
        "BlipModel",
        dict(
            text_config=dict(TEXT, encoder_hidden_size=32), vision_config=TOWER, projection_dim=16
        ),
        vision_text,
    ),
    (
        "GroupViTModel",
        dict(
            text_config=TEXT,
            vision_config=dict(
                image_size=32,
                patch_size=8,
                hidden_size=32,
                depths=[1, 1],
                num_hidden_layers=2,
                num_group_tokens=[4, 2],
                num_output_groups=[4, 2],
                num_attention_heads=4,
                intermediate_size=64,
            ),
            projection_intermediate_dim=32,
            projection_dim=16,
        ),
        vision_text,
    ),
    (
        "OwlViTForObjectDetection",
        dict(
            text_config=dict(TEXT, max_position_embeddings=12),
            vision_config=TOWER,
            projection_dim=32,
        ),
        lambda: dict(
            input_ids=ids(1, 12),
            attention_mask=torch.ones(1, 12, dtype=torch.long),
            pixel_values=randn(1, 3, 32, 32),
        ),
    ),
    (
        "FlavaModel",
        dict(
            text_config=TEXT,
            image_config=TOWER,
            multimodal_config=dict(
                hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64
            ),
            projection_dim=16,
            hidden_size=32,
        ),
        vision_text,
    ),
    ("GitModel", dict(TEXT, vision_config=TOWER, use_cache=False), vision_text),
    (
        "LlavaForConditionalGeneration",
        dict(
            text_config=dict(GROUPED, model_type="llama"),
            vision_config=dict(TOWER, model_type="clip_vision_model"),
            image_token_index=90,
        ),
        lambda: dict(
            input_ids=torch.cat([torch.full((1, 16), 90), ids(1, 6, high=80)], 1),
            pixel_values=randn(1, 3, 32, 32),
        ),
    ),
    (
        "PaliGemmaForConditionalGeneration",
        dict(
            text_config=dict(GROUPED, model_type="gemma"),
            vision_config=dict(TOWER, model_type="siglip_vision_model", vision_use_head=False),
            image_token_index=90,
            projection_dim=32,
        ),
        lambda: dict(
            input_ids=torch.cat([torch.full((1, 16), 90), ids(1, 6, high=80)], 1),
            pixel_values=randn(1, 3, 32, 32),
        ),
    ),
    (
        "VisualBertModel",
        dict(TEXT, visual_embedding_dim=16),
        lambda: dict(masked(), visual_embeds=randn(2, 3, 16)),
    ),
    (
        "LxmertModel",
        dict(
            vocab_size=96,
            hidden_size=32,
            num_attention_heads=4,
            intermediate_size=64,
            l_layers=1,
            x_layers=1,
            r_layers=1,
            visual_feat_dim=16,
            max_position_embeddings=64,
        ),
        lambda: dict(masked(), visual_feats=randn(2, 3, 16), visual_pos=randn(2, 3, 4)),
    ),
]
SERIES = [
    (
        "PatchTSTForPrediction",
        dict(
            num_input_channels=2,
            context_length=32,
            patch_length=8,
            patch_stride=8,
            num_hidden_layers=2,
            d_model=16,
            num_attention_heads=4,
            ffn_dim=32,
            prediction_length=8,
            loss="mse",
        ),
        lambda: {"past_values": randn(2, 32, 2)},
    ),
    (
        "PatchTSMixerForPrediction",
        dict(
            num_input_channels=2,
            context_length=32,
            patch_length=8,
            patch_stride=8,
            d_model=8,
            num_layers=2,
            prediction_length=8,
            loss="mse",
        ),
        lambda: {"past_values": randn(2, 32, 2)},
    ),
    (
        "DecisionTransformerModel",
        dict(
            state_dim=5,
            act_dim=3,
            hidden_size=32,
            n_layer=2,
            n_head=4,
            n_positions=64,
            max_ep_len=20,
        ),
        lambda: dict(
            states=randn(1, 6, 5),
            actions=randn(1, 6, 3),
            rewards=randn(1, 6, 1),
            returns_to_go=randn(1, 6, 1),
            timesteps=ids(1, 6, high=20),
            attention_mask=torch.ones(1, 6),
        ),
    ),
]
