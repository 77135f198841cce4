"""`FamilyMap`: its data against the code of Transformers, its checks, what is shown on paper; its JavaScript."""

import importlib

import pytest

from attn_course.widgets import FamilyMap, load_families
from attn_course.widgets.family_map import PARTS

FAMILIES = {family["name"]: family for family in load_families("en")}


def config(module, name, **sizes):
    found = importlib.import_module(f"transformers.models.{module}.configuration_{module}")
    return getattr(found, name)(**sizes)


def code(module):
    found = importlib.import_module(f"transformers.models.{module}")
    return (found.__spec__.submodule_search_locations[0], module)


def source(module):
    folder, stem = code(module)
    with open(f"{folder}/modeling_{stem}.py", encoding="utf-8") as file:
        return file.read()


def test_families_are_in_order_and_speak_both_languages():
    spanish = load_families("es")
    dates = [family["date"] for family in spanish]
    assert dates == sorted(dates)
    assert dates[0] == "2017-06" and dates[-1].startswith("2026")
    for family, english in zip(spanish, FAMILIES.values(), strict=True):
        assert set(family["parts"]) <= set(PARTS)
        assert family["name"] == english["name"]
        assert family["change"] != english["change"] and family["course"] != english["course"]


def test_statements_on_scores_agree_with_the_code_of_transformers():
    assert config("gemma2", "Gemma2Config").attn_logit_softcapping == 50
    assert config("gemma3", "Gemma3TextConfig").attn_logit_softcapping is None
    for module in ("olmo2", "qwen3", "gemma3"):
        assert "self.q_norm(" in source(module) and "self.k_norm(" in source(module)
    for module in ("gpt_oss", "deepseek_v4"):
        assert "torch.cat([attn_weights, sinks], dim=-1)" in source(module)
        assert "probs[..., :-1]" in source(module)
    for module in ("qwen3_next", "qwen3_5"):
        assert "attn_output * torch.sigmoid(gate)" in source(module)
    told = {name for name, family in FAMILIES.items() if "weights" in family["parts"]}
    newest = {"DeepSeek-V4", "Gemma 2", "Gemma 3", "OLMo 2", "Qwen3", "Qwen3-Next", "Qwen3.5"}
    assert told == newest | {"gpt-oss"}


@pytest.mark.parametrize(
    "module, name, kind, share",
    [
        ("gemma2", "Gemma2Config", "sliding_attention", 1 / 2),
        ("gemma3", "Gemma3TextConfig", "sliding_attention", 5 / 6),
        ("gemma4", "Gemma4TextConfig", "sliding_attention", 5 / 6),
        ("gpt_oss", "GptOssConfig", "sliding_attention", 1 / 2),
        ("qwen3_next", "Qwen3NextConfig", "linear_attention", 3 / 4),
        ("qwen3_5", "Qwen3_5TextConfig", "linear_attention", 3 / 4),
        ("olmo_hybrid", "OlmoHybridConfig", "linear_attention", 3 / 4),
    ],
)
def test_the_stated_share_of_layers_has_limited_attention(module, name, kind, share):
    kinds = config(module, name, num_hidden_layers=12).layer_types
    assert kinds.count(kind) == 12 * share


def test_the_other_rows_of_the_table_of_chapter_14_are_in_the_code_of_transformers():
    assert (
        config("smollm3", "SmolLM3Config", num_hidden_layers=8).no_rope_layers == [1, 1, 1, 0] * 2
    )
    kinds = config("kimi_linear", "KimiLinearConfig", num_hidden_layers=9).layer_types
    assert [i for i, kind in enumerate(kinds) if kind == "full_attention"] == [4, 8]
    for module in ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_linear"):
        assert "self.kv_a_layernorm(" in source(module) and "kv_lora_rank" in source(module)
    assert "self.rotary_emb" not in source("kimi_linear")
    assert config("olmo_hybrid", "OlmoHybridConfig").linear_allow_neg_eigval is True
    for module in ("qwen3_next", "qwen3_5", "olmo_hybrid"):
        assert "torch_recurrent_gated_delta_rule" in source(module)
        assert "self.q_norm(" in source(module)


def test_six_of_the_models_of_the_table_of_chapter_14_have_experts():
    mixed = {
        "deepseek_v3": "DeepseekV3Config",
        "deepseek_v32": "DeepseekV32Config",
        "gpt_oss": "GptOssConfig",
        "kimi_linear": "KimiLinearConfig",
        "qwen3_next": "Qwen3NextConfig",
        "qwen3_5_moe": "Qwen3_5MoeTextConfig",
    }
    for module, name in mixed.items():
        assert any(option.endswith("experts") for option in vars(config(module, name)))
    dense = {"gemma2": "Gemma2Config", "olmo2": "Olmo2Config", "gemma3": "Gemma3TextConfig"}
    dense |= {"smollm3": "SmolLM3Config", "olmo_hybrid": "OlmoHybridConfig"}
    for module, name in dense.items():
        assert not any(option.endswith("experts") for option in vars(config(module, name)))


def test_statements_on_deepseek_and_gemma_agree_with_their_configurations():
    assert config("deepseek_v32", "DeepseekV32Config").index_topk == 2048
    joined = config("deepseek_v4", "DeepseekV4Config").compress_rates
    assert sorted(joined.values()) == [4, 128]
    rotated = config("gemma4", "Gemma4TextConfig").rope_parameters["full_attention"]
    assert rotated["partial_rotary_factor"] == 0.25


def test_javascript_groups_families_by_year_and_says_months(node):
    found = node(
        """import { STRINGS, spoken, years } from "./family_map.mjs";
        console.log(JSON.stringify([years(input).map(([year, some]) => [year, some.length]),
          spoken("2018-10", STRINGS.en), spoken("2018-10", STRINGS.es)]));""",
        [{"date": "2017-06"}, {"date": "2018-02"}, {"date": "2018-10"}],
    )
    assert found == [[["2017", 1], ["2018", 2]], "October 2018", "octubre de 2018"]


def test_on_paper_every_family_has_its_row():
    html = FamilyMap("BERT", language="en")._html()
    for family in FAMILIES.values():
        assert f'<th scope="row">{family["name"]}</th><td>{family["date"]}</td>' in html


@pytest.mark.parametrize(
    "bad, message",
    [
        ({"model": "ERNIE"}, "model: expected 'Transformer' or .*, got 'ERNIE'"),
        ({"part": "dropout"}, "part: expected '' or 'half' or .*, got 'dropout'"),
    ],
)
def test_unknown_models_and_parts_are_refused(bad, message):
    with pytest.raises(ValueError, match=message):
        FamilyMap(**{"model": "BERT", **bad})
    shown = FamilyMap("BERT")
    with pytest.raises(ValueError, match=message):
        setattr(shown, *next(iter(bad.items())))


def test_a_language_that_the_course_does_not_speak_is_refused():
    with pytest.raises(ValueError, match="language: expected one of .*, got 'fr'"):
        load_families("fr")
