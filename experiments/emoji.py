"""A small CLIP of emoji: how well it finds unseen emoji by their names.

``python -m experiments emoji`` fetches pictures and names (`experiments.emoji_data`), and trains
three models and a control with shuffled names, which takes two CPU minutes each. It writes
``notebooks/data/emoji.json``, which chapter 11 prints, and puts the first model into
``attn_course/emoji/trained``, for the page.
"""

import json
from functools import cache, partial

import numpy as np
import torch
from torch import nn

from attn.io import write_whole
from attn.metrics import bootstrap_interval
from attn.tokenizer import BytePairTokenizer
from attn.training import cross_entropy
from attn.transformer import TransformerConfig
from attn_course.emoji import FOLDER, plain
from attn_course.emoji.model import SIDE, ImageTower, TextTower, batch_of
from experiments.emoji_data import LANGUAGES, STYLES, load, words_of
from experiments.runner import DATA, Experiment, Row

SEEDS = (0, 1, 2)
CONTROL = "control"
AMONG = (1, 5, 10)
STEPS, BATCH, WARM_UP, RATE = 2500, 64, 100, 2e-3
# The most pixels by which a picture is shifted in training.
SHIFT = 3
# The approximate mean and standard deviation of a pixel.
MEAN, SPREAD = 0.5, 0.35
VOCABULARY = 1500
TEXTS = {"d_model": 96, "n_heads": 4, "n_layers": 1, "d_ff": 192}
PICTURES = {"d_model": 96, "n_heads": 4, "n_layers": 2, "d_ff": 192}
COMMON = {"norm": "pre", "dropout": 0.0}
RESULTS = DATA / "emoji.json"


class Towers(nn.Module):
    """Both encoders and the temperature."""

    def __init__(self, n_tokens, n_emoji):
        super().__init__()
        self.texts = TextTower(TransformerConfig(n_tokens, n_emoji, **TEXTS, **COMMON))
        self.images = ImageTower(TransformerConfig(1, **PICTURES, positions="none", **COMMON))
        self.log_scale = nn.Parameter(torch.tensor(1 / 0.05).log())

    @torch.no_grad()
    def index(self, pictures):
        """Return a vector of length 1 for each emoji, the mean over its drawings."""
        self.eval()
        drawn = [self.images(pictures[:, style]) for style in range(len(STYLES))]
        return nn.functional.normalize(sum(drawn), dim=-1)


class Batches:
    """Random examples: a drawing, shifted a little, and its name or keywords in one language."""

    def __init__(self, pictures, texts, chosen, seed):
        self.pictures, self.texts, self.chosen = pictures, texts, chosen
        self.rng = np.random.default_rng(seed)

    def text(self, texts):
        """Return the name half of the time, else one to three keywords, with the name or not."""
        name, *keywords = texts[LANGUAGES[self.rng.integers(len(LANGUAGES))]]
        kind = self.rng.random()
        if kind < 0.5 or not keywords:
            return name
        some = self.rng.permutation(keywords)[: self.rng.integers(1, 4)].tolist()
        return " ".join([name, *some] if kind < 0.7 else some)

    def draw(self):
        """Return the images of a batch and their texts."""
        some = self.rng.choice(self.chosen, BATCH, replace=False)
        drawn = self.pictures[some, self.rng.integers(len(STYLES), size=BATCH)]
        white = (1 - MEAN) / SPREAD
        drawn = nn.functional.pad(drawn, 4 * (SHIFT,), value=white)
        moves = self.rng.integers(2 * SHIFT + 1, size=(BATCH, 2)).tolist()
        moved = [x[:, i : i + SIDE, j : j + SIDE] for x, (i, j) in zip(drawn, moves, strict=True)]
        return torch.stack(moved), [self.text(self.texts[i]) for i in some]


def train(pictures, texts, chosen, tokenizer, seed):
    """Return both encoders, trained with the loss of chapter 11."""
    torch.manual_seed(seed)
    towers = Towers(tokenizer.vocab_size, len(texts))
    batches, partner = Batches(pictures, texts, chosen, seed), torch.arange(BATCH)
    optimizer = torch.optim.AdamW(towers.parameters(), RATE, betas=(0.9, 0.98), weight_decay=0.1)

    def share(step):
        return min(1, (step + 1) / WARM_UP) * 0.5 * (1 + np.cos(np.pi * step / STEPS))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    for step in range(STEPS):
        images, said = batches.draw()
        vectors = towers.texts(*batch_of(tokenizer, said))
        logits = towers.log_scale.exp() * towers.images(images) @ vectors.T
        loss = sum(cross_entropy(z, partner)[0] for z in (logits, logits.T)) / (2 * BATCH)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(towers.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % 250 == 0:
            print(f"seed {seed}, step {step + 1}: {loss.item():.3f}", flush=True)
    return towers.eval()


def ranks(scores, right):
    """Return the number of candidates that score higher than the right one, shape (n_queries,).

    Parameters
    ----------
    scores : array, shape (n_queries, n_candidates)
    right : array of int, shape (n_queries,)
        The index of the right candidate of each query.
    """
    return (scores > scores[np.arange(len(right)), right][:, None]).sum(axis=1)


@torch.no_grad()
def of_model(towers, tokenizer, pictures, texts, test):
    """Return, by language, the ranks of unseen emoji among the unseen and among all emoji."""
    index, found = towers.index(pictures), {}
    for language in LANGUAGES:
        names = [texts[i][language][0] for i in test]
        cosines = (towers.texts(*batch_of(tokenizer, names)) @ index.T).numpy()
        found[language] = {
            "unseen": ranks(cosines[:, test], np.arange(len(test))).tolist(),
            "all": ranks(cosines, np.asarray(test)).tolist(),
        }
    return found


def trigrams(text):
    """Return the runs of three characters of a text, with a space at both ends."""
    text = plain(text) + " "
    return {text[i : i + 3] for i in range(len(text) - 2)}


def nearest_name(name, names):
    """Return the index of the name that shares the largest part of its trigrams with this one."""
    wanted, some = trigrams(name), [trigrams(other) for other in names]
    return int(np.argmax([len(wanted & t) / len(wanted | t) for t in some]))


def of_words(pictures, texts, train_ids, test):
    """Return the ranks of a baseline that compares the pictures of the nearest known names."""
    pixels = pictures.flatten(1).numpy()
    found = {}
    for language in LANGUAGES:
        names = [texts[i][language][0] for i in train_ids]
        known = [train_ids[nearest_name(texts[i][language][0], names)] for i in test]
        away = np.stack([((pixels[test] - pixels[i]) ** 2).sum(axis=1) for i in known])
        found[language] = {"unseen": ranks(-away, np.arange(len(test))).tolist()}
    return found


def known_words(emoji, train_ids, test):
    """Return, by language, which names of unseen emoji consist of words from training."""
    met = {
        word
        for i in train_ids
        for texts in emoji[i].texts.values()
        for text in texts
        for word in words_of(text)
    }
    return {
        language: [met.issuperset(words_of(emoji[i].texts[language][0])) for i in test]
        for language in LANGUAGES
    }


def recall(found, families, among, keep=None):
    """Return the mean recall over seeds, and its interval.

    Near variants are not independent, so the bootstrap resamples whole families.

    Parameters
    ----------
    found : list of list of int
        The ranks, for each seed.
    families : list of str
        The family of each query.
    among : int
    keep : list of bool, optional
        Which queries count.
    """
    right = (np.asarray(found) < among).mean(axis=0)
    kept = np.ones(len(families), bool) if keep is None else np.asarray(keep)
    labels = np.unique(np.asarray(families), return_inverse=True)[1]
    sums, counts = (np.bincount(labels[kept], w[kept]) for w in (right, np.ones(len(right))))
    low, high = bootstrap_interval(sums[counts > 0], counts[counts > 0])
    return [round(float(x), 4) for x in (sums.sum() / counts.sum(), low, high)]


def table(told):
    """Return the table of chapter 11: for each system and language the recall at 1, 5 and 10.

    ``interval`` belongs to the recall at 10. For the models, ``seeds`` holds the recall at 10
    of each seed, ``known`` and ``unknown`` split it by whether training had every word of the
    name, and ``all`` is the recall among all emoji and not only the unseen.
    """
    n, rows = told["n"]["test"], []
    seeds = [told[str(seed)] for seed in SEEDS if str(seed) in told]
    control = [told[CONTROL]] if CONTROL in told else []
    systems = {"words": [told["words"]], CONTROL: control, "model": seeds}
    for language in LANGUAGES:
        chance = [round(among / n, 4) for among in AMONG]
        rows.append({"system": "chance", "language": language, "shares": chance})
        for system, some in systems.items():
            if not some:
                continue
            found = [one[language]["unseen"] for one in some]
            shares = [recall(found, told["families"], among) for among in AMONG]
            row = {"system": system, "language": language, "shares": [s[0] for s in shares]}
            rows.append(row | {"interval": shares[-1][1:]})
        known = told["known"][language]
        found = [one[language]["unseen"] for one in seeds]
        everywhere = [one[language]["all"] for one in seeds]
        rows[-1] |= {
            "seeds": [recall([ranks], told["families"], AMONG[-1])[0] for ranks in found],
            "n_known": sum(known),
            "known": recall(found, told["families"], AMONG[-1], known),
            "unknown": recall(found, told["families"], AMONG[-1], [not k for k in known]),
            "all": recall(everywhere, told["families"], AMONG[-1]),
        }
    return rows


def save(towers, tokenizer, pictures, emoji):
    """Write the page's files: text encoder, picture vectors, code points, seen or unseen."""
    FOLDER.mkdir(exist_ok=True)
    towers.texts.pictures.weight.copy_(towers.index(pictures))
    towers.texts.save(FOLDER / "model.safetensors", quantised=True)
    tokenizer.save(FOLDER / "vocabulary.json")
    codes = " ".join(("" if one.part == "train" else "*") + one.code for one in emoji)
    write_whole(FOLDER / "emoji.json", json.dumps({"codes": codes}) + "\n")


@cache
def material():
    """Return the emoji, parts, pictures, texts, training and test indices, and tokenizer."""
    emoji, drawn = load()
    pictures = torch.from_numpy((drawn - MEAN) / SPREAD)
    parts = np.array([one.part for one in emoji])
    train_ids, test = (np.flatnonzero(parts == name).tolist() for name in ("train", "test"))
    texts = [one.texts for one in emoji]
    said = (t for i in train_ids for some in texts[i].values() for t in some)
    tokenizer = BytePairTokenizer.train(map(plain, said), VOCABULARY)
    return emoji, parts, pictures, texts, train_ids, test, tokenizer


def setting():
    """Return the sizes of the parts, the test emoji, their known words, and the ranks by words."""
    emoji, parts, pictures, texts, train_ids, test, _ = material()
    return (
        {name: int((parts == name).sum()) for name in ("train", "validation", "test")},
        [emoji[i].family for i in test],
        [emoji[i].code for i in test],
        known_words(emoji, train_ids, test),
        of_words(pictures, texts, train_ids, test),
    )


def measured(name):
    """Train with one seed, or with shuffled names; save the model of the first seed."""
    emoji, _, pictures, texts, train_ids, test, tokenizer = material()
    shown = list(texts)
    if name == CONTROL:
        mixed = np.random.default_rng(0).permutation(train_ids)
        for i, j in zip(train_ids, mixed, strict=True):
            shown[i] = texts[j]
    towers = train(pictures, shown, train_ids, tokenizer, 0 if name == CONTROL else int(name))
    if name == str(SEEDS[0]):
        with torch.no_grad():
            save(towers, tokenizer, pictures, emoji)
    return of_model(towers, tokenizer, pictures, texts, test)


def rows():
    """Return what is measured: the baseline of words, each training, and the table of all."""
    names = (*map(str, SEEDS), CONTROL)
    return {
        "setting": Row(setting, ("n",), ("families",), ("codes",), ("known",), ("words",)),
        **{name: Row(partial(measured, name), (name,)) for name in names},
        "table": Row(table, ("table",), reads=True),
    }


EXPERIMENT = Experiment(
    "A small CLIP of emoji: how well does it find those that it has never seen, by their names?",
    RESULTS,
    rows,
    minutes=10,
)
