"""MiniLM's vector of a word of two meanings, with the word that decides and without it.

The cosine of a word's vector with the mean vector of each meaning, computed from the other
sentences, is compared: it is right if the mean of its own meaning is nearer. For *bank*, the
attention to the deciding words is then masked in all layers, compared sentence by sentence with
masking as many other words.
"""

import torch

from attn.metrics.intervals import wilson_interval
from attn.pretrained import fetched, load
from attn_course.widgets import SentenceMap
from experiments.interpret import interval, rounded

# The sentences of each meaning that the map of the laboratory shows.
SHOWN = 6
# For each word and each of its two meanings, sentences with the deciding word after a bar.
SENTENCES = {
    "bank": (
        (
            "They sat on the bank of the river|river",
            "The bank of the stream was covered with grass|stream",
            "A boat was tied to the bank of the lake|lake",
            "The children swam to the other bank|swam",
            "Fishermen stood along the muddy bank|muddy",
            "The water rose over the bank|water",
            "Trees grow on the left bank of the canal|canal",
            "We walked along the bank and watched the ducks|ducks",
            "The flood washed away part of the bank|flood",
            "A frog jumped from the bank into the pond|pond",
        ),
        (
            "She opened an account at the bank|account",
            "The bank lent him money for the house|money",
            "He works as a cashier in a bank|cashier",
            "The bank raised its interest rates|rates",
            "Two thieves robbed the bank|robbed",
            "I must go to the bank to pay a bill|pay",
            "The bank refused the loan|loan",
            "Her savings are in a foreign bank|savings",
            "The bank sent me a new credit card|credit",
            "They cashed the cheque at the bank|cashed",
        ),
    ),
    "blue": (
        (
            "The sky is blue|sky",
            "She wore a blue dress|dress",
            "He painted the wall blue|painted",
            "The sea is blue and green|sea",
            "My car is blue|car",
            "The flag is blue and white|flag",
            "A blue bird sat in the tree|bird",
            "Her eyes are blue|eyes",
            "The door of the house is blue|door",
            "The blue shirt is in the box|shirt",
        ),
        (
            "Tom was crying because he was blue|crying",
            "She felt blue and lonely after the funeral|lonely",
            "He has been blue since his wife left|left",
            "I feel blue when nobody calls me|feel",
            "The bad news made her blue|news",
            "We were blue because our team had lost|lost",
            "Rainy Mondays make him blue|make",
            "He was so blue that he could not eat|eat",
            "Her letter left me sad and blue|sad",
            "They were blue and missed their home|missed",
        ),
    ),
    "banco": (
        (
            "Se sentaron en el banco del parque|parque",
            "El banco de madera está roto|madera",
            "Durmió en un banco de la plaza|plaza",
            "Pintaron el banco del jardín|jardín",
            "El abuelo descansa en el banco de piedra|piedra",
            "Los niños saltan del banco al suelo|saltan",
            "Hay un banco debajo del árbol|árbol",
            "Dejé el abrigo en el banco de la estación|abrigo",
            "El gato duerme sobre el banco|duerme",
            "Nos sentamos en un banco a comer|sentamos",
        ),
        (
            "Abrió una cuenta en el banco|cuenta",
            "El banco le prestó dinero|dinero",
            "Trabaja de cajero en un banco|cajero",
            "El banco subió los intereses|intereses",
            "Dos ladrones robaron el banco|robaron",
            "Voy al banco a pagar una factura|pagar",
            "El banco negó el préstamo|préstamo",
            "Sus ahorros están en un banco extranjero|ahorros",
            "El banco me envió una tarjeta de crédito|crédito",
            "Cobraron el cheque en el banco|cheque",
        ),
    ),
}


def model_and_tokenizer():
    """Return the model and its tokenizer; nothing is downloaded."""
    return load(fetched("minilm", download=False))


def pieces(tokenizer, text, word):
    """Return a sentence's ids, special tokens included, and the places of the word's pieces."""
    ids, mine = tokenizer.encode(text, sos=True, eos=True), tokenizer.encode(word)
    first = next(i for i in range(len(ids)) if ids[i : i + len(mine)] == mine)
    return ids, list(range(first, first + len(mine)))


def vectors(model, tokenizer, text, word, hidden=()):
    """Return the vector of a word at every layer, shape (n_layers + 1, d_model): the mean of its pieces.

    Parameters
    ----------
    hidden : iterable of int
        Positions that the word may not attend to, in any layer.
    """
    ids, mine = pieces(tokenizer, text, word)
    seen = torch.ones(len(ids), len(ids), dtype=torch.bool)
    for place in hidden:
        seen[mine, place] = False
    x = model.embedding(torch.tensor([ids]))
    found = [x[0, mine].mean(dim=0)]
    for layer in model.encoder.layers:
        x, _ = layer(x, seen)
        found.append(x[0, mine].mean(dim=0))
    return torch.stack(found)


def leanings(found, judged=None):
    """Return how much nearer each vector is to its own meaning than to the other, layer by layer.

    Parameters
    ----------
    found : Tensor, shape (2, n, n_layers + 1, d_model)
        Of the sentences of each meaning; a sentence's own vector is left out of the mean.
    judged : Tensor of the same shape, optional
        Vectors compared with the means in place of `found`.

    Returns
    -------
    Tensor, shape (2, n, n_layers + 1)
        Differences of cosines.
    """
    n, sums = found.shape[1], found.sum(dim=1)
    judged = found if judged is None else judged
    own = torch.cosine_similarity(judged, (sums[:, None] - found) / (n - 1), dim=-1)
    other = torch.cosine_similarity(judged, (sums.flip(0) / n)[:, None], dim=-1)
    return own - other


def measure(told, keep):
    """Measure each word unchanged, and without the deciding word or without another word."""
    model, tokenizer = model_and_tokenizer()
    for word, meanings in SENTENCES.items():
        if word in told:
            continue
        found, blind, control = ([[], []] for _ in range(3))
        for side, sentences in enumerate(meanings):
            for each in sentences:
                text, decides = each.split("|")
                ids, mine = pieces(tokenizer, text, word)
                _, deciding = pieces(tokenizer, text, decides)
                # The control hides as many other tokens, none of which are the special tokens or
                # the word itself.
                rest = [i for i in range(1, len(ids) - 1) if i not in (*mine, *deciding)]
                found[side].append(vectors(model, tokenizer, text, word))
                blind[side].append(vectors(model, tokenizer, text, word, deciding))
                control[side].append(vectors(model, tokenizer, text, word, rest[: len(deciding)]))
        found, blind, control = (
            torch.stack([torch.stack(s) for s in each]) for each in (found, blind, control)
        )
        row = {"n": 2 * found.shape[1], "pieces": len(tokenizer.encode(word))}
        shown = {
            str(side): [each.split("|")[0] for each in sentences[:SHOWN]]
            for side, sentences in enumerate(meanings)
        }
        spoken = "es" if word == "banco" else "en"
        row["map"] = SentenceMap.read(shown, word, language=spoken)
        leaning = {}
        for name, judged in (("whole", found), ("blind", blind), ("control", control)):
            leaning[name] = leanings(found, judged).flatten(0, 1)
            right = (leaning[name] > 0).sum(dim=0).tolist()
            row[name] = {
                "right": right,
                "share": rounded(wilson_interval(right[-1], row["n"])),
                "leaning": rounded(interval(leaning[name])),
            }
        # The effect of hiding the deciding word minus that of hiding another, for each sentence.
        row["cost"] = rounded(interval(leaning["control"][:, -1] - leaning["blind"][:, -1]))
        told[word] = row
        keep(told)
