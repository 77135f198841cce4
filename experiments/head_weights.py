"""The attention weights of every head of SmolLM2 on some sentences, as `HeadExplorer` shows them.

``python -m experiments.head_weights`` writes a file for each of `SENTENCES` into
``attn_course/widgets/heads``. Each file has three kinds of weights: those of the sentence; those of
the sentence with some tokens exchanged; and those of the exchanged sentence *patched*, in which the
residual stream of the original replaces its own, from one of `LAYERS` on, at the positions where
the two differ. Weights are stored as integers from 0 to 255, so that every processor stores the
same numbers except at ties.
"""

import base64
import json
import sys
from pathlib import Path

import torch

from attn.io import write_whole

FOLDER = Path(__file__).resolve().parents[1] / "attn_course" / "widgets" / "heads"
# The residual stream is patched on entering these layers.
LAYERS = (6, 12, 18, 24)
# A weight of 1 is stored as this number.
STEPS = 255
# For each name: the language, the sentence, the same sentence with as many tokens but some of them
# exchanged, and two tokens that may come next.
SENTENCES = {
    "door": (
        "en",
        "The green door and the red lamp. The green",
        "The green chair and the red lamp. The green",
        " door",
        " chair",
    ),
    "cats": (
        "en",
        "The cats that chased the mouse",
        "The cat that chased the mouse",
        " were",
        " was",
    ),
    "songs": (
        "en",
        "John and Paul wrote several songs when",
        "John without Paul wrote several songs when",
        " they",
        " he",
    ),
    "bank": (
        "en",
        "He swam in the river and then lay down on the bank of the",
        "He swam in the lake and then lay down on the bank of the",
        " river",
        " lake",
    ),
    "capital": ("en", "The capital of France is", "The capital of Spain is", " Paris", " Madrid"),
    "opposite": ("en", "The opposite of hot is", "The opposite of big is", " cold", " small"),
    "brother": ("en", "My brother lost the keys, so", "My sister lost the keys, so", " he", " she"),
    "queen": ("en", "The queen said that", "The king said that", " she", " he"),
    "animal": (
        "en",
        "The animal did not cross the street because it was too",
        "The animal did not cross the river because it was too",
        " far",
        " large",
    ),
    "ana": ("es", "Ana y Luis cantan. Ana y", "Ana y Pedro cantan. Ana y", " Luis", " Pedro"),
    "gato": (
        "es",
        "El gato gris y el perro blanco. El gato",
        "El gato rojo y el perro blanco. El gato",
        " gr",
        " ro",
    ),
    "sol": (
        "es",
        "El sol sale de día y la luna sale de",
        "El sol sale de noche y la luna sale de",
        " d",
        " n",
    ),
}


@torch.inference_mode()
def run(model, x, first=0):
    """Return the stream at each layer from `first` on, their weights, and the probabilities.

    Parameters
    ----------
    model : DecoderOnly
    x : Tensor, shape (1, seq_len, d_model)
        The stream that enters layer `first`.
    """
    streams, found = [], []
    for layer in model.stack.layers[first:]:
        streams.append(x)
        x, weights = layer(x, is_causal=True, need_weights=True)
        found.append(weights[0])
    logits = model.output(model.stack.norm(x[:, -1]))[0]
    return streams, torch.stack(found), logits.softmax(dim=-1)


def whole(weights):
    """Return weights as bytes: for each head, the rows of the lower triangle."""
    rows, columns = torch.tril_indices(*weights.shape[-2:])
    return (weights[..., rows, columns] * STEPS).round().to(torch.uint8)


@torch.inference_mode()
def measured(model, tokenizer, language, sentence, exchanged, *ends):
    """Return what is stored of a sentence.

    Raises
    ------
    ValueError
        If the two sentences differ in their number of tokens, or not at all.
    """
    ids = [torch.tensor([tokenizer.encode(text)]) for text in (sentence, exchanged)]
    if ids[0].shape != ids[1].shape or torch.equal(*ids):
        raise ValueError(f"exchanged: expected others, as many tokens as in {sentence!r}")
    differ = (ids[0] != ids[1])[0]
    (clean, *first), (streams, *second) = (run(model, model.embedding(x)) for x in ids)
    versions, places = [first, second], [0, 0]
    for layer in LAYERS:
        x = streams[layer].clone()
        x[:, differ] = clean[layer][:, differ]
        versions.append(run(model, x, layer)[1:])
        places.append(layer)
    (one,), (other,) = map(tokenizer.encode, ends)
    return {
        "language": language,
        "tokens": [[tokenizer.decode([i]) for i in x[0].tolist()] for x in ids],
        "changed": differ.nonzero().flatten().tolist(),
        "shape": [model.config.n_layers, model.config.n_heads],
        "from": places,
        "next": ends,
        "probabilities": [[round(float(p[i]), 3) for i in (one, other)] for _, p in versions],
        "weights": b"".join(whole(w).numpy().tobytes() for w, _ in versions),
    }


def main():
    """Measure every sentence and write its file."""
    from experiments.modern_tasks import smollm2

    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    for order, (name, about) in enumerate(SENTENCES.items()):
        told = {"order": order} | measured(*smollm2(), *about)
        told["weights"] = base64.b64encode(told["weights"]).decode()
        text = json.dumps(told, ensure_ascii=False)
        write_whole(FOLDER / f"{name}.json", text + "\n")
        print(name, len(text), told["next"], told["probabilities"], flush=True)


if __name__ == "__main__":
    sys.exit(main())
