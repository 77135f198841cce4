"""Programs that summarise, answer and translate, tested on texts written for the course.

The programs are those in section 3.3.4 of *Atención y el auge de los Transformers*, together with
SmolLM2 and with rules that do not read. ``python -m experiments readings`` runs the tasks named
below that have no result yet, and writes ``notebooks/data/readings.json`` after each; appendix A2
shows the results. SmolLM2 decodes greedily, so that it writes the same text every time.

==============  ==========================================================================
`picking`       choose the three sentences of seven that matter
`summaries`     summarise a passage by choosing sentences or with the course's summariser
`written`       summarise a passage with SmolLM2
`answers`       answer a question from its passage, and from another passage
`sentiment`     decide whether an opinion is positive or negative
`translations`  translate from English to Spanish
==============  ==========================================================================

Each prompt was written once and not tuned to the answers.
"""

import re
from collections import Counter
from functools import cache, partial

import numpy as np
import torch

from attn.applications import models
from attn.applications.question_answering import QuestionAnswerer
from attn.applications.summarization import Summarizer
from attn.applications.translation import Translator
from attn.decoding import greedy
from attn.masks import padding_mask
from attn.metrics import bootstrap_interval, chrf, rouge, translation_memory, wilson_interval
from attn_course import minilm
from attn_course.everyday import everyday
from attn_course.readings import readings, sentences_to_translate
from attn_course.tasks import FORMS, LABELS, opinions
from experiments.applications import centrality
from experiments.modern_tasks import leanings, smollm2
from experiments.rates import apart, mcnemar, packed
from experiments.runner import DATA, Experiment, Row

RESULTS = DATA / "readings.json"
# The number of sentences that a summary keeps.
N_KEPT = 3
# The number of prompts in a batch.
AT_ONCE = 25
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = {
    "summary": "Summarise this text in one sentence.\n\n{}",
    "answer": "{}\n\nQuestion: {}\nAnswer with a few words of the text. "
    "If the text does not say it, answer: none.",
    "translation": "Translate into Spanish: {}",
}
# The number of example pairs in the second prompt for translation.
EXAMPLES = 3
# The maximum number of new tokens.
MOST = {"summary": 45, "answer": 20, "translation": 45}
# SmolLM2 uses these words to say that a text has no answer.
NONE = re.compile(
    r"\b(none|not (said|stated|mentioned|specified|provided)|not (say|specify|provide|possible))\b",
    re.IGNORECASE,
)


@cache
def sentence_model():
    """Return MiniLM and its tokenizer; nothing is downloaded."""
    return minilm.model()


@cache
def reader():
    """Return the course's own reader, trained on passages made by rules."""
    return QuestionAnswerer.load(models.folder("question_answerer"))


@cache
def writer():
    """Return the course's own headline writer, trained on stories made by rules."""
    ours = Summarizer.load(models.folder("summarizer"))
    # In double precision every processor chooses the same words.
    ours.model.double()
    return ours


@torch.inference_mode()
def write(prompts, most):
    """Return SmolLM2's greedy continuation of each prompt, of at most `most` tokens."""
    model, tokenizer = smollm2()
    rows = [tokenizer.encode_marked(prompt) for prompt in prompts]
    written = {}
    # Prompts of similar length form a batch. They are padded on the left, so that all continue from
    # the same position.
    order = sorted(range(len(rows)), key=lambda place: len(rows[place]))
    for some in (order[i : i + AT_ONCE] for i in range(0, len(order), AT_ONCE)):
        longest = max(len(rows[place]) for place in some)
        ids = [[0] * (longest - len(rows[place])) + rows[place] for place in some]
        lengths = torch.tensor([len(rows[place]) for place in some])
        step = partial(model.step, mask=padding_mask(lengths, longest).flip(-1))
        options = {"end_id": tokenizer.eos_id, "max_new_tokens": most, "cache": model.new_cache()}
        found = greedy(step, torch.tensor(ids), **options)[:, longest:].tolist()
        for place, new in zip(some, found, strict=True):
            end = new.index(tokenizer.eos_id) if tokenizer.eos_id in new else len(new)
            written[place] = tokenizer.decode(new[:end]).strip()
    return [written[place] for place in range(len(rows))]


def asked(kind, *said):
    """Return SmolLM2's answers to one of `PROMPTS`, filled with texts, in its chat template."""
    prompts = [CHAT.format(PROMPTS[kind].format(*some)) for some in zip(*said, strict=True)]
    return write(prompts, MOST[kind])


def rounded(x, digits=3):
    return round(float(x), digits)


def mean(values):
    """Return a mean over items and its 95% interval, from resampling the items."""
    return [rounded(np.mean(values)), *(rounded(end) for end in bootstrap_interval(values))]


def share(hits):
    """Return the number right, the number of all, and Wilson's 95% interval."""
    hits = [bool(hit) for hit in hits]
    return [sum(hits), len(hits), *(rounded(x) for x in wilson_interval(sum(hits), len(hits)))]


def against(one, other):
    """Return the mean difference of two systems over the same items, and its interval."""
    return mean(np.subtract(one, other))


# Which sentences matter ---------------------------------------------------------------------


def best(scores, n=N_KEPT):
    """Return the indices of the highest scores, in text order; of equal ones the first."""
    return sorted(np.argsort(-np.asarray(scores), kind="stable")[:n].tolist())


def scores_of(reading):
    """Return the scores of the sentences of a passage, by way of picking."""
    model, tokenizer = sentence_model()
    sentences = reading.sentences
    vectors = minilm.vectors(model, tokenizer, sentences)
    return {
        "first": -np.arange(len(sentences)),
        "longest": [len(sentence) for sentence in sentences],
        "words": centrality(sentences),
        "minilm": vectors @ vectors.mean(axis=0),
        "minilm_attention": minilm.received(model, tokenizer, sentences),
        "summarizer_attention": writer().sentence_scores(reading.text)[1],
    }


def picking():
    """Return how many of the sentences that matter each way of picking finds."""
    picked, found = {}, {}
    for reading in readings():
        for way, scores in scores_of(reading).items():
            places = best(scores)
            picked.setdefault(way, []).append(places)
            found.setdefault(way, []).append(len({*places} & {*reading.matter}) / N_KEPT)
    return {
        "chance": rounded(N_KEPT / len(readings()[0].sentences)),
        "positions": [sum(i in r.matter for r in readings()) for i in range(7)],
        "found": {way: mean(values) for way, values in found.items()},
        "by_subject": {
            way: {
                subject: rounded(
                    np.mean(
                        [v for v, r in zip(values, readings(), strict=True) if r.subject == subject]
                    )
                )
                for subject in ("climate", "computers", "news")
            }
            for way, values in found.items()
        },
        "differences": {
            f"minilm {other}": against(found["minilm"], found[other])
            for other in found
            if other != "minilm"
        },
        "picked": picked,
    }


# Summaries ----------------------------------------------------------------------------------


def near(texts):
    """Return the similarity of summaries to the references, and ROUGE-1 of each."""
    references = [reading.summary for reading in readings()]
    pairs = list(zip(texts, references, strict=True))
    each = [rounded(rouge([a], [b])["rouge1"]) for a, b in pairs]
    return {
        "rouge1": mean(each),
        "rouge2": mean([rouge([a], [b])["rouge2"] for a, b in pairs]),
        "chrf": rounded(chrf(texts, references).score, 1),
        "words": rounded(np.mean([len(text.split()) for text in texts]), 1),
    }, each


def summaries():
    """Return the similarity to the references of the summaries of the systems without SmolLM2."""
    texts = {}
    for reading in readings():
        vectors = minilm.vectors(*sentence_model(), reading.sentences)
        central = vectors @ vectors.mean(axis=0)
        chosen = {
            "first": [0],
            "first_three": [0, 1, 2],
            "minilm_three": best(central),
            "minilm_one": best(central, 1),
            "matter": reading.matter,
        }
        for name, places in chosen.items():
            texts.setdefault(name, []).append(" ".join(reading.sentences[i] for i in places))
        texts.setdefault("summarizer", []).append(writer().generate(reading.text))
    scores = {name: near(some) for name, some in texts.items()}
    each = {name: values for name, (_, values) in scores.items()}
    return {
        "found": {name: found for name, (found, _) in scores.items()},
        "differences": {
            f"minilm_three {other}": against(each["minilm_three"], each[other])
            for other in ("first_three", "minilm_one", "summarizer")
        },
        "each": each,
        "said": texts["summarizer"],
    }


def written():
    """Return the similarity to the references of SmolLM2's summaries, and the share copied."""
    texts = asked("summary", [reading.text for reading in readings()])
    found, each = near(texts)
    copied = [
        float(np.mean([s in reading.text for s in re.split(r"(?<=[.?!])\s+", text)]))
        for text, reading in zip(texts, readings(), strict=True)
    ]
    return {
        "found": found,
        "each": each,
        "copied_sentences": rounded(np.mean(copied)),
        "all_copied": sum(value == 1 for value in copied),
        "said": texts,
    }


# Answers ------------------------------------------------------------------------------------


def plain(text):
    """Return an answer without capitals, punctuation and articles, as SQuAD compares them."""
    words = re.findall(r"\w+", text.lower())
    return " ".join(word for word in words if word not in ("a", "an", "the"))


def token_f1(answer, right):
    """Return the F1 of the words of an answer: ROUGE-1 after `plain`."""
    return rouge([plain(answer)], [plain(right)])["rouge1"]


def within(answer, right):
    """Return whether the right answer is a part of the text."""
    return f" {plain(right)} " in f" {plain(answer)} "


def nearest(reading, by_words=False):
    """Return the sentence of a passage that is most similar to its question."""
    texts = [reading.question, *reading.sentences]
    if by_words:
        asked, *told = ({*plain(text).split()} for text in texts)
        return reading.sentences[best([len(asked & words) for words in told], 1)[0]]
    question, *vectors = minilm.vectors(*sentence_model(), texts)
    return reading.sentences[best(np.array(vectors) @ question, 1)[0]]


def elsewhere(i):
    """Return another passage of the same subject, without the answer to question `i`."""
    # Each call of readings() reads the file again.
    found = readings()
    same = [j for j, reading in enumerate(found) if reading.subject == found[i].subject]
    return found[same[(same.index(i) + 1) % len(same)]]


def answers():
    """Return the accuracy of each system's answers, and whether it detects that there is none."""
    said = {"smollm2": [], "reader": [], "minilm_sentence": [], "words_sentence": []}
    empty = {"smollm2": [], "reader": []}
    others = [elsewhere(i).text for i in range(len(readings()))]
    asking = [reading.question for reading in readings()]
    said["smollm2"] = asked("answer", [reading.text for reading in readings()], asking)
    empty["smollm2"] = asked("answer", others, asking)
    for reading, other in zip(readings(), others, strict=True):
        said["reader"].append(reader().answer(reading.text, reading.question).text)
        said["minilm_sentence"].append(nearest(reading))
        said["words_sentence"].append(nearest(reading, by_words=True))
        empty["reader"].append(reader().answer(other, reading.question).text)
    right = [reading.answer for reading in readings()]
    measures = {
        "exact": lambda a, b: plain(a) == plain(b),
        "f1": token_f1,
        "within": within,
    }
    each = {
        name: {
            m: [compare(a, b) for a, b in zip(some, right, strict=True)]
            for m, compare in measures.items()
        }
        for name, some in said.items()
    }
    tests = {}
    for other in ("reader", "minilm_sentence"):
        split = apart(packed(each["smollm2"]["within"]), packed(each[other]["within"]))
        tests[f"smollm2 {other}"] = [*split, rounded(mcnemar(*split), 4)]
    return {
        "found": {
            name: {"exact": share(m["exact"]), "f1": mean(m["f1"]), "within": share(m["within"])}
            for name, m in each.items()
        },
        "mcnemar_within": tests,
        "f1_differences": {
            f"smollm2 {other}": against(each["smollm2"]["f1"], each[other]["f1"])
            for other in ("reader", "minilm_sentence")
        },
        "none_when_there": {name: sum(no_answer(a) for a in said[name]) for name in empty},
        "none_elsewhere": {name: share(map(no_answer, some)) for name, some in empty.items()},
        "said": {name: said[name] for name in empty},
        "said_elsewhere": empty,
    }


def no_answer(text):
    """Return whether a text says that there is no answer."""
    return not text or bool(NONE.search(text))


# Sentiment ----------------------------------------------------------------------------------


def by_words(known, texts):
    """Return the score that each text is positive: naive Bayes of words, with add-one smoothing."""
    counts = {label: Counter() for label in LABELS}
    for opinion in known:
        counts[opinion.label].update({*re.findall(r"\w+", opinion.text.lower())})
    n = len(known) // 2
    first, second = (counts[label] for label in LABELS)
    return np.array(
        [
            sum(
                np.log((first[word] + 1) / (n + 2)) - np.log((second[word] + 1) / (n + 2))
                for word in sorted({*re.findall(r"\w+", text.lower())})
            )
            for text in texts
        ]
    )


def by_vectors(known, texts):
    """Return how much nearer each text's vector is to the mean of the positive opinions."""
    vectors = minilm.vectors(*sentence_model(), [o.text for o in known])
    labels = np.array([o.label for o in known])
    first, second = (vectors[labels == label].mean(axis=0) for label in LABELS)
    return minilm.vectors(*sentence_model(), texts) @ (first - second)


def sentiment():
    """Return how many opinions each system classifies correctly, in both languages."""
    rows, tests = [], []
    for language in ("en", "es"):
        known = opinions("to_learn_from", language)
        for part in ("to_be_asked", "harder"):
            asked = opinions(part, language)
            texts = [opinion.text for opinion in asked]
            is_positive = np.array([opinion.label == LABELS[0] for opinion in asked])
            leaning = {
                "always": np.ones(len(texts)),
                "words": by_words(known, texts),
                "minilm": by_vectors(known, texts),
                "smollm2": leanings(*smollm2(), texts, FORMS[language].language),
            }
            hits = {name: (x > 0) == is_positive for name, x in leaning.items()}
            for name, right in hits.items():
                wrong = [text for text, hit in zip(texts, right, strict=True) if not hit]
                rows.append(
                    {
                        "language": language,
                        "part": part,
                        "system": name,
                        "right": share(right),
                        "wrong": wrong,
                    }
                )
            for one, other in (("minilm", "words"), ("smollm2", "minilm")):
                split = apart(packed(hits[one]), packed(hits[other]))
                tests.append(
                    {
                        "language": language,
                        "part": part,
                        "systems": [one, other],
                        "only": split,
                        "p": rounded(mcnemar(*split), 4),
                    }
                )
    return {"rows": rows, "mcnemar": tests}


# Translations -------------------------------------------------------------------------------


def with_examples(source):
    """Return a prompt with example pairs and the source of an open one."""
    shown = [f"English: {p.source}\nSpanish: {p.target}\n\n" for p in everyday()[:EXAMPLES]]
    return "".join(shown) + f"English: {source}\nSpanish:"


def translations():
    """Return the similarity of the translations of each system to the references."""
    pairs = sentences_to_translate()
    sources, right = [p.source for p in pairs], [p.target for p in pairs]
    said = {
        "translator": Translator.pretrained().translate(sources),
        "smollm2": asked("translation", sources),
        "smollm2_examples": [
            text.split("\n")[0] for text in write(map(with_examples, sources), MOST["translation"])
        ],
        "memory": translation_memory(everyday(), sources)[0],
        "copy": sources,
    }
    each = {
        name: [chrf([a], [b]).score for a, b in zip(some, right, strict=True)]
        for name, some in said.items()
    }
    return {
        "found": {
            name: {
                "chrf": rounded(chrf(some, right).score, 1),
                "each": [round(x, 1) for x in mean(each[name])],
                "exact": share(a == b for a, b in zip(some, right, strict=True)),
            }
            for name, some in said.items()
        },
        "differences": {
            f"translator {other}": [round(x, 1) for x in against(each["translator"], each[other])]
            for other in said
            if other != "translator"
        },
        "said": {name: said[name] for name in ("translator", "smollm2", "smollm2_examples")},
    }


TASKS = {
    "picking": picking,
    "summaries": summaries,
    "written": written,
    "answers": answers,
    "sentiment": sentiment,
    "translations": translations,
}


def rows():
    """Return what is measured: each task."""
    return {name: Row(measure, (name,)) for name, measure in TASKS.items()}


EXPERIMENT = Experiment(
    "The programs of the documents on texts of our own: what does each get right?",
    RESULTS,
    rows,
    minutes=30,
)
