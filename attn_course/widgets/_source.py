"""The JavaScript and CSS of the widgets, assembled from the files in this folder.

Only the standard library, the palette and the place of the models are imported, so that the site can be
built where anywidget is not installed.
"""

import base64
import json
import re
from pathlib import Path

from attn.applications.models import TRANSLATOR, TRANSLATORS, folder, translator_folder
from attn_course import emoji as searched
from attn_course.palette import DARK, LIGHT, css_variables

FOLDER = Path(__file__).parent
# The bytes of the weights in one script, so that a page can show its progress. A multiple of three,
# because base64 turns three bytes into four letters.
PIECE = 330_000
# The scripts of the site and the widgets in each. The Transformer is only in the scripts of widgets
# that translate, so that other pages do not load it.
BUNDLES = {
    "widgets": ("attention_explorer", "softmax_playground", "quiz"),
    "answer_widgets": ("answer_explorer",),
    "continuation_widgets": ("continuation",),
    "map_widgets": ("embedding_map",),
    "family_widgets": ("family_map",),
    "head_widgets": ("head_viewer",),
    "two_widgets": ("two_heads",),
    "explorer_widgets": ("head_explorer",),
    "layer_widgets": ("layer_explorer",),
    "learner_widgets": ("learner",),
    "mask_widgets": ("mask_painter",),
    "pair_widgets": ("moving_pair",),
    "patch_widgets": ("patch_asker",),
    "sentence_widgets": ("sentence_map",),
    "position_widgets": ("position_explorer",),
    "speed_widgets": ("roofline_explorer", "tile_explorer"),
    "state_widgets": ("state_explorer",),
    "swing_widgets": ("query_swing",),
    "training_widgets": ("training_replay",),
    "sampling_widgets": ("sampling_explorer",),
    "visual_widgets": ("visual_asker", "answer_board"),
    "emoji_widgets": ("emoji_search",),
    "guesser_widgets": ("word_guesser",),
    "machine_widgets": ("ribbons", "live_machine"),
    "translator_widgets": ("live_translator", "transformer_microscope"),
}
# Bundles that a page loads only when its reader comes near the widget.
LATE = ("emoji_widgets",)
WIDGETS = tuple(stem for stems in BUNDLES.values() for stem in stems)
# The modules that run in a worker: the pretrained models in the page, and the translator that learns there.
ENGINE = (
    *(
        "llama",
        "packed",
        "byte_level",
        "parts",
        "llama_worker",
        "minilm",
        "word_piece",
        "minilm_worker",
    ),
    *("backward", "learner_worker"),
)
# Pages get the scripts without comments, which are a seventh of the bytes. Comments are on lines of
# their own.
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)[ \t]*\n", re.DOTALL | re.MULTILINE)
_IMPORT = re.compile(r'^import [^;]*"\./(\w+)\.js";\n', re.MULTILINE)


def _mix(share, scheme):
    """Return red, green and blue of that much "weight" on "surface", for ``rgb()``."""
    pairs = zip(*(bytes.fromhex(scheme[name][1:]) for name in ("weight", "surface")), strict=True)
    return " ".join(str(round(share * top + (1 - share) * ground)) for top, ground in pairs)


# The colour of a cell is `surface` mixed with as much `heat` as its weight. Above 0.757 (see
# attention_explorer.js) its number changes from `pale` to `deep`, because there black and white
# have the same contrast with the colour in both schemes, 4.58 to 1.
HEAT_LIGHT = {"scheme": "light", "heat": _mix(1, LIGHT), "pale": "#000", "deep": "#fff"}
HEAT_DARK = {"scheme": "dark", "heat": _mix(0.92, DARK), "pale": "#fff", "deep": "#000"}


def module(stem):
    """Return a module and all that it imports as one self-contained ES module."""
    return "".join(map(_body, _needed(stem)))


def classic_bundle(name="widgets"):
    """Return the widgets of a bundle and the no-kernel mount as one classic script.

    A page opened from ``file://`` may not load modules; it may load this, with ``defer``.
    """
    stems = BUNDLES[name]
    loaded_late = (*stems, "drawn")  # course.js loads what saves a figure.
    shared = dict.fromkeys(
        name for stem in stems for name in _needed(stem) if name not in loaded_late
    )
    widgets = [f"widgets.{stem} = (() => {{\n{_classic(_body(stem))}\n}})();" for stem in stems]
    parts = [*map(_classic, map(_body, shared)), "const widgets = {};", *widgets, _read("host.js")]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


def worker(stem):
    """Return a module and all that it imports as one classic script for a worker."""
    body = "".join(_classic(_body(name)) for name in _needed(stem))
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def drawing_script():
    """Return the script that a page loads when a figure is first saved."""
    body = "".join(_classic(_body(name)) for name in _needed("drawn"))
    return f'(() => {{\n"use strict";\n{body}\nglobalThis.drawingOf = drawingOf;\n}})();\n'


def translator(name=TRANSLATOR, source_language="en"):
    """Return a trained translator in the form that `trained.js` reads.

    Its weights are bytes; its vocabularies, one or one for each language, are the contents of their
    files. The translator of real sentences has the tables of
    `attn.applications.translation.recogniser` with it.
    """
    place = folder(translator_folder(name, source_language).name)
    about, *vocabularies = (
        json.loads(path.read_text(encoding="utf-8"))
        for stem in ("about", "vocabulary", "source", "target")
        if (path := place / f"{stem}.json").exists()
    )
    found = {
        "weights": (place / "model.safetensors").read_bytes(),
        "vocabularies": vocabularies,
        "tokenizer": about["tokenizer"],
        "maxLen": about["max_len"],
        "punctuated": about.get("punctuated", False),
    }
    return found | ({"languages": languages()} if name == TRANSLATOR else {})


def languages():
    """Return the tables of the recogniser in the form that `recogniser.js` reads."""
    stored = json.loads((folder("languages") / "counted.json").read_text(encoding="utf-8"))
    return {name: stored[name] for name in ("words", "en", "es")}


def visual_question():
    """Return the trained visual answerer in the form that `visual_model.js` reads."""
    about, questions = (
        json.loads((folder("visual_question") / f"{stem}.json").read_text(encoding="utf-8"))
        for stem in ("about", "questions")
    )
    weights = (folder("visual_question") / "model.safetensors").read_bytes()
    return {"weights": weights, "questions": questions, "answers": about["answers"]}


def attended():
    """Return the stored attention of a pretrained model in the form of `head_explorer.js`.

    Returns
    -------
    dict of str to dict
        By the name of the sentence; ``"weights"`` are bytes.
    """
    found = {}
    for path in sorted((FOLDER / "heads").glob("*.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        found[path.stem] = about | {"weights": base64.b64decode(about["weights"])}
    return dict(sorted(found.items(), key=lambda one: one[1].pop("order")))


def learner():
    """Return what `learner.js` opens: the sentences, the stored model, and the script of its worker."""
    world, stored = (
        json.loads((FOLDER / "learner" / f"{stem}.json").read_text(encoding="utf-8"))
        for stem in ("world", "stored")
    )
    weights = base64.b64decode(stored["weights"])
    return {"weights": weights, "worker": worker("learner_worker"), **world}


def emoji():
    """Return the trained searcher of emoji in the form that `emoji_model.js` reads."""
    vocabulary, codes = (
        json.loads((searched.FOLDER / f"{stem}.json").read_text(encoding="utf-8"))
        for stem in ("vocabulary", "emoji")
    )
    weights = (searched.FOLDER / "model.safetensors").read_bytes()
    limit = searched.MAX_TOKENS
    return {"weights": weights, "vocabulary": vocabulary, "maxTokens": limit, **codes}


def model_scripts():
    """Return the trained models as classic scripts, which a page may load from anywhere.

    The first script of a model holds all but its weights; these are in base64 in the others. The
    stored attention of each sentence is published in the same way.

    Returns
    -------
    dict of str to str
        The text of each script by the name of its file.
    """
    models = {
        translator_folder(name, language).name: translator(name, language)
        for name in TRANSLATORS
        for language in ("en", "es")
        if folder(translator_folder(name, language).name).exists()
    }
    models["visual_question"] = visual_question()
    models |= {f"attended_{name}": about for name, about in attended().items()}
    models["emoji"] = emoji()
    models["learner"] = learner()
    texts = {}
    for name, model in models.items():
        weights = model.pop("weights")
        model["pieces"] = [None] * -(-len(weights) // PIECE)
        about = json.dumps(model, ensure_ascii=False, separators=(",", ":"))
        texts[f"{name}.js"] = f'(globalThis.attnModels ??= {{}})["{name}"] = {about};\n'
        for i in range(len(model["pieces"])):
            piece = base64.b64encode(weights[i * PIECE : (i + 1) * PIECE]).decode()
            texts[f"{name}_{i + 1}.js"] = f'attnModels["{name}"].pieces[{i}] = "{piece}";\n'
    return texts


def scripts(body):
    """Return the names of the bundles that a page with this HTML needs."""
    held = set(re.findall(r'data-anywidget="(\w+)"', body))
    return [name for name, stems in BUNDLES.items() if held.intersection(stems)]


def stylesheet():
    """Return the CSS of the widgets with the colours of both schemes."""
    return ground() + plain(_read("widgets.css"))


def ground():
    """Return the CSS that a page needs before a widget is mounted: colours and fallbacks."""
    return (
        f":root {{ {css_variables(LIGHT)} {css_variables(HEAT_LIGHT)} }}\n"
        'html[data-theme="dark"], body[data-jp-theme-light="false"] '
        f"{{ {css_variables(DARK)} {css_variables(HEAT_DARK)} }}\n" + _read("fallback.css")
    )


def style_script():
    """Return a script that gives a page the rest of that CSS.

    It is as large as all other CSS of a page. A script that runs before those of the widgets
    does not delay the first paint.
    """
    sheet = json.dumps(plain(_read("widgets.css")), ensure_ascii=False)
    return f'document.head.append(Object.assign(document.createElement("style"), {{ textContent: {sheet} }}));\n'


def plain(sheet):
    """Return CSS without its comments."""
    return re.sub(r"/\*.*?\*/\n*", "", sheet, flags=re.DOTALL)


def _read(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def _body(stem):
    body = _IMPORT.sub("", _read(f"{stem}.js"))
    if stem == "certainty":
        stored = (folder("languages") / "calibrated.json").read_text(encoding="utf-8")
        fitted = json.dumps(json.loads(stored)["fitted"])
        body = body.replace("FITTED = {};", f"FITTED = {fitted};")
    return body


def _needed(stem):
    """Return the stems of the modules that one imports, directly or not, and then its own."""
    imported = [name for found in _IMPORT.findall(_read(f"{stem}.js")) for name in _needed(found)]
    return dict.fromkeys([*imported, stem])


def _classic(source):
    source = re.sub(r"^export default ", "return ", _COMMENT.sub("", source), flags=re.MULTILINE)
    return re.sub(r"^export ", "", source, flags=re.MULTILINE)
