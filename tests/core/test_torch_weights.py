"""from_torch and to_torch: the same outputs as PyTorch's own modules, under every mask."""

import re
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from attn.attention import MultiHeadAttention, ScaledDotProduct
from attn.layers import DecoderLayer, EncoderLayer, FeedForward
from attn.masks import causal_mask, padding_mask
from attn.positions import RotaryPositions
from attn.transformer import Decoder, Encoder, Transformer, TransformerConfig, from_torch, to_torch

SIZES = {"d_model": 8, "n_heads": 2, "d_ff": 12}
THEIRS = {"dim_feedforward": 12, "dropout": 0.3, "batch_first": True}
LENGTHS = torch.tensor([5, 3])
CHOICES = {
    "relu": ({}, {}),
    "gelu": ({"activation": "gelu"}, {"activation": "gelu"}),
    "GELU": ({"activation": "gelu"}, {"activation": nn.GELU()}),
    "tanh": ({"activation": "gelu_tanh"}, {"activation": nn.GELU("tanh")}),
    "no bias": ({"bias": False, "norm_eps": 0.1}, {"bias": False, "layer_norm_eps": 0.1}),
}
both_norms = pytest.mark.parametrize("norm", ["pre", "post"])


def drawn(module):
    """Draw all weights, including those of norms and biases, which would be ones and zeros."""
    generator = torch.Generator().manual_seed(0)
    for parameter in module.double().parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator).double() / 2
    return module.eval()


def layer_of(kind, **options):
    """Return a layer built from a configuration."""
    options = {"n_layers": 1, "positions": "none", "dropout": 0.0} | SIZES | options
    stack = Encoder if kind is EncoderLayer else Decoder
    return stack(TransformerConfig(1, **options)).layers[0]


def vectors(n, seed):
    return torch.randn(2, n, 8, generator=torch.Generator().manual_seed(seed)).double()


def assert_same_rows(ours, theirs, lengths=None):
    real = slice(None) if lengths is None else padding_mask(lengths, ours.shape[1])[:, 0]
    torch.testing.assert_close(ours[real], theirs[real], rtol=0, atol=1e-12)


def assert_same_gradients(ours, theirs, inputs):
    """Compare the gradients of inputs; of weights, joined in PyTorch, the sums of squares."""
    inputs = [x.requires_grad_() for x in inputs]
    causal = {"is_causal": True} if isinstance(ours, EncoderLayer) else {}
    their_causal = {
        ("tgt" if len(inputs) > 1 else "src") + "_mask": ~causal_mask(len(inputs[0][0]))
    }
    outputs = ours(*inputs, **causal)[0], theirs(*inputs, **their_causal)
    sums = []
    for module, output in zip((ours, theirs), outputs, strict=True):
        upstream = torch.linspace(-1, 1, output.numel()).double().view_as(output)
        wanted = [*inputs, *module.parameters()]
        gradients = torch.autograd.grad(output, wanted, upstream)
        sums.append((gradients[: len(inputs)], sum(g.square().sum() for g in gradients)))
    torch.testing.assert_close(*sums, rtol=1e-9, atol=1e-12)


def attend(ours, theirs):
    """Compare self-attention under both masks, and cross-attention under the padding mask."""
    x, memory, mask = vectors(4, 1), vectors(5, 2), padding_mask(LENGTHS, 5)
    causal, padding = ~causal_mask(5), ~mask[:, 0]
    expected, _ = theirs(memory, memory, memory, key_padding_mask=padding, attn_mask=causal)
    assert_same_rows(ours(memory, mask=mask, is_causal=True)[0], expected)
    expected, weights = theirs(
        x, memory, memory, key_padding_mask=padding, average_attn_weights=False
    )
    output, own_weights = ours(x, memory, mask=mask, need_weights=True)
    assert_same_rows(output, expected)
    assert_same_rows(own_weights, weights)


def encode(ours, theirs):
    x, mask = vectors(5, 1), padding_mask(LENGTHS, 5)
    causal, padding = ~causal_mask(5), ~mask[:, 0]
    assert_same_rows(ours(x, mask)[0], theirs(x, src_key_padding_mask=padding), LENGTHS)
    assert_same_rows(ours(x, is_causal=True)[0], theirs(x, causal))


def decode(ours, theirs):
    x, memory, mask = vectors(4, 1), vectors(5, 2), padding_mask(LENGTHS, 5)
    expected = theirs(x, memory, tgt_mask=~causal_mask(4), memory_key_padding_mask=~mask[:, 0])
    assert_same_rows(ours(x, memory, memory_mask=mask)[0], expected)


@pytest.mark.parametrize("bias", [True, False])
def test_attention(bias):
    theirs = drawn(nn.MultiheadAttention(8, 2, 0.3, bias, batch_first=True))
    attend(from_torch(theirs), theirs)
    ours = drawn(MultiHeadAttention(8, 2, 0.3, bias))
    attend(ours, to_torch(ours))
    assert from_torch(theirs).dropout == to_torch(ours).dropout == 0.3


LAYERS = [
    (EncoderLayer, nn.TransformerEncoderLayer, encode),
    (DecoderLayer, nn.TransformerDecoderLayer, decode),
]


@both_norms
@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("our_kind, their_kind, compare", LAYERS)
def test_layers(our_kind, their_kind, compare, choice, norm):
    inputs = [vectors(4, 1), vectors(5, 2)][: 1 if our_kind is EncoderLayer else 2]
    own_options, their_options = CHOICES[choice]
    theirs = drawn(their_kind(8, 2, norm_first=norm == "pre", **THEIRS, **their_options))
    ours = from_torch(theirs)
    assert type(ours) is our_kind and not ours.training
    compare(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)
    ours = drawn(layer_of(our_kind, norm=norm, **own_options))
    assert type(to_torch(ours)) is their_kind
    compare(ours, to_torch(ours))
    assert_same_gradients(ours, to_torch(ours), inputs)
    compare(from_torch(to_torch(ours)), to_torch(ours))
    # Without gradients PyTorch takes its fast path.
    with torch.no_grad():
        compare(ours, to_torch(ours))


@pytest.mark.parametrize("our_kind, their_kind", [kinds[:2] for kinds in LAYERS])
def test_dropout_rates_are_converted(our_kind, their_kind):
    """Both apply dropout in the same places, but not inside the feed-forward network."""
    ours = layer_of(our_kind, dropout=0.3, attention_dropout=0.2)
    theirs = to_torch(ours)
    assert theirs.training
    rates = {name: part.p for name, part in theirs.named_modules() if isinstance(part, nn.Dropout)}
    assert rates.pop("dropout") == 0 and set(rates.values()) == {0.3}
    again = from_torch(theirs)
    assert again.training and again.dropout.p == 0.3
    for layer, kind in ((theirs, nn.MultiheadAttention), (again, MultiHeadAttention)):
        assert {part.dropout for part in layer.modules() if isinstance(part, kind)} == {0.2}


@both_norms
@pytest.mark.parametrize("last_norm", [True, False])
def test_stacks(norm, last_norm):
    for (_, kind, compare), stack in zip(
        LAYERS, (nn.TransformerEncoder, nn.TransformerDecoder), strict=True
    ):
        layer = kind(8, 2, norm_first=norm == "pre", **THEIRS)
        theirs = drawn(stack(layer, 2, nn.LayerNorm(8, eps=0.1) if last_norm else None))
        compare(from_torch(theirs), theirs)
        compare(from_torch(theirs), to_torch(from_torch(theirs)))


@pytest.mark.parametrize("_, kind, compare", LAYERS)
def test_the_layers_of_a_stack_may_differ(_, kind, compare):
    stack = nn.TransformerEncoder if compare is encode else nn.TransformerDecoder
    theirs = stack(kind(8, 2, **THEIRS), 3)
    other = {"dim_feedforward": 6, "batch_first": True, "bias": False, "activation": "gelu"}
    theirs.layers[1] = kind(8, 4, norm_first=True, **other)
    compare(from_torch(drawn(theirs)), theirs)
    compare(from_torch(theirs), to_torch(from_torch(theirs)))


@both_norms
def test_a_whole_transformer_converts_to_pytorch_and_back(norm):
    config = TransformerConfig(9, n_layers=2, norm=norm, **SIZES)
    model = drawn(Transformer(config))
    theirs = to_torch(model)
    assert (theirs.d_model, theirs.nhead) == (8, 2)
    src, tgt = (
        torch.tensor([[3, 4, 5, 6, 7], [8, 4, 2, 0, 0]]),
        torch.tensor([[2, 5, 6], [2, 3, 4]]),
    )
    mask = padding_mask(LENGTHS, 5)
    logits, _ = model(src, tgt, mask)
    with torch.no_grad():
        x = theirs(
            model.src_embedding(src),
            model.tgt_embedding(tgt),
            tgt_mask=~causal_mask(3),
            src_key_padding_mask=~mask[:, 0],
            memory_key_padding_mask=~mask[:, 0],
        )
        assert_same_rows(model.output(x), logits)

    other = Transformer(config).double().eval()
    other.src_embedding, other.tgt_embedding = model.src_embedding, model.tgt_embedding
    other.output = model.output
    other.encoder, other.decoder = from_torch(theirs)
    assert type(other.encoder) is Encoder and type(other.decoder) is Decoder
    assert torch.equal(other(src, tgt, mask)[0], logits)


@both_norms
def test_pytorchs_transformer_with_final_norms(norm):
    theirs = drawn(nn.Transformer(8, 2, 2, 2, norm_first=norm == "pre", **THEIRS))
    encoder, decoder = from_torch(theirs)
    src, tgt, mask = vectors(5, 1), vectors(4, 2), padding_mask(LENGTHS, 5)
    expected = theirs(
        src,
        tgt,
        tgt_mask=~causal_mask(4),
        src_key_padding_mask=~mask[:, 0],
        memory_key_padding_mask=~mask[:, 0],
    )
    output, _ = decoder(tgt, encoder(src, mask)[0], memory_mask=mask)
    assert_same_rows(output, expected)


@pytest.mark.filterwarnings("error")
@both_norms
def test_padded_rows_give_the_same_outputs_in_pytorch(norm):
    ours = drawn(Encoder(TransformerConfig(9, n_layers=1, norm=norm, **SIZES)))
    x, mask = vectors(5, 1), padding_mask(LENGTHS, 5)
    with torch.no_grad():
        assert_same_rows(ours(x, mask)[0], to_torch(ours)(x, src_key_padding_mask=~mask[:, 0]))


def test_the_weights_are_copied_with_their_dtype_and_device():
    theirs = nn.MultiheadAttention(8, 2).double()
    ours = from_torch(theirs)
    before = theirs.in_proj_weight.clone()
    assert ours.q_proj.weight.dtype == to_torch(ours).in_proj_weight.dtype == torch.float64
    assert from_torch(nn.MultiheadAttention(8, 2, device="meta")).q_proj.weight.is_meta
    with torch.no_grad():
        ours.q_proj.weight.zero_()
        to_torch(ours).in_proj_weight.zero_()
    assert torch.equal(theirs.in_proj_weight, before) and ours.k_proj.weight.any()


def test_a_stack_of_odd_width_has_a_counterpart():
    """It adds no sinusoidal positions, which need an even width."""
    theirs = drawn(nn.TransformerEncoder(nn.TransformerEncoderLayer(9, 3, **THEIRS), 1)).eval()
    x = torch.randn(2, 4, 9).double()
    torch.testing.assert_close(from_torch(theirs)(x)[0], theirs(x))


def pruned(part, of=None):
    prune.l1_unstructured(part if of is None else part.get_submodule(of), "weight", 0.5)
    return part


def own(kind):
    """Return a subclass, which could compute something else."""
    return type(f"Own{kind.__name__}", (kind,), {})


ATTENTION = partial(nn.MultiheadAttention, 8, 2)
ENCODER_LAYER = partial(nn.TransformerEncoderLayer, 8, 2, 12)
DECODER_LAYER = partial(nn.TransformerDecoderLayer, 8, 2, 12)
ENCODER = nn.TransformerEncoder
KINDS = (
    "nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, "
    "nn.TransformerEncoder, nn.TransformerDecoder or nn.Transformer, got "
)
ACTIVATION = "activation = relu or gelu or gelu_tanh, got "
PARTS = "linear layers nn.Linear and norms nn.LayerNorm, got "
PRUNED = "Linear of ['bias', 'weight'], got ['weight_mask', 'weight_orig'] as well"


def test_both_forms_of_relu_in_pytorch_are_converted():
    for relu in (torch.relu, F.relu, nn.ReLU()):
        assert from_torch(ENCODER_LAYER(activation=relu)).feed_forward.activation == "relu"


@pytest.mark.parametrize(
    "theirs, message",
    [
        (ATTENTION(add_bias_kv=True), "add_bias_kv = False, got True"),
        (ATTENTION(add_zero_attn=True), "add_zero_attn = False, got True"),
        (ATTENTION(kdim=6), "kdim = vdim = embed_dim = 8, got 6 and 8"),
        (ENCODER_LAYER(activation=torch.tanh), ACTIVATION + "tanh"),
        (ENCODER_LAYER(activation=nn.SiLU()), ACTIVATION + "SiLU"),
        (nn.TransformerDecoder(DECODER_LAYER(activation=F.silu), 1), ACTIVATION + "silu"),
        (ENCODER(ENCODER_LAYER(), 1, nn.RMSNorm(8)), PARTS + "RMSNorm"),
        (nn.Linear(8, 8), KINDS + "Linear"),
        (own(nn.MultiheadAttention)(8, 2), KINDS + "OwnMultiheadAttention"),
        (own(nn.TransformerEncoderLayer)(8, 2, 12), KINDS + "OwnTransformerEncoderLayer"),
        (own(ENCODER)(ENCODER_LAYER(), 1), KINDS + "OwnTransformerEncoder"),
        (ENCODER(own(nn.TransformerEncoderLayer)(8, 2, 12), 1), KINDS + "OwnTransformerEnc"),
        (own(nn.Transformer)(8, 2, 1, 1, 12), KINDS + "OwnTransformer"),
        (
            pruned(ATTENTION(), "out_proj"),
            (
                "MultiheadAttention of ['in_proj_bias', 'in_proj_weight', 'out_proj.bias', "
                "'out_proj.weight'], got ['out_proj.weight_mask', 'out_proj.weight_orig'] as well"
            ),
        ),
        (pruned(ENCODER_LAYER(), "linear1"), PRUNED),
    ],
)
def test_from_torch_refuses_modules_without_counterpart(theirs, message):
    with pytest.raises(ValueError, match="^module: expected " + re.escape(message)):
        from_torch(theirs)


def changed(module=None, **parts):
    ours = DecoderLayer(**SIZES) if module is None else module
    vars(ours)["_modules"].update(parts)
    return ours


HEADS = partial(MultiHeadAttention, 8, 2)
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
OURS = "MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Decoder or Transformer, got "


@pytest.mark.parametrize(
    "ours, message",
    [
        (layer_of(EncoderLayer, n_kv_heads=1), "n_kv_heads = n_heads = 2 for PyTorch, got 1"),
        (HEADS(relative=RotaryPositions()), "relative = None for PyTorch, got RotaryPositions"),
        (
            HEADS(attention=own(ScaledDotProduct)()),
            "attention a ScaledDotProduct for PyTorch, got OwnScaledDotProduct",
        ),
        (layer_of(EncoderLayer, activation="geglu"), ACTIVATION + "geglu"),
        (layer_of(DecoderLayer, normalization="rms"), PARTS + "RMSNorm"),
        (
            changed(feed_forward=own(FeedForward)(8, 12)),
            "feed_forward a FeedForward for PyTorch, got OwnFeedForward",
        ),
        (changed(cross_attention=own(MultiHeadAttention)(8, 2)), OURS + "OwnMultiHeadAttention"),
        *(
            (changed(HEADS(), **{name: own(nn.Linear)(8, 8)}), PARTS + "OwnLinear")
            for name in PROJECTIONS
        ),
        (changed(HEADS(), k_proj=pruned(nn.Linear(8, 8))), PRUNED),
        (own(EncoderLayer)(**SIZES), OURS + "OwnEncoderLayer"),
        (
            own(Encoder)(TransformerConfig(1, d_model=8, n_heads=2, n_layers=1, d_ff=8)),
            OURS + "OwnEncoder",
        ),
        (nn.Linear(8, 8), OURS + "Linear"),
    ],
)
def test_to_torch_refuses_modules_without_counterpart(ours, message):
    with pytest.raises(ValueError, match="^module: expected " + re.escape(message)):
        to_torch(ours)
