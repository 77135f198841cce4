"""How SmolLM2 continues a text: the best tokens of each step, and what would follow each.

The main path takes the most probable token of each step. From each of the other tokens a short
branch continues in the same way.
"""

import torch

from experiments.modern_tasks import smollm2

# The beginnings of each figure, with their language. Those of `chat` are a question alone, and the
# question in the template with which the model was fine-tuned.
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
PROMPTS = {
    "texts": {
        "The sky is blue because": "en",
        "Once upon a time, there was a": "en",
        "El cielo es azul porque": "es",
    },
    "chat": {
        "What is the capital of France?": "en",
        CHAT.format("What is the capital of France?"): "en",
        CHAT.format("¿De qué color es el cielo?"): "es",
    },
}
# The tokens shown at a step, the steps of the main path, and the steps of a branch.
N_BEST, N_STEPS, N_BRANCH = 5, 14, 3


@torch.inference_mode()
def following(model, rows):
    """Return the next-token probabilities of rows of equal length, shape (n_rows, vocab_size)."""
    x, _ = model.stack(model.embedding(torch.tensor(rows)), is_causal=True)
    return model.output(x[:, -1]).softmax(dim=-1)


def piece(tokenizer, i):
    """Return a token's text, or the name of a special token."""
    return tokenizer.decode([i]) or tokenizer.tokens[i]


def grown(model, tokenizer, rows, n_steps, branches):
    """Return a tree for each row: its best tokens, and the nodes after those that are chosen.

    A node is a dict with ``best``, a list of tokens and their probabilities, and ``next``, a list
    of the nodes that follow them, None where nothing is stored.
    """
    probabilities, ids = following(model, rows).topk(N_BEST)
    nodes = [
        {
            "best": [
                [piece(tokenizer, i), round(p, 3)]
                for i, p in zip(some.tolist(), row.tolist(), strict=True)
            ],
            "next": [None] * N_BEST,
        }
        for some, row in zip(ids, probabilities, strict=True)
    ]
    if n_steps == 1:
        return nodes
    for node, row, best in zip(nodes, rows, ids.tolist(), strict=True):
        if best[0] != tokenizer.eos_id:
            (node["next"][0],) = grown(model, tokenizer, [[*row, best[0]]], n_steps - 1, branches)
        if branches:
            others = [i for i in best[1:] if i != tokenizer.eos_id]
            found = grown(model, tokenizer, [[*row, i] for i in others], N_BRANCH, False)
            for i, other in zip(others, found, strict=True):
                node["next"][best.index(i)] = other
    return nodes


def measure(told, keep):
    """Write the tree of each prompt that has none yet."""
    model, tokenizer = smollm2()
    for figure, prompts in PROMPTS.items():
        done = told.setdefault(figure, [])
        for prompt, language in prompts.items():
            if prompt not in [text["prompt"] for text in done]:
                ids = tokenizer.encode_marked(prompt)
                (tree,) = grown(model, tokenizer, [ids], N_STEPS, True)
                done.append({"prompt": prompt, "language": language, "tree": tree})
                keep(told)
