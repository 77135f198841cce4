"""Three applications, each measured whole and without one ingredient.

Writes ``notebooks/data/applications.json``, which chapter 10 reads. Each system takes some minutes
of one processor. ``python -m experiments.applications`` measures nothing: it trains the reader, the
headline writer and the visual model that come with the course, or, with the name of one
(``question_answerer``), that one alone.
"""

import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import torch

from attn.applications import models
from attn.applications._sequences import SEQUENCES_AT_A_TIME, predict
from attn.applications._sequences import collate as collate_pairs
from attn.applications.question_answering import QuestionAnswerer, answerer, spans
from attn.applications.question_answering.encoding import collate, encode
from attn.applications.summarization import Summarizer, summarizer
from attn.applications.summarization.sentences import sentences_of
from attn.applications.summarization.summarizer import encode as encode_text
from attn.applications.visual_question import VisualQuestionAnswerer, model
from attn.applications.visual_question import answerer as looker
from attn.metrics import rouge
from attn.tokenizer.words import join
from attn.transformer import Decoder
from attn_course.images import make_examples, words
from attn_course.images.questions import KINDS, Question
from attn_course.passages import questions
from attn_course.stories import stories
from experiments.runner import Experiment, Row

SEEDS = (0, 1)
# The numbers of training examples of the reader and of the writer.
N_TO_READ, N_TO_WRITE = 16_000, 12_000
# The numbers of test examples.
N_QUESTIONS, N_STORIES, N_IMAGES = 1000, 500, 1000
# The steps of the visual model, which learns the spatial relation of two things last.
SEEING_STEPS = 3000
# The number of mistakes that are stored as examples.
N_WRONG = 3
LANGUAGES = ("es", "en")
# The steps and the examples of each language for the models that come with the course.
MODEL_STEPS, MODEL_EXAMPLES = 4000, 20_000
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "notebooks" / "data" / "applications.json"


def rounded(x):
    return round(float(x), 3)


# Reading ------------------------------------------------------------------------------------


@torch.inference_mode()
def read(reader, examples, *, masked=True):
    """Score starts and ends in batches, padded to one length.

    Yields for each example what was encoded, its start and end scores over all tokens, and the
    best span of at most `MAX_WORDS` words, as an index into the flat logits.
    """
    encoded = [
        encode(reader.tokenizer, reader.marks_question_words, *example[:2]) for example in examples
    ]
    for at in range(0, len(encoded), SEQUENCES_AT_A_TIME):
        some = encoded[at : at + SEQUENCES_AT_A_TIME]
        batch = collate(some)
        with without_padding_mask() if not masked else nullcontext():
            start, end, _ = reader.model(batch["ids"], batch["roles"], batch["lengths"])
        best = spans.span_logits(start, end, batch["roles"]).flatten(1).argmax(dim=-1)
        yield from zip(some, start.numpy(), end.numpy(), best.tolist(), strict=True)


def without_padding_mask():
    """Return a context in which the reader may attend to padding."""
    return patch.object(spans, "padding_mask", lambda lengths, seq_len: None)


def joint(one, start, end, best):
    first, more = divmod(best, spans.MAX_WORDS)
    return (first, first + more) if first else None


def apart(one, start, end, best):
    """Return the best start and the best end, chosen separately, of context and "no answer"."""
    places = [0, *range(one.n_before, len(one.tokens))]
    first, last = (max(places, key=lambda i: scores[i]) for scores in (start, end))
    return (first, last) if first or last else None


def forwards(one, start, end, best):
    """Return the best start, then the best end from there on, as some programs do."""
    places = [0, *range(one.n_before, len(one.tokens))]
    first = max(places, key=lambda i: start[i])
    if first == 0:
        return None
    return first, max(range(first, len(one.tokens)), key=lambda i: end[i])


def said(one, span):
    """Return the words of a span, or none if it ends before it starts."""
    if span is None:
        return ""
    return join(one.tokens[span[0] : span[1] + 1])


def reading(steps=answerer.TRAINING.steps, n=N_QUESTIONS, seeds=SEEDS):
    """Return the accuracy of the question answerer, whole and without each ingredient."""
    examples = questions(n, seed=1, unseen=True)
    found = {"n": n, "steps": steps, "seeds": list(seeds), "systems": {}, "wrong": {}}
    kinds = {
        "whole": {},
        "no marks": {"marks_question_words": False},
        "no positions": {"sizes": {"positions": "none"}},
    }
    for seed in seeds:
        for kind, options in kinds.items():
            training = replace(answerer.TRAINING, steps=steps, seed=seed)
            reader = QuestionAnswerer.fit(questions(N_TO_READ, seed), training=training, **options)
            rows = list(read(reader, examples))
            answers = [said(row[0], joint(*row)) for row in rows]
            run = {"exact": share(answers, examples)} | choices(rows, examples)
            if kind == "whole":
                padded = [said(row[0], joint(*row)) for row in read(reader, examples, masked=False)]
                run["unmasked"] = share(padded, examples)
                run["unmasked_by_facts"] = by_facts(padded, examples)
                keep(found["wrong"], "unmasked", examples, padded)
            run["by_facts"] = by_facts(answers, examples)
            found["systems"].setdefault(kind, []).append(run)
            keep(found["wrong"], kind, examples, answers)
            print(kind, seed, run, flush=True)
    return found


def choices(rows, examples):
    """Return the accuracy of three ways to choose a span from the same scores."""
    found = {}
    for rule in (joint, apart, forwards):
        chosen = [rule(*row) for row in rows]
        answers = [said(row[0], span) for row, span in zip(rows, chosen, strict=True)]
        found[rule.__name__] = share(answers, examples)
        if rule is apart:
            # The span runs backwards, or one of its ends is the "no answer" token.
            found["impossible"] = rounded(
                np.mean([s is not None and (s[0] == 0 or s[1] < s[0]) for s in chosen])
            )
    return found


def share(answers, examples):
    pairs = zip(answers, examples, strict=True)
    return rounded(np.mean([answer == example.answer for answer, example in pairs]))


def by_facts(answers, examples):
    """Return the share of right answers by the number of facts in the passage."""
    groups = {}
    for answer, example in zip(answers, examples, strict=True):
        groups.setdefault(len(sentences_of(example.context)), []).append(answer == example.answer)
    return {str(n): rounded(np.mean(groups[n])) for n in sorted(groups)}


def keep(wrong, kind, examples, answers):
    """Keep the mistakes of the first seed with the shortest passages."""
    mistakes = [
        {"context": e.context, "question": e.question, "right": e.answer, "said": answer}
        for e, answer in zip(examples, answers, strict=True)
        if answer != e.answer and e.answer
    ]
    wrong.setdefault(kind, sorted(mistakes, key=lambda m: len(m["context"]))[:N_WRONG])


# Headlines ----------------------------------------------------------------------------------


def ahead():
    """Return a context in which the decoder has no causal mask and sees the tokens to predict."""
    forward = Decoder.forward

    def look_ahead(self, *args, cache=None, **kwargs):
        return forward(self, *args, is_causal=cache is not None, cache=cache, **kwargs)

    return patch.object(Decoder, "forward", look_ahead)


def headlines(steps=summarizer.TRAINING.steps, n=N_STORIES, seeds=SEEDS):
    """Return the accuracy of the summariser, whole and without each ingredient."""
    examples = stories(n, seed=1, unseen=True)
    found = {"n": n, "steps": steps, "seeds": list(seeds), "systems": {}, "wrong": {}}
    kinds = {"whole": {}, "no positions": {"sizes": {"positions": "none"}}, "no causal mask": {}}
    for seed in seeds:
        for kind, options in kinds.items():
            training = replace(summarizer.TRAINING, steps=steps, seed=seed)
            context = ahead if kind == "no causal mask" else nullcontext
            with context():
                writer = Summarizer.fit(stories(N_TO_WRITE, seed), training=training, **options)
                given = tokens_right(writer, examples)
            written = [writer.generate(example.text) for example in examples]
            pairs = list(zip(written, examples, strict=True))
            run = {
                "tokens": given,
                "exact": rounded(np.mean([text == e.headline for text, e in pairs])),
                "empty": rounded(np.mean([not text for text in written])),
                "rouge1": rounded(rouge(written, [e.headline for e in examples])["rouge1"]),
            }
            if kind == "whole":
                run |= extracts(writer, examples)
                found.setdefault("shown", picked(writer, examples))
            found["systems"].setdefault(kind, []).append(run)
            mistakes = [
                {"text": e.text, "right": e.headline, "said": text}
                for text, e in pairs
                if text != e.headline
            ]
            mistakes.sort(key=lambda mistake: len(mistake["text"]))
            found["wrong"].setdefault(kind, mistakes[:N_WRONG])
            print(kind, seed, run, flush=True)
    return found


@torch.inference_mode()
def tokens_right(writer, examples):
    """Return the share of tokens predicted right when all tokens before them are right."""
    pairs = [
        (encode_text(writer.tokenizer, "text", e.text), writer.tokenizer.encode(e.headline))
        for e in examples
    ]
    right = total = 0
    for at in range(0, len(pairs), 100):
        logits, targets = predict(writer.model, collate_pairs(pairs[at : at + 100]))
        real = targets != writer.tokenizer.pad_id
        right += int((logits.argmax(dim=-1) == targets)[real].sum())
        total += int(real.sum())
    return rounded(right / total)


def extracts(writer, examples):
    """Return, by how a sentence is chosen, its ROUGE-1 and how often it is the best sentence.

    ``random`` is the expectation for a sentence chosen at random.
    """
    chosen = {name: [] for name in ("attention", "similarity", "first", "longest", "best")}
    about = []
    for text, headline in examples:
        sentences, received = writer.sentence_scores(text)
        overlap = [rouge([sentence], [headline])["rouge1"] for sentence in sentences]
        chosen["attention"].append(int(np.argmax(received)))
        chosen["similarity"].append(int(np.argmax(centrality(sentences))))
        chosen["first"].append(0)
        chosen["longest"].append(int(np.argmax([len(s.split()) for s in sentences])))
        chosen["best"].append(int(np.argmax(overlap)))
        about.append(overlap)
    names = {
        name: rounded(np.mean([overlap[i] for overlap, i in zip(about, places, strict=True)]))
        for name, places in chosen.items()
    } | {"random": rounded(np.mean([np.mean(overlap) for overlap in about]))}
    picks = {
        name: rounded(np.mean(np.equal(places, chosen["best"]))) for name, places in chosen.items()
    } | {"random": rounded(np.mean([1 / len(overlap) for overlap in about]))}
    return {"extract": names, "picks_best": picks}


# The number of stories that are shown, and of the most attended words of each.
N_SHOWN, N_WORDS = 3, 8


@torch.inference_mode()
def picked(writer, examples):
    """Return the first stories in which attention chooses a sentence that is not the best one."""
    rows = []
    for text, headline in examples:
        sentences, received = writer.sentence_scores(text)
        overlap = [rouge([sentence], [headline])["rouge1"] for sentence in sentences]
        if np.argmax(received) != np.argmax(overlap) and len(sentences) == 4:
            ids = encode_text(writer.tokenizer, "text", text)
            _, weights = writer.model.encode(torch.tensor(ids), need_weights=True)
            each = torch.stack(weights).mean(dim=(0, 1, 2))
            best = each.topk(N_WORDS).indices.sort().values
            rows.append(
                {
                    "sentences": sentences,
                    "received": [rounded(len(ids) * x) for x in received],
                    "overlap": [rounded(x) for x in overlap],
                    "words": [writer.tokenizer.tokens[ids[i]] for i in best],
                    "headline": headline,
                    "written": writer.generate(text),
                }
            )
        if len(rows) == N_SHOWN:
            break
    return rows


def centrality(sentences):
    """Return how similar each sentence is to the others: the mean cosine of their word counts."""
    words = [[word.strip(".,").lower() for word in sentence.split()] for sentence in sentences]
    vocabulary = sorted({word for some in words for word in some})
    counts = np.array([[some.count(word) for word in vocabulary] for some in words], dtype=float)
    unit = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    alike = unit @ unit.T
    return (alike.sum(axis=1) - 1) / max(len(sentences) - 1, 1)


# Seeing -------------------------------------------------------------------------------------


def nowhere(n, d, slowest):
    """Replace `sinusoidal_positions` by zeros: every row and column has the same position."""
    return torch.zeros(n, d)


def seeing(steps=SEEING_STEPS, n=N_IMAGES, seeds=SEEDS, n_train=20_000):
    """Return the accuracy of the visual answerer, trained whole and without an ingredient."""
    examples = make_examples(n, "es", seed=1)
    found = {"n": n, "steps": steps, "seeds": list(seeds), "systems": {}}
    kinds = {
        "whole": {},
        "no word order": {"sizes": {"positions": "none"}},
        "no places": {},
    }
    for seed in seeds:
        train_on = make_examples(n_train, "es", seed=100 + seed)
        for kind, options in kinds.items():
            training = replace(looker.TRAINING, steps=steps, seed=seed)
            blind = patch.object(model, "sinusoidal_positions", nowhere)
            with blind if kind == "no places" else nullcontext():
                one = VisualQuestionAnswerer.fit(train_on, training=training, **options)
            run = scores_by_kind(one, examples) | {"both_orders": both_orders(one)}
            found["systems"].setdefault(kind, []).append(run)
            print(kind, seed, run, flush=True)
    return found


def scores_by_kind(one, examples):
    scores = one.evaluate(examples)
    return {name: rounded(scores[name]) for name in ("accuracy", *KINDS)}


def both_orders(one, n=300, language="es"):
    """Return how often "who is to the left" gets the same answer for both orders of a pair.

    The share is given for pairs of the same grammatical gender in Spanish, and for other pairs.
    """
    same = {"alike": [], "mixed": []}
    for example in make_examples(n, language, seed=2, kinds=("left",)):
        pair = [thing.shape for thing in example.things[:2]]
        answers = {
            one.answer(example.image, Question("left", a, "", b).words(language)).text
            for a, b in (pair, pair[::-1])
        }
        genders = {words.WORDS["es"]["nouns"][shape][3] for shape in pair}
        same["alike" if len(genders) == 1 else "mixed"].append(len(answers) == 1)
    return {name: rounded(np.mean(hits)) for name, hits in same.items()}


# The model that comes with the course -------------------------------------------------------


def train_reader(steps=answerer.TRAINING.steps, n_examples=N_TO_READ):
    """Return the reader of the course, trained with the first of the seeds."""
    training = replace(answerer.TRAINING, steps=steps, seed=SEEDS[0])
    return QuestionAnswerer.fit(questions(n_examples, SEEDS[0]), training=training)


def train_writer(steps=summarizer.TRAINING.steps, n_examples=N_TO_WRITE):
    """Return the headline writer of the course, trained with the first of the seeds."""
    training = replace(summarizer.TRAINING, steps=steps, seed=SEEDS[0])
    return Summarizer.fit(stories(n_examples, SEEDS[0]), training=training)


def train_looker(steps=MODEL_STEPS, n_examples=MODEL_EXAMPLES):
    """Return the visual model of the course, trained in both languages at once."""
    both = zip(*(make_examples(n_examples, language) for language in LANGUAGES), strict=True)
    examples = [example for pair in both for example in pair]
    training = replace(looker.TRAINING, steps=steps)
    return VisualQuestionAnswerer.fit(examples, training=training)


MODELS = {
    "question_answerer": train_reader,
    "summarizer": train_writer,
    "visual_question": train_looker,
}


def train_models(names=(), folder=models.folder):
    """Train these models, or all, and write each in int8 into the folder of its name."""
    for name in names:
        if name not in MODELS:
            sys.exit(f"names: expected some of {', '.join(MODELS)}, got {name}")
    for name in names or MODELS:
        MODELS[name]().save(folder(name), quantised=True)


def shipped(n=N_IMAGES):
    """Return the accuracy of the visual model of the course, whole and without a part."""
    one = VisualQuestionAnswerer.pretrained()
    found = {"n": n, "languages": {}}
    for language in LANGUAGES:
        unseen = make_examples(n, language, seed=1)
        held_out = make_examples(n, language, seed=2, held_out=True)
        looks = one.evaluate(unseen)
        found["languages"][language] = {
            "whole": scores_by_kind(one, unseen),
            "looks": {name: rounded(looks[name]) for name in ("mass", "argmax", "chance")},
            "held_out": rounded(one.evaluate(held_out)["accuracy"]),
        } | {name: cut(one, unseen, name) for name in CUTS}
        print(language, found["languages"][language], flush=True)
    return found


CUTS = ("no places", "even weights", "no mask")


@torch.no_grad()
def cut(one, examples, name):
    """Return the accuracy, by kind, of the trained model without one part.

    ``no places``: the patches have no positions. ``even weights``: every patch gets the same weight
    in cross-attention. ``no mask``: the question is padded, and the padding is not masked. ``said``
    counts the answers to what colour something is, the most frequent first.
    """
    right, said = {}, Counter()
    for example in examples:
        logits = answer_without(one, example, name)
        answer = one.answers[logits.argmax()]
        right.setdefault(example.kind, []).append(answer == example.answer)
        said[answer] += example.kind == "colour"
    everything = [hit for hits in right.values() for hit in hits]
    scores = {"accuracy": rounded(np.mean(everything))}
    scores |= {kind: rounded(np.mean(right[kind])) for kind in KINDS}
    return scores | {"said": {answer: times for answer, times in said.most_common() if times}}


# Questions are padded to this number of tokens, four more than the longest question has.
N_PADDED = 16


@torch.no_grad()
def answer_without(one, example, name):
    """Return the logits of the answers to one example when one part is removed."""
    inner = one.model
    ids = one.tokenizer.encode(example.question, sos=True)
    image, keys = torch.from_numpy(example.image), []
    if name == "no mask":
        ids += [one.tokenizer.pad_id] * (N_PADDED - len(ids))
    places = inner.patches.places
    if name == "no places":
        inner.patches.places = torch.zeros_like(places)
    patches = inner.patches(image)
    inner.patches.places = places
    if name == "even weights":
        # If all keys are zero, all scores and therefore all weights are equal.
        keys = [layer.cross_attention.k_proj for layer in inner.decoder.layers]
    kept = [(key.weight.clone(), key.bias.clone()) for key in keys]
    for key in keys:
        key.weight.zero_()
        key.bias.zero_()
    x, _ = inner.decoder(inner.embedding(torch.tensor(ids)), patches, is_causal=False)
    for key, (weight, bias) in zip(keys, kept, strict=True):
        key.weight.copy_(weight)
        key.bias.copy_(bias)
    return inner.output(x[0])


def controls(steps=SEEING_STEPS, n=N_IMAGES, n_train=20_000, seed=SEEDS[0]):
    """Return the accuracy of a visual model without word order in English, which has no gender."""
    one = VisualQuestionAnswerer.fit(
        make_examples(n_train, "en", seed=100 + seed),
        training=replace(looker.TRAINING, steps=steps, seed=seed),
        sizes={"positions": "none"},
    )
    scores = scores_by_kind(one, make_examples(n, "en", seed=1))
    return {"english": scores | {"both_orders": both_orders(one, language="en")}}


MEASURES = {
    "reading": reading,
    "headlines": headlines,
    "seeing": seeing,
    "shipped": shipped,
    "controls": controls,
}


def rows():
    """Return what is measured, by its name in the file."""
    return {name: Row(measure, (name,)) for name, measure in MEASURES.items()}


EXPERIMENT = Experiment(
    "Three systems, each without one ingredient: what is lost?",
    RESULTS,
    rows,
    minutes=42,
)


if __name__ == "__main__":
    train_models(sys.argv[1:])
