"""The programs of the documents, written anew: how they behave with their errors and without.

The documents are not in the repository, nor is their code. Each part below is written from the
mathematics, with the parts, sizes, inputs and order of axes of the program it stands for, and
the tests ask of it what the errata say of that program. The ledgers name these tests.
"""

import math

import numpy as np
import pytest
import torch
from torch import nn

from attn import reference

PAD_ID, START_ID, END_ID = 0, 1, 2


pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


# Autoatención y Atención Multi-Cabeza, 3.3.2 and 3.3.3: attention in NumPy ------------------------


def hide_by_multiplying(scores, mask):
    """Mask by multiplying: forbidden scores become zero and not -inf."""
    return scores if mask is None else scores * mask - 1e9 * (1 - mask)


def one_head(x, w_q, w_k, w_v, mask=None):
    query, key, value = x @ w_q, x @ w_k, x @ w_v
    scores = hide_by_multiplying(query @ key.T / np.sqrt(key.shape[1]), mask)
    weights = reference.softmax(scores)
    return weights @ value, weights


def several_heads(x, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """Take the columns of one head of ``w_q`` from all three matrices."""
    width = w_q.shape[1] // n_heads
    columns = [slice(head * width, (head + 1) * width) for head in range(n_heads)]
    heads = [one_head(x, w_q[:, part], w_k[:, part], w_v[:, part], mask) for part in columns]
    return np.concatenate([output for output, _ in heads], axis=1) @ w_o, [a for _, a in heads]


def four_tokens():
    rng = np.random.default_rng(0)
    x = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    mask = np.ones((4, 4))
    mask[2, 3] = 0
    return x, *(0.1 * rng.normal(size=(3, width)) for width in (2, 2, 4)), mask


def test_self_attention_of_000_is_the_oracle_and_its_shapes_are_those_noted():
    x, w_q, w_k, w_v, mask = four_tokens()
    output, weights = one_head(x, w_q, w_k, w_v, mask)
    expected = reference.self_attention(x, w_q, w_k, w_v, mask == 1)
    assert np.allclose(output, expected[0]) and np.allclose(weights, expected[1])
    assert [array.shape for array in (x @ w_q, x @ w_k, x @ w_v)] == [(4, 2), (4, 2), (4, 4)]
    assert weights.shape == (4, 4)
    # The output has the d_v columns of the values, although the documentation promises those of x.
    assert output.shape == (4, 4)
    assert weights[2, 3] == 0 and (np.delete(weights, 3, axis=1) > 0).all()


def test_multi_head_attention_of_000_is_the_oracle_while_its_matrices_are_square():
    rng = np.random.default_rng(0)
    x, *matrices = rng.normal(size=(4, 8)), *0.1 * rng.normal(size=(4, 8, 8))
    output, weights = several_heads(x, *matrices, n_heads=2, mask=np.tri(4))
    expected = reference.multi_head_attention(
        x, x, x, *matrices, n_heads=2, mask=np.tri(4, dtype=bool)
    )
    assert np.allclose(output, expected[0]) and np.allclose(weights, expected[1])
    assert output.shape == (4, 8) and [a.shape for a in weights] == [(4, 4), (4, 4)]


def test_multi_head_attention_of_000_leaves_out_the_columns_of_wider_values():
    rng = np.random.default_rng(0)
    x, w_q, w_k, w_o = rng.normal(size=(4, 8)), *rng.normal(size=(3, 8, 8))
    w_v = rng.normal(size=(8, 16))
    before, _ = several_heads(x, w_q, w_k, w_v, w_o, n_heads=2)
    w_v[:, 8:] = 0
    after, _ = several_heads(x, w_q, w_k, w_v, w_o, n_heads=2)
    assert np.array_equal(before, after)
    with pytest.raises(ValueError, match="mismatch"):
        several_heads(x, w_q, w_k, w_v, rng.normal(size=(16, 8)), n_heads=2)


# Section 3.3.4: the summariser --------------------------------------------------------------------


class Summariser(nn.Module):
    """One layer of attention, a table of positions that stays zero, and logits for a vocabulary."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, max_len=512):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(max_len, d_model))
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.network = nn.Sequential(nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        self.output = nn.Linear(d_model, vocab_size)

    def forward(self, ids, is_pad=None):
        x = self.tokens(ids) + self.positions[: ids.shape[1]]
        attended, weights = self.attention(x, x, x, key_padding_mask=is_pad)
        x = self.norms[0](x + attended)
        return self.output(self.norms[1](x + self.network(x))), weights


@torch.no_grad()
def most_attended(model, ids, n_tokens):
    """Take the words from the first text, even in a batch of several texts."""
    _, weights = model(ids)
    received = weights.mean(dim=1).squeeze()
    return ids[0, received.topk(n_tokens).indices.sort().values]


def summariser_and_text(n_words=27):
    model = Summariser(300, 32, 8, 64).eval()
    return model, torch.randperm(300)[:n_words][None]


def test_the_summariser_of_000_has_one_layer_and_its_output_is_logits():
    model, ids = summariser_and_text()
    logits, weights = model(ids)
    assert logits.shape == (1, 27, 300) and weights.shape == (1, 27, 27)
    assert not torch.isclose(logits.exp().sum(dim=-1), torch.ones(1, 27)).any()
    assert sum(isinstance(part, nn.MultiheadAttention) for part in model.modules()) == 1
    with torch.no_grad():
        model.output.weight.zero_()
    # The summary does not depend on the logits.
    assert torch.equal(model(ids)[1], weights)


def test_the_summary_of_000_stops_at_150_tokens_and_keeps_the_order_of_fewer():
    model, ids = summariser_and_text()
    with pytest.raises(RuntimeError, match="out of range"):
        most_attended(model, ids, 150)
    found = most_attended(model, ids, 9).tolist()
    places = [ids[0].tolist().index(token) for token in found]
    assert len(found) == 9 and places == sorted(places)
    model, ids = summariser_and_text(n_words=150)
    assert torch.equal(most_attended(model, ids, 150), ids[0])


def test_both_summaries_of_000_come_from_the_first_text():
    model, first = summariser_and_text()
    ids = torch.cat([first, first.flip(1) % 7 + 290])
    found = most_attended(model, ids, 4)
    assert found.shape == (2, 4) and torch.isin(found, first).all()


def test_the_summariser_of_000_neither_tells_places_apart_nor_hides_padding_by_itself():
    model, _ = summariser_and_text()
    logits, weights = model(torch.tensor([[5, 6, 5]]))
    assert torch.allclose(logits[0, 0], logits[0, 2])
    assert torch.allclose(weights[..., 0], weights[..., 2])
    padded = torch.tensor([[5, 6, 5, PAD_ID, PAD_ID]])
    assert not torch.allclose(model(padded)[0][:, :3], logits, atol=1e-3)
    assert torch.allclose(model(padded, padded == PAD_ID)[0][:, :3], logits, atol=1e-5)


# Section 3.3.4: the translator --------------------------------------------------------------------


def sines_and_cosines(n_positions, d_model):
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000) / d_model))
    angles = torch.arange(n_positions)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


class BatchFirstPositions(nn.Module):
    def __init__(self, d_model, n_positions=100):
        super().__init__()
        self.register_buffer("table", sines_and_cosines(n_positions, d_model)[None])

    def forward(self, x):
        return x + self.table[:, : x.shape[1]]


class SentenceTranslator(nn.Module):
    """Take ids of shape (batch, length); the correction is ``batch_first``."""

    def __init__(self, src_vocab_size=20, tgt_vocab_size=20, d_model=16, batch_first=True):
        super().__init__()
        self.src_tokens = nn.Embedding(src_vocab_size, d_model)
        self.tgt_tokens = nn.Embedding(tgt_vocab_size, d_model)
        self.positions = BatchFirstPositions(d_model)
        self.core = nn.Transformer(d_model, 2, 1, 1, 32, dropout=0.0, batch_first=batch_first)
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        def causal(ids):
            return nn.Transformer.generate_square_subsequent_mask(ids.shape[1])

        hidden = self.core(
            self.positions(self.src_tokens(src)),
            self.positions(self.tgt_tokens(tgt)),
            src_mask=causal(src) if src_mask is None else src_mask,
            tgt_mask=causal(tgt) if tgt_mask is None else tgt_mask,
        )
        return self.output(hidden)


def criterion():
    return nn.CrossEntropyLoss(ignore_index=PAD_ID)


def train_translator(model, batches, epochs, inputs, targets):
    optimizer, loss_of = torch.optim.Adam(model.parameters(), lr=1e-2), criterion()
    for _ in range(epochs):
        losses = []
        for src, tgt in batches:
            logits = model(src, inputs(tgt))
            loss = loss_of(logits.flatten(0, 1), targets(tgt).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        yield sum(losses) / len(batches)


@torch.no_grad()
def write(model, src, max_len):
    """Decode greedily, token by token; the returned ids keep the start token."""
    ids = [START_ID]
    for _ in range(max_len):
        best = model(src, torch.tensor([ids]))[0, -1].argmax().item()
        if best == END_ID:
            break
        ids.append(best)
    return ids


def test_the_translator_of_000_cannot_be_built_without_import_math(monkeypatch):
    assert SentenceTranslator()(torch.ones(2, 5).long(), torch.ones(2, 3).long()).shape[-1] == 20
    monkeypatch.delitem(globals(), "math")
    with pytest.raises(NameError, match="'math'"):
        SentenceTranslator()


def test_the_translator_of_000_mixes_sentences_unless_the_batch_goes_first():
    tgt, unequal = torch.randint(3, 20, (3, 4)), torch.randint(3, 20, (2, 4))
    src = torch.randint(3, 20, (3, 4))
    with pytest.raises(RuntimeError, match="batch number|shape"):
        SentenceTranslator(batch_first=False)(unequal[:, :3], unequal[:, :2])
    square = torch.randint(3, 20, (4, 4))
    changed = square.clone()
    changed[0] = torch.randint(3, 20, (4,))
    for batch_first in (False, True):
        model = SentenceTranslator(batch_first=batch_first)
        moved = (model(square, square) - model(changed, square))[1:].abs().max()
        assert (moved > 1e-3) == (not batch_first)
    assert SentenceTranslator()(src, tgt).shape == (3, 4, 20)


def test_the_translator_of_000_hides_the_future_of_the_source_when_given_no_mask():
    model = SentenceTranslator()
    memories = []
    model.core.encoder.register_forward_hook(lambda *call: memories.append(call[-1]))
    for mask in (None, torch.zeros(4, 4)):
        for last in (3, 4):
            model(torch.tensor([[5, 6, 7, last]]), torch.tensor([[START_ID]]), src_mask=mask)
    hidden, given = (abs(memories[i] - memories[i + 1])[0, :3].max() for i in (0, 2))
    assert hidden == 0 and given > 1e-3


def test_the_training_of_000_drops_a_sentence_until_it_cuts_the_second_axis():
    src = torch.randint(3, 20, (4, 5))
    tgt = torch.cat([torch.full((4, 1), START_ID), src[:, :3], torch.full((4, 1), END_ID)], dim=1)
    assert tgt[:-1].shape == (3, 5) and tgt[:, :-1].shape == (4, 4)
    batches = [(src, tgt)]
    unmended = train_translator(
        SentenceTranslator(), batches, 1, lambda ids: ids[:-1], lambda ids: ids[1:]
    )
    with pytest.raises(RuntimeError, match="batch number"):
        next(unmended)
    model = SentenceTranslator()
    losses = list(
        train_translator(model, batches, 60, lambda ids: ids[:, :-1], lambda ids: ids[:, 1:])
    )
    assert losses[-1] < 0.1 * losses[0]
    assert [write(model, row[None], 10)[1:] for row in src] == src[:, :3].tolist()


def test_the_use_of_000_lacks_the_padding_id_stops_and_returns_the_start_token(monkeypatch):
    src = torch.tensor([[5, 6, 7]])
    with pytest.raises(RuntimeError, match="batch number|shape"):
        write(SentenceTranslator(batch_first=False), src, 4)
    assert write(SentenceTranslator(), src, 4)[0] == START_ID
    monkeypatch.delitem(globals(), "PAD_ID")
    with pytest.raises(NameError, match="'PAD_ID'"):
        criterion()


# Section 3.3.4: the reader ------------------------------------------------------------------------


class Reader(nn.Module):
    """Question tokens are queries and context tokens keys; each question token has two logits."""

    def __init__(self, vocab_size=40, d_model=16, n_heads=2, batch_first=True):
        super().__init__()
        options = {"dropout": 0.0, "batch_first": batch_first}
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = BatchFirstPositions(d_model)
        self.encoders = nn.ModuleList(
            nn.TransformerEncoder(
                nn.TransformerEncoderLayer(d_model, n_heads, 32, **options),
                num_layers=1,
                enable_nested_tensor=False,
            )
            for _ in range(2)
        )
        self.cross = nn.MultiheadAttention(d_model, n_heads, batch_first=batch_first)
        self.start, self.end = nn.Linear(d_model, 1), nn.Linear(d_model, 1)

    def forward(self, question, context):
        asked, told = (
            encode(self.positions(self.tokens(ids)))
            for encode, ids in zip(self.encoders, (question, context), strict=True)
        )
        attended, weights = self.cross(asked, told, told)
        return self.start(attended).squeeze(-1), self.end(attended).squeeze(-1), weights


QUESTION = torch.arange(3, 9)[None]  # six words, as in its example
CONTEXT = torch.arange(9, 19)[None]  # ten words


def test_the_reader_of_000_stops_or_shares_nothing_unless_the_batch_goes_first():
    unmended = Reader(batch_first=False)
    with pytest.raises(RuntimeError, match="shape"):
        unmended(QUESTION, CONTEXT)
    before, _, weights = unmended(QUESTION, CONTEXT[:, :6])
    assert torch.equal(weights, torch.ones(6, 1, 1))
    changed = CONTEXT[:, :6].clone()
    changed[0, 2] = 30
    # The program treats each token as a sentence, so only its own logit changes.
    after, _, _ = unmended(QUESTION, changed)
    assert ((after - before)[0].abs() > 1e-6).tolist() == [place == 2 for place in range(6)]
    _, _, weights = Reader()(QUESTION, CONTEXT)
    assert weights.shape == (1, 6, 10) and (weights < 1).all()


def test_the_reader_of_000_cannot_point_beyond_the_length_of_its_question():
    start, end, _ = Reader()(QUESTION, CONTEXT)
    assert start.shape == end.shape == (1, 6)
    last_word = CONTEXT.shape[1] - 1
    assert last_word not in range(start.shape[1])


def test_the_reader_of_000_looks_for_the_end_on_the_axis_of_the_batch():
    end = torch.tensor([[0.0, 3.0, 0.5]])
    # With a start of 0 the mistake would not show.
    assert end[0:].argmax() == 1
    with pytest.raises(IndexError, match="numel"):
        end[2:].argmax()
    assert end[0, 2:].argmax() + 2 == 2


# The note on self-attention: the module -----------------------------------------------------------


class TransposingAttention(nn.Module):
    """Self-attention that writes ``.T`` for ``.mT``."""

    def __init__(self, d_model):
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(3)
        )

    def forward(self, x):
        scores = self.query(x) @ self.key(x).T / np.sqrt(x.shape[-1])
        weights = scores.softmax(dim=-1)
        return (weights @ self.value(x)).reshape(x.shape), weights


@torch.no_grad()
def oracle_of_002(module, x):
    matrices = (part.weight.T.numpy() for part in (module.query, module.key, module.value))
    return reference.self_attention(x.numpy(), *matrices)


@torch.no_grad()
def test_the_module_of_002_is_the_oracle_on_one_sentence():
    module, x = TransposingAttention(8), torch.randn(6, 8)
    output, weights = module(x)
    expected = oracle_of_002(module, x)
    assert np.allclose(output, expected[0], atol=1e-6)
    assert np.allclose(weights, expected[1], atol=1e-6)
    assert output.shape == x.shape and weights.shape == (6, 6)


@pytest.mark.filterwarnings("ignore:The use of `x.T` on tensors")
@torch.no_grad()
def test_the_module_of_002_stops_on_a_batch_or_computes_something_else():
    with pytest.raises(RuntimeError, match="size of tensor"):
        TransposingAttention(8)(torch.randn(2, 6, 8))
    module, x = TransposingAttention(3), torch.randn(3, 3, 3)
    output, _ = module(x)
    assert not np.allclose(output, oracle_of_002(module, x)[0], atol=1e-3)


# NLP con Transformadores, 4.2.5: the model, length first ------------------------------------------


class LengthFirstPositions(nn.Module):
    def __init__(self, d_model, n_positions=5000):
        super().__init__()
        self.register_buffer("table", sines_and_cosines(n_positions, d_model)[:, None])

    def forward(self, x):
        return x + self.table[: x.shape[0]]


class LengthFirstLayer(nn.Module):
    """An encoder layer, or a decoder layer if it has a cross-attention."""

    def __init__(self, d_model, n_heads, dropout, is_decoder):
        super().__init__()
        self.own = nn.MultiheadAttention(d_model, n_heads, dropout)
        self.cross = nn.MultiheadAttention(d_model, n_heads, dropout) if is_decoder else None
        self.wide, self.narrow = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2 + is_decoder))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, own_mask, memory=None, memory_mask=None):
        def sublayers():
            yield self.own(x, x, x, attn_mask=own_mask)[0]
            if self.cross is not None:
                yield self.cross(x, memory, memory, attn_mask=memory_mask)[0]
            yield self.narrow(self.dropout(self.wide(x).relu()))

        for norm, computed in zip(self.norms, sublayers(), strict=True):
            x = norm(x + self.dropout(computed))
        return x


class LengthFirstTransformer(nn.Module):
    def __init__(self, src_vocab_size, tgt_vocab_size, d_model, n_layers, n_heads, dropout=0.1):
        super().__init__()
        self.embeddings = nn.ModuleList(
            nn.Embedding(size, d_model) for size in (src_vocab_size, tgt_vocab_size)
        )
        self.positions, self.dropout = LengthFirstPositions(d_model), nn.Dropout(dropout)
        self.encoder, self.decoder = (
            nn.ModuleList(
                LengthFirstLayer(d_model, n_heads, dropout, is_decoder) for _ in range(n_layers)
            )
            for is_decoder in (False, True)
        )
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def forward(self, src, tgt, src_mask=None):
        memory, x = (
            self.dropout(self.positions(table(ids)))
            for table, ids in zip(self.embeddings, (src, tgt), strict=True)
        )
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.shape[0])
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        for layer in self.decoder:
            x = layer(x, causal, memory, src_mask)
        return self.output(x)


def small_model(dropout=0.0):
    return LengthFirstTransformer(100, 100, d_model=16, n_layers=2, n_heads=2, dropout=dropout)


def test_the_model_of_003_cannot_be_built_without_import_math(monkeypatch):
    src, tgt = torch.randint(1, 100, (10, 32)), torch.randint(1, 100, (8, 32))
    assert small_model(dropout=0.1)(src, tgt).shape == (8, 32, 100)
    monkeypatch.delitem(globals(), "math")
    with pytest.raises(NameError, match="'math'"):
        small_model()


def test_the_positions_of_003_are_ours_and_all_differ():
    table = LengthFirstPositions(512).table[:, 0].numpy()
    assert np.allclose(table, reference.sinusoidal_positions(5000, 512), atol=1e-3)
    assert len(np.unique(table, axis=0)) == 5000


def test_the_positions_of_003_number_sentences_when_the_batch_goes_first():
    # The input is two sentences of three words.
    moved = LengthFirstPositions(4)(torch.zeros(2, 3, 4))
    assert torch.equal(moved[:, 0], moved[:, 2]) and not torch.equal(moved[0], moved[1])


@pytest.mark.parametrize("is_decoder", [False, True], ids=["encoder", "decoder"])
@torch.no_grad()
def test_the_layers_of_003_are_pytorchs_given_the_same_weights(is_decoder):
    ours = LengthFirstLayer(16, 2, 0.0, is_decoder).eval()
    kind = nn.TransformerDecoderLayer if is_decoder else nn.TransformerEncoderLayer
    theirs = kind(16, 2, 64, dropout=0.0).eval()
    names = {"own": "self_attn", "cross": "multihead_attn", "wide": "linear1", "narrow": "linear2"}
    names |= {f"norms.{i}": f"norm{i + 1}" for i in range(3)}
    renamed = {
        next(name.replace(old, new) for old, new in names.items() if name.startswith(old)): value
        for name, value in ours.state_dict().items()
    }
    theirs.load_state_dict(renamed)
    x, memory = torch.randn(5, 3, 16), torch.randn(7, 3, 16)
    causal = nn.Transformer.generate_square_subsequent_mask(5)
    if is_decoder:
        expected, found = theirs(x, memory, tgt_mask=causal), ours(x, causal, memory)
    else:
        expected, found = theirs(x, causal), ours(x, causal)
    assert torch.allclose(found, expected, atol=1e-5)


@torch.no_grad()
def test_no_target_token_of_003_moves_the_outputs_before_it_and_padding_moves_them_all():
    model = small_model().eval()
    src, tgt = torch.randint(1, 100, (5, 2)), torch.randint(1, 100, (6, 2))
    before = model(src, tgt)
    for place in range(6):
        changed = tgt.clone()
        changed[place] = tgt[place] % 99 + 1
        moved = (model(src, changed) - before).abs().amax(dim=(1, 2))
        assert (moved[:place] == 0).all() and moved[place] > 0
    padded = torch.cat([src, torch.full((3, 2), PAD_ID)])
    assert (model(padded, tgt) - before).abs().amax(dim=(1, 2)).min() > 1e-3


def test_the_source_mask_of_003_cannot_serve_both_attentions():
    model, mask = small_model().eval(), torch.zeros(10, 10)
    src, tgt = torch.randint(1, 100, (10, 3)), torch.randint(1, 100, (8, 3))
    assert model.encoder[0](model.embeddings[0](src), mask).shape == (10, 3, 16)
    with pytest.raises(RuntimeError, match=r"\(8, 10\)"):
        model(src, tgt, src_mask=mask)


def test_the_embeddings_of_003_go_in_unscaled_and_with_deviation_one():
    model = small_model().eval()
    ids = torch.randint(100, (4, 2))
    went_in = []
    model.encoder[0].register_forward_pre_hook(lambda _, inputs: went_in.append(inputs[0]))
    model(ids, ids)
    assert torch.allclose(went_in[0], model.embeddings[0](ids) + model.positions.table[:4])
    assert abs(nn.Embedding(1000, 64).weight.std().item() - 1) < 0.02


# Transformadores: ¿cómo funcionan internamente?, 3 and 4.1: positions, softmax --------------------


def position_of_004(position, d_model=512, factor=2):
    """Return one position; ``column`` already goes in twos, so the right ``factor`` is 1."""
    row = []
    for column in range(0, d_model, 2):
        angle = position / 10_000 ** (factor * column / d_model)
        row += [math.sin(angle), math.cos(angle)]
    return row


def test_the_positions_of_004_follow_the_formula_once_the_index_is_not_doubled():
    expected = reference.sinusoidal_positions(50, 512)
    assert np.allclose(position_of_004(3, factor=1), expected[3])
    assert not np.allclose(position_of_004(3), expected[3], atol=0.1)
    printed = np.array([position_of_004(position) for position in range(50)])
    still = [(np.ptp(table, axis=0) < 0.01).mean() for table in (printed, expected)]
    assert still[0] > 0.5 > still[1]


def softmax_of_004(x):
    shifted = np.exp(x - x.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def test_the_softmax_of_004_is_right_for_one_matrix_and_not_for_a_stack_of_heads():
    scores = np.array(
        [
            [13.75, 11.5, 7.75, 7.5],
            [11.88, 12.38, 11.25, 10],
            [8.13, 11.25, 13.75, 8.75],
            [7.5, 11.25, 9.38, 13.13],
        ]
    )
    assert np.allclose(softmax_of_004(scores), reference.softmax(scores))
    assert softmax_of_004(scores)[0, 0].round(8) == 0.90105641
    heads = np.stack([scores] * 8)
    assert not np.allclose(softmax_of_004(heads).sum(axis=-1), 1, atol=0.05)
