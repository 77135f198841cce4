"""The twin of own_sentence.js: a sentence for `HeadExplorer`, and the URL that stores it."""

import re
from contextlib import ExitStack
from urllib.parse import parse_qs, quote_plus, urlsplit

from attn._checks import argument_error
from attn_course.widgets._base import check_list, check_whole

OWN = "own"  # The name of such a sentence among the stored ones.
STEPS = 255  # A weight of 1 is stored as this number.
COLUMNS = 4
VIEWS = ("heads", "carry", "lens", "dares")
NUMBER = re.compile("[0-9]{1,7}")


def address_of(text, other="", off=(), patch=None, head=None, keep=()):
    """Return the query string of the page's URL for a state, from the question mark on.

    Parameters
    ----------
    text, other : str
    off : sequence of pairs of int
        Heads that are switched off: layer and head, both from 1.
    patch : pair of int, optional
        Layer and position of the vector that is carried over, both from 1.
    head : pair of int, optional
        The head that is enlarged.
    keep : sequence of pairs of int
        Heads that are alone on in their layer, as in `off`.

    Examples
    --------
    >>> address_of("The sky is", off=[(2, 4), (18, 5)], keep=[(24, 5)])
    '?sentence=The+sky+is&off=2.4-18.5&keep=24.5'
    """

    def written(pairs):
        return "-".join(f"{one}.{two}" for one, two in pairs)

    said = {"sentence": text, "other": other, "off": written(off), "keep": written(keep)}
    said |= {"patch": written([patch] if patch else []), "head": written([head] if head else [])}
    # As browsers write it, which keep an asterisk and escape a tilde.
    escaped = {name: quote_plus(x, safe="*").replace("~", "%7E") for name, x in said.items() if x}
    return "?" + "&".join(f"{name}={x}" for name, x in escaped.items())


def state_in(address):
    """Return the state in a URL of the page: the arguments of `address_of`.

    Raises
    ------
    ValueError
        If it holds no sentence, or something that the page does not write.

    Examples
    --------
    >>> state_in("?sentence=The+sky+is&off=2.4-18.5")["off"]
    [(2, 4), (18, 5)]
    """
    said = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    if "sentence" not in said:
        raise argument_error("address", "one with ?sentence=", repr(address))

    def pairs(name):
        found = [part.split(".") for part in said.get(name, "").split("-") if part]
        if not all(len(pair) == 2 and all(NUMBER.fullmatch(n) for n in pair) for pair in found):
            raise argument_error(f"address, {name}", "pairs such as 2.4", repr(said[name]))
        return [(int(one), int(two)) for one, two in found]

    if (view := said.get("view", VIEWS[0])) not in VIEWS:
        raise argument_error("address, view", " or ".join(VIEWS), repr(view))
    if (beside := said.get("beside", "yes")) != "yes":
        raise argument_error("address, beside", "yes", repr(beside))
    return {
        "text": said["sentence"],
        "other": said.get("other", ""),
        "off": pairs("off"),
        "keep": pairs("keep"),
        "patch": (pairs("patch") or [None])[0],
        "head": (pairs("head") or [None])[0],
    }


def read(model, tokenizer, text, other="", off=(), patch=None, keep=()):
    """Read a sentence, the changed one, and the last of both with heads off and a vector carried over.

    Parameters
    ----------
    model : attn.transformer.DecoderOnly
    tokenizer : attn.tokenizer.ByteLevelTokenizer
    text, other, off, patch, keep
        As in `address_of`.

    Returns
    -------
    dict
        As `unpack` of head_explorer.js takes it, with the ``hand`` of which `spoken` of
        own_sentence.js tells.

    Raises
    ------
    ValueError
        If an argument does not fit the model or the sentence.
    """
    import torch  # It takes a second, which pages with stored sentences need not wait.

    from attn_course import interpret

    ids = [tokenizer.encode_marked(each) for each in (text, other) if each]
    if not text or not ids[0]:
        raise argument_error("text", "at least one token", "none")
    is_even = len({len(each) for each in ids}) == 1
    if len(ids) == 2 and ids[0] == ids[1]:
        raise argument_error("other", "another text", repr(other))
    n_layers, n_heads = model.config.n_layers, model.config.n_heads
    off, keep = (
        [
            _pair(name, each, n_layers, n_heads)
            for each in check_list(name, pairs, "a list of pairs")
        ]
        for name, pairs in (("off", off), ("keep", keep))
    )
    if len({layer for layer, _ in keep}) < len(keep):
        raise argument_error("keep", "one head of a layer", [(i + 1, k + 1) for i, k in keep])
    kept = [(layer, k) for layer, head in keep for k in range(n_heads) if k != head]
    off = [each for each in off if each not in kept] + kept
    if patch is not None:
        patch = _pair("patch", patch, n_layers + 1, len(ids[0]))
        if len(ids) == 1:
            raise argument_error("patch", "another text to carry the vector to", "none")
        if not is_even:
            expected = f"another text of {len(ids[0])} tokens to carry the vector to"
            raise argument_error("patch", expected, f"{len(ids[1])} tokens")

    def silent(head):
        def change(heads):
            heads[:, :, head] = 0
            return heads

        return change

    @torch.no_grad()
    def reading(ids, off=(), patch=None, vectors=None):
        """Return the weights of every head and the probabilities of the next token."""
        x, found = model.embedding(torch.tensor([ids])), []
        with ExitStack() as changes:
            for layer, head in off:
                changes.enter_context(interpret.heads_changed(model, layer, silent(head)))
            for number, layer in enumerate([*model.stack.layers, None]):
                if patch and number == patch[0]:
                    x = x.clone()
                    x[0, patch[1]] = vectors[number, 0, patch[1]]
                if layer is not None:
                    x, weights = layer(x, is_causal=True, need_weights=True)
                    found.append(weights[0])
        return torch.stack(found), interpret.read_off(model, x[0, -1]).softmax(dim=-1)

    readings = [reading(each) for each in ids]
    if off or patch:
        vectors = interpret.streams(model, torch.tensor(ids[:1])) if patch else None
        readings.append(reading(ids[-1], off, patch, vectors))
    columns = {}
    for rank in range(3):
        for _, p in readings:
            if len(columns) < COLUMNS:
                columns[int(p.topk(3).indices[rank])] = None
    return {
        "tokens": [[tokenizer.decode([i]) for i in each] for each in (ids[0], ids[-1])],
        # In sentences of different lengths no token has a partner.
        "changed": [i for i, one in enumerate(ids[0]) if is_even and one != ids[-1][i]],
        "shape": [n_layers, n_heads],
        "from": [0] * len(readings),
        "next": [tokenizer.decode([i]) for i in columns],
        "probabilities": [[round(float(p[i]), 4) for i in columns] for _, p in readings],
        "weights": b"".join(
            (weights[..., *torch.tril_indices(*weights.shape[-2:])] * STEPS)
            .round()
            .to(torch.uint8)
            .numpy()
            .tobytes()
            for weights, _ in readings
        ),
        "hand": {
            "other": other,
            "off": [list(each) for each in off],
            "patch": dict(zip(("layer", "position"), patch, strict=True)) if patch else None,
        },
    }


def _pair(name, pair, *most):
    """Return two whole numbers from 1 as two from 0."""
    pair = check_list(name, pair, "two whole numbers", 2)
    return tuple(check_whole(name, n, 1, top) - 1 for n, top in zip(pair, most, strict=True))
