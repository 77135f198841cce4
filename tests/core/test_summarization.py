"""attn.applications.summarization: the stories, generated headlines and extracted sentences."""

import dataclasses
import functools
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

import attn.applications.summarization.summarizer as summarizer_module
from attn.applications import _sequences
from attn.applications._sequences import collate, sequence_loss
from attn.applications.summarization import Summarizer, lead
from attn.applications.summarization.sentences import sentences_of
from attn.applications.summarization.summarizer import TRAINING
from attn.metrics import rouge
from attn.transformer import Transformer, TransformerConfig
from attn_course import stories as stories_module
from attn_course.stories import Story, stories
from tests.core.helpers import pattern
from tests.refusals import refusals

# The data are parsed independently: every template as a regular expression.

TABLES = tomllib.loads(
    Path(stories_module.__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


@functools.cache
def background():
    return [("background", pattern(TABLES, text)) for text in TABLES["background"]["sentences"]]


@functools.cache
def events_told():
    """Return for every event the patterns of its sentences, each with its part."""
    return {
        name: [
            (part, pattern(TABLES, text))
            for part in ("what", "rest", "details")
            for text in event[part]
        ]
        for name, event in TABLES["events"].items()
    }


def readings_of(text):
    """Return every event that a story may tell: its name, the parts, and the captured values."""
    sentences = re.split(r"(?<=\.) ", text)
    found = []
    for name, templates in events_told().items():
        parts, values = [], []
        for sentence in sentences:
            for part, template in templates + background():
                match = template.fullmatch(sentence)
                if match:
                    parts.append(part)
                    values.append(match.groupdict())
        if len(parts) == len(sentences):
            found.append((name, parts, values))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("unseen", [False, True])
def test_every_story_tells_its_headline_in_two_of_four_to_six_sentences(unseen):
    events, counts, places = set(), set(), set()
    for text, headline in stories(200, seed=3, unseen=unseen):
        [(name, parts, values)] = readings_of(text)
        assert parts.count("what") == parts.count("rest") == 1
        what, rest = parts.index("what"), parts.index("rest")
        told = TABLES["events"][name]["headline"].format(**values[what] | values[rest])
        assert headline == told[0].upper() + told[1:]
        events.add(name)
        counts.add(len(parts))
        places.add(what)
    assert events == {*events_told()} and len(events) == 12
    assert counts == {4, 5, 6} and places == {0, 1, 2, 3, 4, 5}


def test_no_two_sentences_of_a_story_are_the_same_and_no_two_slots_share_a_value():
    for text, _ in stories(100, seed=4):
        [(_, _, values)] = readings_of(text)
        story = {slot: value.lower() for some in values for slot, value in some.items()}
        assert len({*story.values()}) == len(story)
        sentences = re.split(r"(?<=\.) ", text)
        assert len({*sentences}) == len(sentences)
        assert all(sentence.strip('"')[0].isupper() for sentence in sentences)


@pytest.mark.slow
def test_held_out_headlines_are_in_no_training_story():
    seen = {story.headline for story in stories(1500, seed=0)}
    unseen = {story.headline for story in stories(400, seed=1, unseen=True)}
    assert len(unseen) > 280 and not seen & unseen


def test_stories_depend_on_the_seed():
    assert stories(20, seed=3) == stories(40, seed=3)[:20]
    assert not {*stories(20, seed=3)} & {*stories(20, seed=4)}
    assert stories(0, seed=1) == []


test_stories_refuses_invalid_arguments = refusals(
    ({"n": -1, "seed": 0}, "n: expected at least 0, got -1$"),
    ({"n": 0.5, "seed": 0}, "n: expected an integer, got 0.5$"),
    ({"n": 1, "seed": -1}, "seed: expected at least 0, got -1$"),
    ({"n": 1, "seed": None}, "seed: expected an integer, got None$"),
    of=lambda arguments: stories(**arguments),
)


# Sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two? Three! Four", ["One.", "Two?", "Three!", "Four"]),
        (" It costs 3.50 euros.\n Well... yes. ", ["It costs 3.50 euros.", "Well...", "yes."]),
        ('"Why not?" said Ana. "Because."', ['"Why not?" said Ana.', '"Because."']),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_where_a_mark_meets_a_space(text, sentences):
    assert sentences_of(text) == sentences


@given(st.text(alphabet='ab.?! \n"', min_size=1))
def test_sentences_together_have_all_characters_but_spaces(text):
    assert "".join("".join(sentences_of(text)).split()) == "".join(text.split())


def test_the_lead_is_the_first_sentences():
    text = "One. Two. Three."
    assert [lead(text), lead(text, 2), lead(text, 9)] == ["One.", "One. Two.", text]
    with pytest.raises(ValueError, match="^n_sentences: expected at least 1, got 0$"):
        lead(text, 0)


# Loss


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_the_loss_is_that_of_the_tokens_of_the_headlines(label_smoothing):
    torch.manual_seed(0)
    config = TransformerConfig(12, d_model=16, n_heads=2, n_layers=1, d_ff=32, dropout=0.0)
    model = Transformer(config).eval()
    pairs = [([7, 8, 9], [10]), ([5], [6, 7, 11])]
    total, count = sequence_loss(model, collate(pairs), label_smoothing=label_smoothing)
    right = 0.0
    for story, headline in pairs:
        logits, _ = model(torch.tensor(story), torch.tensor([2, *headline]))
        right += cross_entropy(
            logits, torch.tensor([*headline, 3]), reduction="sum", label_smoothing=label_smoothing
        )
    torch.testing.assert_close(total, right)
    assert int(count) == 6
    if not label_smoothing:
        assert sequence_loss(model, collate(pairs)) == (total, count)


# The whole system, trained briefly on two events

SHORT = dataclasses.replace(TRAINING, steps=200, warmup_steps=50, learning_rate=4e-3)


def some_stories(n, seed, unseen):
    return [s for s in stories(n, seed, unseen=unseen) if re.search("elected|injured", s.headline)]


@pytest.fixture(scope="module", params=[pytest.param("trained", marks=pytest.mark.slow)])
def trained():
    """Train once; the mark makes every test that uses this fixture slow."""
    return Summarizer.fit(some_stories(6000, 0, unseen=False), training=SHORT)


@pytest.fixture(scope="module")
def untrained():
    """A summarizer with hardly any training, for tests that need no learned behaviour."""
    training = dataclasses.replace(SHORT, steps=1)
    return Summarizer.fit(some_stories(200, 0, unseen=False), training=training)


@pytest.fixture(scope="module")
def unseen():
    return some_stories(400, 1, unseen=True)


def test_it_learns_to_write_headlines_it_has_never_seen(trained, unseen):
    assert trained.evaluate(unseen)["exact_match"] > 0.85


def test_a_headline_equals_greedy_decoding_step_by_step(untrained, unseen):
    tokenizer = untrained.tokenizer
    for text, _ in unseen[:2]:
        src, ids = torch.tensor([tokenizer.encode(text)]), [tokenizer.sos_id]
        while ids[-1] != tokenizer.eos_id and len(ids) <= summarizer_module.MAX_TOKENS:
            with torch.no_grad():
                logits, _ = untrained.model(src, torch.tensor([ids]))
            ids.append(int(logits[0, -1].argmax()))
        assert untrained.generate(text) == tokenizer.decode(ids)


def test_texts_in_a_batch_get_the_same_headlines_as_alone(trained, unseen):
    parts = [" ".join(sentences_of(text)[: 1 + i % 6]) for i, (text, _) in enumerate(unseen)]
    alone = [Story(part, trained.generate(part)) for part in parts]
    assert len({headline for _, headline in alone}) > 20
    assert trained.evaluate(alone)["exact_match"] == 1


def test_a_headline_is_cut_at_the_greatest_number_of_tokens(untrained, unseen, monkeypatch):
    whole = untrained.generate(unseen[0].text)
    monkeypatch.setattr(summarizer_module, "MAX_TOKENS", 3)
    assert untrained.generate(unseen[0].text).split() == whole.split()[:3]


def test_sentence_scores_are_the_mean_attention_that_words_receive(untrained, unseen):
    for text, _ in unseen[:5]:
        sentences, scores = untrained.sentence_scores(text)
        assert sentences == sentences_of(text)
        weights = untrained.attention(text).encoder
        received = weights.sum(axis=(0, 1, 2)) / np.prod(weights.shape[:3])
        first = 0
        for sentence, score in zip(sentences, scores, strict=True):
            n_words = len(untrained.tokenizer.encode(sentence))
            assert score == pytest.approx(received[first : first + n_words].mean(), rel=1e-5)
            first += n_words
        assert first == len(received)
        assert received.sum() == pytest.approx(1.0, rel=1e-5)


def test_the_sentences_with_the_highest_scores_are_picked_in_their_order(untrained, unseen):
    for text, _ in unseen[:10]:
        sentences, scores = untrained.sentence_scores(text)
        ranked = sorted(range(len(sentences)), key=lambda i: -scores[i])
        for n in range(1, len(sentences) + 1):
            right = [sentence for i, sentence in enumerate(sentences) if i in ranked[:n]]
            assert untrained.extract(text, n) == " ".join(right)
        assert untrained.extract(text) == untrained.extract(text, 1)
        assert untrained.extract(text, 99) == text


def test_evaluation_compares_with_the_headlines_and_the_lead(untrained, unseen, monkeypatch):
    monkeypatch.setattr(_sequences, "SEQUENCES_AT_A_TIME", 5)
    monkeypatch.setattr(summarizer_module, "MAX_TOKENS", 4)
    some = [*unseen[:12], Story(unseen[12].text, "Nothing of the kind")]
    right = [story.headline for story in some]
    written = [untrained.generate(story.text) for story in some]
    for n, arguments in ((1, ()), (2, (2,))):
        numbers = untrained.evaluate(some, *arguments)
        assert numbers == {
            "exact_match": sum(map(str.__eq__, written, right)) / 13,
            "generate": rouge(written, right),
            "extract": rouge([untrained.extract(story.text, n) for story in some], right),
            "lead": rouge([lead(story.text, n) for story in some], right),
            "n_stories": 13,
        }
        assert numbers["exact_match"] < 1
        assert numbers["extract"] != numbers["lead"] != numbers["generate"]


def test_attention_is_that_of_the_model_as_it_writes(untrained, unseen):
    text = unseen[0].text
    found = untrained.attention(text)
    assert len(found.headline) == summarizer_module.MAX_TOKENS or found.headline[-1] == "<eos>"
    assert found.story == re.findall(r"[\w-]+|\S", text)
    ids = [untrained.tokenizer.tokens.index(token) for token in found.headline]
    assert untrained.tokenizer.decode(ids) == untrained.generate(text)
    src = torch.tensor(untrained.tokenizer.encode(text))
    with torch.no_grad():
        _, right = untrained.model(src, torch.tensor([2, *ids[:-1]]), need_weights=True)
    for got, layers in zip(found[2:], right, strict=True):
        np.testing.assert_array_equal(got, torch.stack(layers).numpy())
    assert found.cross.shape == (2, 4, len(found.headline), len(found.story))


def test_the_vocabulary_has_the_words_of_stories_and_headlines_with_capitals():
    some = [Story("A cat sat.", "Cat Sits"), Story("The cat ran.", "Cat runs")]
    fitted = Summarizer.fit(some, training=dataclasses.replace(SHORT, steps=1))
    assert {*fitted.tokenizer.tokens[4:]} == {
        *["A", "cat", "sat", ".", "The", "ran", "Cat", "Sits", "runs"]
    }


def test_a_text_without_words_is_refused(untrained):
    uses = (untrained.generate, untrained.extract, untrained.attention, untrained.sentence_scores)
    for use in uses:
        with pytest.raises(ValueError, match="^text: expected at least one word, got ' '$"):
            use(" ")
    with pytest.raises(ValueError, match="^n_sentences: expected at least 1, got 0$"):
        untrained.extract("A word.", 0)
    for story, name in ((Story("", "Yes"), "text"), (Story("Yes.", ""), "headline")):
        with pytest.raises(ValueError, match=f"^{name}: expected at least one word, got ''$"):
            Summarizer.fit([story], training=SHORT)
