"""The microscope in a page opened from ``file://``: its numbers are PyTorch's, and add up."""

import base64
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attn.positions import rotary
from attn.transformer import Transformer, TransformerConfig
from attn_course.widgets import TransformerMicroscope, _source
from tests.test_site.conftest import write_beside

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = "The cat that chased the mouse was black"
OTHER = "The sky is blue"
TOLERANCE = 2e-4  # of numbers up to about a hundred, in float32


@pytest.fixture(scope="module")
def folder(translator, tmp_path_factory):
    folder = tmp_path_factory.mktemp("microscope")
    example = translator.attention(EXAMPLE)
    for language in ("es", "en"):
        for scheme in ("light", "dark"):
            widget = TransformerMicroscope(
                example, sentences=[OTHER], pretrained="grammar", language=language
            )
            (folder / f"{language}-{scheme}.html").write_text(
                f'<!doctype html><html lang="{language}" data-theme="{scheme}">'
                '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                f"<title>x</title><style>{_source.stylesheet()} "
                "body { margin: 0; background: var(--attn-page); font-family: sans-serif; } "
                "main { padding: 0 17px; }</style>"
                f'<script defer src="translator_widgets.js"></script><main><h1>x</h1>{widget._html()}</main>',
                encoding="utf-8",
            )
    write_beside(folder, "translator_widgets")
    return folder


@pytest.fixture
def visit(browser, folder):
    """Open the page in a language and scheme, offline; loading the model if asked to."""
    contexts = []

    def open_page(language="es", scheme="light", *, width=1280, loaded=True, **options):
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, **options
        )
        page = context.new_page()
        page.errors, page.requests = [], []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda m: m.type == "error" and page.errors.append(m.text))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto((folder / f"{language}-{scheme}.html").as_uri())
        contexts.append((context, page))
        if loaded:
            page.locator("[data-attn=open]").click()
            page.locator(".attn-micro-preface").wait_for(state="detached")
        return page

    yield open_page
    for context, page in contexts:
        assert page.errors == []
        assert all(url.startswith(folder.as_uri()) for url in page.requests)
        context.close()


def go(page, name):
    """Go to a stage as ``decoder 1 selfAttention weights``, or ``encoder input tokens``."""
    page.evaluate(
        """(name) => {
          const [side, ...rest] = name.split(" ");
          const step = rest.pop(), part = rest.pop(), layer = Number(rest[0] ?? 1) - 1;
          const side_ = document.querySelector(`[data-side=${side}]`);
          side_.querySelectorAll(`[data-part=${part}]`)[layer].click();
          document.querySelector(`[data-step=${step}]`).click();
        }""",
        name,
    )
    assert (
        page.locator("[data-attn=step][aria-selected=true]").get_attribute("data-step")
        == (name.split()[-1])
    )


def choose(page, kind, i):
    page.locator(f"[data-attn={kind}]").nth(i).click()


def values(locator):
    found = locator.evaluate_all("ns => ns.map(n => n.dataset.value)")
    return np.array([float(text.replace("Infinity", "inf")) for text in found])


def numbers(page):
    return values(page.locator("[data-attn=panel] [data-attn=number]"))


# The numbers -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
@torch.no_grad()
def made(translator):
    """What PyTorch's modules were given and made of the example, by name, from hooks."""
    model, given, made, hooks = translator.model, {}, {}, []
    for name, module in model.named_modules():

        def keep(module, args, kwargs, output, name=name):
            given[name], made[name] = args, output

        hooks.append(module.register_forward_hook(keep, with_kwargs=True))
    src = translator.source.encode(EXAMPLE)
    tgt = translator.target.encode(translator.translate(EXAMPLE), sos=True)
    logits, weights = model(torch.tensor([src]), torch.tensor([tgt]), need_weights=True)
    for hook in hooks:
        hook.remove()
    return {
        "given": given,
        "made": made,
        "weights": weights,
        "logits": logits[0],
        "src": src,
        "tgt": tgt,
    }


def heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(0, 1)


def expected_stages(made, config):
    """Yield stage, head, row and the numbers that must be shown."""
    out, given, n = made["made"], made["given"], config.n_heads
    layer = "decoder.layers.1"
    own, cross = f"{layer}.self_attention", f"{layer}.cross_attention"
    yield "encoder input tokens", None, None, made["src"]
    yield "decoder input tokens", None, None, made["tgt"]
    tokens = out["src_embedding.tokens"][0] * math.sqrt(config.d_model)
    yield "encoder input embedding", None, 2, tokens[2]
    yield "encoder input position", None, 4, out["src_embedding"][0][4]
    yield (
        "encoder 2 feedForward hidden",
        None,
        3,
        given["encoder.layers.1.feed_forward.linear_2"][0][0][3],
    )
    yield "encoder 1 selfAttention sum", None, 1, given["encoder.layers.0.norm_2"][0][0][1]
    yield "encoder memory memory", None, 5, out["encoder"][0][0][5]
    yield "decoder 2 crossAttention norm", None, 2, out[f"{layer}.norm_2"][0][2]
    query, key, value = (heads(out[f"{own}.{p}_proj"][0], n) for p in "qkv")
    yield "decoder 2 selfAttention query", 1, 3, query[1, 3]
    yield "decoder 2 selfAttention value", 2, 1, value[2, 1]
    if config.positions == "rotary":
        query, key = (rotary(x, torch.arange(x.shape[-2])) for x in (query, key))
        yield "decoder 2 selfAttention turnedQuery", 1, 3, query[1, 3]
        yield "decoder 2 selfAttention turnedKey", 3, 4, key[3, 4]
    scores = query @ key.mT
    masked = (scores / math.sqrt(query.shape[-1])).masked_fill(
        torch.ones_like(scores).triu(1).bool(), -math.inf
    )
    yield "decoder 2 selfAttention scores", 2, None, scores[2].flatten()
    yield "decoder 2 selfAttention scaled", 2, None, masked[2].flatten()
    yield "decoder 2 selfAttention weights", 3, None, made["weights"].decoder[1][0, 3].flatten()
    yield "decoder 2 crossAttention weights", 0, None, made["weights"].cross[1][0, 0].flatten()
    yield "decoder 2 crossAttention key", 1, 6, heads(out[f"{cross}.k_proj"][0], n)[1, 6]
    joined = heads(given[f"{cross}.out_proj"][0][0], n)
    yield "decoder 2 crossAttention mean", 3, 2, joined[3, 2]
    yield "decoder 2 crossAttention projection", None, 2, out[f"{cross}.out_proj"][0][2]
    yield "decoder 2 feedForward output", None, 0, out[f"{layer}.feed_forward"][0][0]
    yield "decoder prediction lastNorm", None, 1, out["decoder"][0][0][1]
    for step, x in (("logits", made["logits"]), ("softmax", made["logits"].softmax(-1))):
        for row in (0, 4):
            yield f"decoder prediction {step}", None, row, x[row].topk(10).values


def test_numbers_are_those_of_pytorch(visit, translator, made):
    page, count = visit(), 0
    for stage, head, row, wanted in expected_stages(made, translator.model.config):
        go(page, stage)
        if head is not None:
            choose(page, "head", head)
        if row is not None:
            rows = page.locator("[data-attn=row], [data-attn=token]")
            rows.nth(row).click()
        np.testing.assert_allclose(
            numbers(page),
            torch.as_tensor(wanted).numpy(),
            atol=TOLERANCE,
            rtol=TOLERANCE,
            err_msg=stage,
        )
        count += 1
    assert count >= 24


@torch.no_grad()
def test_the_residual_stream_is_measured(visit, translator, made):
    page, out = visit(), made["made"]
    go(page, "decoder stream stream")
    choose(page, "token", 3)
    wanted = [out["tgt_embedding"][0][3]]
    streams = [wanted[0]]
    for layer in ("decoder.layers.0", "decoder.layers.1"):
        parts = ("self_attention.out_proj", "cross_attention.out_proj", "feed_forward")
        wanted += [out[f"{layer}.{part}"][0][3] for part in parts]
        streams.append(out[layer][0][0][3])
    lengths = [x.norm() for x in wanted]
    np.testing.assert_allclose(numbers(page), lengths, rtol=1e-4)
    go(page, "decoder stream lens")
    model = translator.model
    probabilities = [model.output(model.decoder.norm(x)).softmax(-1) for x in streams]
    best = torch.stack([p.topk(3).values for p in probabilities])
    np.testing.assert_allclose(numbers(page), best.flatten(), atol=TOLERANCE)


def taken_apart(page):
    """Return the value in the inspector, and what its table says of it, by kind of line."""
    inspector = page.locator("[data-attn=inspector]")
    kinds = ("term", "rest", "bias", "sum", "then")
    return values(inspector.locator("[data-attn=value]"))[0], {
        kind: values(inspector.locator(f"[data-attn={kind}]")) for kind in kinds
    }


def at_all_stages(page, see):
    """Go to every stage in turn; return what a function of JavaScript sees at each."""
    return page.evaluate(
        f"""() => {{
          const see = {see};
          const select = document.querySelector("[data-attn=stage]");
          return [...select.options].map(({{ value }}) => {{
            select.value = value;
            select.dispatchEvent(new Event("change"));
            return see(value);
          }});
        }}"""
    )


LOOK_AT_THREE_NUMBERS = """() => {
  const $$ = (selector) => [...document.querySelectorAll(selector)];
  const values = (selector) => $$(selector).map((node) => node.dataset.value);
  const value = () => values("[data-attn=inspector] [data-attn=value]")[0];
  const step = $$("[data-attn=step][aria-selected=true]")[0].dataset.step;
  if (step === "tokens") return { step };
  const pressed = $$("[data-attn=panel] [data-attn=number][aria-pressed=true]");
  const first = { value: value(), pressed: pressed.map((n) => [n.dataset.value, n.tabIndex]) };
  const looks = [0, 0.5, 1].map((share) => {
    const numbers = $$("[data-attn=panel] button[data-attn=number]");
    const number = numbers[Math.floor(share * (numbers.length - 1))];
    number.click();
    const parts = ["term", "rest", "bias", "sum", "then"].map((kind) =>
      [kind, values(`[data-attn=inspector] [data-attn=${kind}]`)]);
    return { shown: number.dataset.value, value: value(), parts };
  });
  return { step, first, looks };
}"""


def test_every_number_is_taken_apart_into_what_it_is_made_of(visit):
    page, count = visit(), 0
    for seen in at_all_stages(page, LOOK_AT_THREE_NUMBERS):
        step = seen["step"]
        if step == "tokens":
            continue
        assert seen["first"]["pressed"] == [[seen["first"]["value"], 0]]
        for look in seen["looks"]:
            assert look["value"] == look["shown"]
            value = float(look["value"].replace("Infinity", "inf"))
            parts = {
                kind: np.array([float(text.replace("Infinity", "inf")) for text in texts])
                for kind, texts in look["parts"]
            }
            total = parts["term"].sum() + parts["rest"].sum() + parts["bias"].sum()
            if len(parts["term"]):
                assert parts["sum"] == pytest.approx([total], rel=1e-9, abs=1e-9)
            if step in ("weights", "softmax", "lens"):
                power, share = parts["then"]
                assert share == pytest.approx(power / total)
                total = share
            elif step == "hidden":
                assert parts["then"] == pytest.approx([max(0, total)])
                total = parts["then"][0]
            elif step == "stream":
                assert parts["then"] == pytest.approx([math.sqrt(total)])
                total = parts["then"][0]
            elif step == "embedding":
                assert parts["then"][2] == pytest.approx(parts["then"][0] * parts["then"][1])
                total = parts["then"][2]
            elif step == "scaled":
                score, root, total = parts["then"]
                assert total in (-math.inf, pytest.approx(score / root))
            elif not len(parts["term"]):  # a norm
                x, mean, deviation, normalised, gain, shift, total = parts["then"]
                assert normalised == pytest.approx((x - mean) / deviation)
                assert total == pytest.approx(normalised * gain + shift)
            assert value == pytest.approx(total, rel=1e-5, abs=2e-5), step
            count += 1
    assert count > 250


def test_all_terms_can_be_seen(visit):
    page = visit()
    go(page, "encoder 1 selfAttention query")
    value, few = taken_apart(page)
    assert len(few["term"]) == 6 and len(few["rest"]) == 1
    choose(page, "all", 0)
    same, every = taken_apart(page)
    assert same == value and len(every["term"]) == 64 and not len(every["rest"])
    assert every["sum"] == pytest.approx(few["sum"])
    exact = page.locator("[data-attn=value]").inner_text()
    assert float(exact.removeprefix("= ").replace("−", "-")) == pytest.approx(value, rel=5e-6)


def test_what_the_causal_mask_hides_is_marked(visit):
    page = visit()
    for step, masks in (("scores", False), ("scaled", True), ("weights", True)):
        go(page, f"decoder 1 selfAttention {step}")
        cells = page.locator("[data-attn=number]")
        n = round(cells.count() ** 0.5)
        hidden = values(page.locator("[data-attn=number][data-masked]"))
        assert len(hidden) == (n * (n - 1) / 2 if masks else 0)
        assert (hidden == (-math.inf if step == "scaled" else 0)).all()
        assert page.locator("[aria-label*=enmascarado]").count() == len(hidden)


KINDS = [
    {"positions": "sinusoidal", "norm": "post"},
    {"positions": "learned", "norm": "pre", "n_kv_heads": 2, "scale_embeddings": False},
    {"positions": "rotary", "norm": "post", "n_kv_heads": 1, "tgt_vocab_size": 17},
    {"positions": "none", "norm": "pre", "tie_embeddings": False},
]


@pytest.mark.parametrize("options", KINDS, ids=lambda options: options["positions"])
def test_models_of_other_kinds_are_taken_apart_too(browser, tmp_path, options):
    """Post-norm, other positions, shared keys: each explanation still ends with its number."""
    torch.manual_seed(0)
    config = TransformerConfig(21, d_model=24, n_heads=4, n_layers=2, d_ff=40, **options)
    model, path = Transformer(config), tmp_path / "model"
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.save(path, quantised=True)
    bundle = "\n".join(_source._classic(_source._body(stem)) for stem in _source._needed("anatomy"))
    page = browser.new_page()
    page.goto("about:blank")
    checked = page.evaluate(
        f"""([text, n]) => {{
          {bundle}
          const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
          const tokens = Array.from({{ length: n }}, (_, i) => `t${{i}}`);
          const transformer = loadTransformer(bytes);
          const trace = dissect({{ transformer, source: {{ tokens }}, target: {{ tokens, decode: String }} }}, [4, 2, 4]);
          const count = {{}};
          const last = (step, {{ terms, bias, steps }}) => (steps ? steps.at(-1)[1] : total({{ terms, bias }}));
          for (const block of anatomy(transformer.config)) for (const step of block.steps) {{
            if (step === "tokens") continue;
            for (let head = 0; head < (inHeads(step) ? transformer.config.nHeads : 1); head++) {{
              const rows = numbers(trace, block, step, head);
              const kind = kindOf(step);
              const places = kind === "stream" ? rows.map((_, c) => [1, c, rows[c][1]])
                : kind === "lens" ? rows.map((of, c) => [1, [c, 3], of[1][3]])
                : rows.flatMap((row, i) => [0, 1, row.length - 1].filter((c) => c < row.length).map((c) => [i, c, row[c]]));
              for (const [row, c, value] of places) {{
                const found = last(step, explain(trace, block, step, head, row, c));
                if (!(found === value || Math.abs(found - value) < 2e-5 * (1 + Math.abs(value)))) {{
                  throw new Error([block.side, block.layer, block.part, step, head, row, c, value, found].join(" "));
                }}
                count[step] = (count[step] ?? 0) + 1;
              }}
            }}
          }}
          return count;
        }}""",
        [base64.b64encode(path.read_bytes()).decode(), config.tgt_vocab_size or config.vocab_size],
    )
    page.close()
    assert ("turnedQuery" in checked) == (config.positions == "rotary")
    assert min(checked.values()) >= 3 and len(checked) >= 19


# What it stands for ------------------------------------------------------------------------------


def test_every_quoted_line_stands_in_its_file(visit):
    source = (ROOT / "attn_course/widgets/microscope_text.js").read_text(encoding="utf-8")
    table = re.search(r"export const CODE = \{(.*?)\n\};", source, re.DOTALL)[1]
    quoted = re.findall(r"^  (\w+): (\[.*\]),$", table, re.MULTILINE)
    assert len(quoted) == len(table.strip().splitlines()) > 20
    for name, pair in quoted:
        path, line = json.loads(re.sub(r"'(.*)'", lambda m: json.dumps(m[1]), pair))
        lines = [x.strip() for x in (ROOT / path).read_text(encoding="utf-8").splitlines()]
        assert line in lines, name
    page = visit()
    go(page, "decoder 1 selfAttention scaled")
    assert "-math.inf" in page.locator("[data-attn=code]").inner_text()
    go(page, "decoder 1 crossAttention scaled")
    assert "math.sqrt" in page.locator("[data-attn=code]").inner_text()
    see = """() => ["code", "equation"].map((name) =>
      document.querySelector(`[data-attn=${name}]`).innerText.trim())"""
    shown = at_all_stages(page, see)
    assert len({code for code, _ in shown}) > 15
    assert all(equation for _, equation in shown)


# Before and without the model ------------------------------------------------------------------


def test_an_example_shows_before_anything_loads(visit, translator):
    page = visit(loaded=False)
    assert not any("grammar_translator" in url for url in page.requests)
    example = translator.attention(EXAMPLE)
    np.testing.assert_allclose(numbers(page), example.cross[-1, 0].ravel(), rtol=1e-5, atol=1e-12)
    choose(page, "head", 2)
    np.testing.assert_allclose(numbers(page), example.cross[-1, 2].ravel(), rtol=1e-5, atol=1e-12)
    assert translator.translate(EXAMPLE) in page.locator("[data-attn=said]").inner_text()
    assert not any("grammar_translator" in url for url in page.requests)
    # Whoever asks for more gets the model.
    page.locator("[data-attn=next]").click()
    page.locator(".attn-micro-preface").wait_for(state="detached")
    assert page.locator("[data-attn=step][aria-selected=true]").get_attribute("data-step") == "mean"
    assert len(numbers(page)) == 16


def test_without_the_model_the_example_stays(browser, folder, tmp_path):
    for name in ("en-light.html", "translator_widgets.js"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    page = browser.new_page()
    page.goto((tmp_path / "en-light.html").as_uri())
    before = numbers(page)
    page.locator("[data-attn=open]").click()
    said = page.locator("[data-attn=complaint]")
    page.wait_for_function("document.querySelector('[data-attn=complaint]').textContent")
    assert said.inner_text().startswith("The model did not arrive whole (0.0 of 0.4 MB)")
    assert np.array_equal(numbers(page), before)
    page.close()


def test_a_kernel_sends_the_model_so_there_is_nothing_to_open(browser, translator):
    """As JupyterLab does: a module, and the weights as a view of part of a buffer."""
    example = translator.attention(EXAMPLE)
    widget = TransformerMicroscope(example, pretrained="grammar", language="en")
    parts = _source.translator("grammar")
    parts["weights"] = base64.b64encode(parts["weights"]).decode()
    page = browser.new_page()
    page.goto("about:blank")
    page.evaluate(
        """([source, state]) => {
          const bytes = Uint8Array.from(atob(state.trained.weights), (c) => c.charCodeAt(0));
          const longer = new Uint8Array(bytes.length + 5);
          longer.set(bytes, 5);
          state.trained.weights = new DataView(longer.buffer, 5);
          globalThis.model = { get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {} };
          const script = document.createElement("script");
          script.type = "module";
          script.textContent = `${source.replace("export default", "globalThis.widget =")}
            widget.render({ model, el: document.body });`;
          document.head.append(script);
        }""",
        [
            widget._esm,
            {
                "example": widget.example,
                "sentences": [],
                "language": "en",
                "trained": parts,
                "pretrained": widget.pretrained,
            },
        ],
    )
    page.locator(".attn-micro-preface").wait_for(state="detached")
    go(page, "decoder prediction softmax")
    assert len(numbers(page)) == 10
    page.close()


def test_other_sentences_and_what_is_refused(visit, translator):
    page = visit("en")
    said, complaint = page.locator("[data-attn=said]"), page.locator("[data-attn=complaint]")
    page.locator("[data-attn=pick]").select_option(index=2)
    expect(said).to_contain_text(translator.translate(OTHER))
    for text, complains in [
        ("  ", "Type a sentence."),
        ("the zyx sky qwv", "not in the model's vocabulary: zyx, qwv."),
        ("the cat " * translator.max_len, f"has {2 * translator.max_len} tokens"),
    ]:
        page.locator("[data-attn=sentence]").fill(text)
        page.keyboard.press("Enter")
        expect(complaint).to_contain_text(complains)
        assert translator.translate(OTHER) in said.inner_text()
    page.locator("[data-attn=sentence]").fill("The red house.")
    page.keyboard.press("Enter")
    expect(complaint).to_have_text("")
    expect(said).to_contain_text(translator.translate("The red house"))


def test_any_sentence_in_parts_of_words(browser, tmp_path, byte_pairs):
    """With one vocabulary for both languages, as the model of real sentences has."""
    text = "The quark's 3 xylophones, 🙂!"
    example = byte_pairs.attention("the red house")
    widget = TransformerMicroscope(example, pretrained="tatoeba", language="en")
    write_beside(tmp_path, "translator_widgets")
    page = f'<script defer src="translator_widgets.js"></script>{widget._html()}'
    (tmp_path / "page.html").write_text(f'<!doctype html><meta charset="utf-8">{page}', "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("[data-attn=sentence]").input_value() == "the red house"
    said = page.locator("[data-attn=said]")
    assert said.text_content() == f"“the red house” → “{byte_pairs.translate('the red house')}”"
    page.locator("[data-attn=sentence]").fill(text)
    page.keyboard.press("Enter")
    page.locator(".attn-micro-preface").wait_for(state="detached")
    assert said.text_content() == f"“{text}” → “{byte_pairs.translate(text)}”"
    go(page, "encoder input tokens")
    assert numbers(page).tolist() == byte_pairs.source.encode(text)
    go(page, "decoder prediction softmax")
    logits, _ = byte_pairs.model(
        torch.tensor(byte_pairs.source.encode(text)), torch.tensor([byte_pairs.target.sos_id])
    )
    best = logits[0].softmax(-1).topk(10).values.tolist()
    np.testing.assert_allclose(numbers(page), best, atol=TOLERANCE)
    page.close()


# Hands -----------------------------------------------------------------------------------------


def test_by_keyboard_alone(visit):
    page = visit(loaded=False)
    focused = "document.activeElement.dataset.attn"

    def tab_to(name):
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate(focused) == name:
                return
        raise AssertionError(f"no way to {name}")

    tab_to("open")
    page.keyboard.press("Enter")
    page.locator(".attn-micro-preface").wait_for(state="detached")
    page.wait_for_function(f"{focused} === 'step'")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == "part"
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    part = (
        "document.activeElement.getAttribute('aria-current') + document.activeElement.dataset.part"
    )
    assert page.evaluate(part) == "stepselfAttention"
    tab_to("step")
    page.keyboard.press("ArrowRight")
    step = "[data-attn=step][aria-selected=true]"
    assert page.locator(step).get_attribute("data-step") == "query"
    tab_to("head")
    page.keyboard.press("End")
    assert page.locator("[data-attn=head]").nth(3).get_attribute("aria-checked") == "true"
    assert page.evaluate(focused) == "head"
    tab_to("row")
    page.keyboard.press("ArrowDown")
    assert page.locator("[data-attn=row]").nth(1).get_attribute("aria-checked") == "true"
    tab_to("number")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    cell = page.locator("[data-attn=number]").nth(1)
    assert cell.get_attribute("aria-pressed") == "true"
    assert values(page.locator("[data-attn=value]"))[0] == values(cell)[0]
    expect(page.locator("[data-attn=status]")).to_contain_text("componente 2 de «cat»")
    tab_to("all")
    page.keyboard.press("Enter")
    assert page.evaluate(focused) == "all"
    # Between two rows of a matrix, arrows go up and down.
    go(page, "encoder 1 selfAttention scores")
    first = page.locator("[data-attn=number]").first
    first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.key") == "cell 1 0"


def test_pointing_shows_and_leaving_restores(visit):
    page = visit()
    go(page, "encoder 1 selfAttention query")
    before, value = values(page.locator("[data-attn=value]")), page.locator("[data-attn=value]")
    box = page.locator("[data-attn=inspector]").bounding_box()
    other = 9 if numbers(page)[9] != before[0] else 10
    page.locator("[data-attn=number]").nth(other).hover()
    assert values(value)[0] == numbers(page)[other] != before[0]
    assert page.locator("[data-attn=inspector]").bounding_box()["y"] == box["y"]
    page.mouse.move(0, 0)
    assert values(value)[0] == before[0]


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out(visit, width):
    page = visit(width=width)
    see = "(stage) => [stage, document.documentElement.scrollWidth - innerWidth]"
    assert [(stage, over) for stage, over in at_all_stages(page, see) if over > 0] == []
    # The sentence for screen readers comes later.
    page.wait_for_function("document.querySelector('[data-attn=status]').textContent.length > 30")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator("[data-attn=status]").bounding_box()["width"] == 1
    go(page, "decoder 2 crossAttention weights")
    matrix = page.locator("[data-attn=panel] > .attn-w-scroll")
    if width >= 390:
        assert matrix.evaluate("n => n.scrollWidth - n.clientWidth") <= 1


def test_a_finger_can_do_it_too(visit):
    page = visit(width=390, has_touch=True, is_mobile=True)
    page.locator("[data-attn=next]").tap()
    page.locator("[data-attn=number]").nth(5).tap()
    assert values(page.locator("[data-attn=value]"))[0] == numbers(page)[5]
    heights = page.locator(
        ".attn-w :is(button:not([data-attn=number]), select, input):visible"
    ).evaluate_all("ns => ns.map(n => n.getBoundingClientRect().height)")
    assert min(heights) >= 43.9


@pytest.mark.parametrize("language, scheme", [("es", "light"), ("en", "dark")])
def test_no_accessibility_violation(visit, language, scheme, violations):
    page = visit(language, scheme, loaded=False)
    assert violations(page) == []
    page.locator("[data-attn=open]").click()
    page.locator(".attn-micro-preface").wait_for(state="detached")
    for stage in (
        "encoder input tokens",
        "encoder 1 selfAttention norm",
        "encoder 2 feedForward hidden",
        "decoder 1 selfAttention scaled",
        "decoder prediction softmax",
        "decoder stream stream",
        "decoder stream lens",
    ):
        go(page, stage)
        assert violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert violations(page) == []
