"""The search: what comes first, where it leads, and what it does with accents and typing errors."""

import json

import pytest

LANGUAGES = ("es", "en")
CHAPTER = "03_self_attention"


@pytest.fixture
def ask(tab, server):
    page = tab()

    def ask(language, query):
        page.goto(f"{server}/{language}/index.html")
        page.locator("#attn-search").fill(query)
        page.keyboard.press("Enter")
        page.locator("#search-results p[role=status]").wait_for()
        return page

    yield ask
    assert page.errors == []


def pages(page):
    links = page.locator(".attn-results h2 a")
    return links.evaluate_all("all => all.map(a => a.pathname.match(/(\\w+)\\.html$/)[1])")


@pytest.mark.parametrize(
    ("language", "query", "first"),
    [
        ("es", "softmax", CHAPTER),
        ("en", "softmax", CHAPTER),
        ("es", "pesos", CHAPTER),
        ("es", "máscara", "06_masking"),
        ("en", "beam search", "09_decoding"),
        ("en", "positional", "07_positional_encoding"),
        ("es", "atencion", "glossary"),
        ("es", "d_model", "glossary"),
        ("en", "d_model", "glossary"),
        ("es", "MultiHeadAttention", "api_machine"),
    ],
)
def test_the_page_that_teaches_it_comes_first(ask, language, query, first):
    assert pages(ask(language, query))[0] == first


@pytest.mark.parametrize(
    ("query", "chapter"),
    [
        ("incrustación", "02_tokens_and_embeddings"),
        ("consulta", CHAPTER),
        ("clave", CHAPTER),
        ("multicabezal", "04_multi_head"),
        ("muestreo", "09_decoding"),
        ("sorteo", "09_decoding"),
    ],
)
def test_a_word_of_other_texts_leads_to_the_glossary_and_to_the_chapter(ask, query, chapter):
    """They say it otherwise: the glossary says how, and the chapter that teaches it is near."""
    first, *others = pages(ask("es", query))
    assert first == "glossary" and chapter in others[:3], (first, others)


def test_a_result_leads_to_its_section_with_the_words_marked(ask):
    page = ask("es", "pesos softmax")
    link = page.locator(f".attn-results ul a[href*={CHAPTER!r}]").first
    title = link.inner_text()
    link.click()
    page.wait_for_url(f"**/es/{CHAPTER}.html?highlight=*#*")
    heading = page.locator("main section:target > :is(h2, h3, h4)")
    assert heading.inner_text().removesuffix("#") == title
    # Figures above it may still be taking their place.
    page.wait_for_function(
        "heading => { const { y } = heading.getBoundingClientRect(); return 0 < y && y < 200; }",
        arg=heading.element_handle(),
    )
    marked = page.evaluate("[...CSS.highlights.get('attn-found')].map(range => range.toString())")
    # All forms of a word are marked; which of them the section holds depends on its prose.
    words = {word.lower() for word in marked}
    assert {word.removesuffix("s") for word in words} >= {"peso", "softmax"}
    assert {word[:3] for word in words} == {"pes", "sof"}
    # The page is not changed: what is marked is still one text.
    assert page.locator("article mark").count() == 0


def test_accents_make_no_difference(ask):
    found = {}
    for query in ("atención", "atencion", "ATENCIÓN"):
        page = ask("es", query)
        found[query] = pages(page), page.locator(".attn-results li li > a").all_inner_texts()
    assert found["atención"] == found["atencion"] == found["ATENCIÓN"]
    assert "glossary" in found["atencion"][0]


@pytest.mark.parametrize(
    ("language", "typed", "meant"),
    [
        ("es", "sofmax", "softmax"),
        ("es", "atensión", "atención"),
        ("en", "transfromer model", "transformer model"),
    ],
)
def test_a_near_miss_gets_a_suggestion(ask, language, typed, meant):
    page = ask(language, typed)
    assert pages(page) == []
    suggestion = page.locator(".attn-suggestion a")
    assert suggestion.inner_text() == meant
    suggestion.click()
    page.locator(".attn-results").wait_for()
    assert page.locator("#attn-query").input_value() == meant


def test_a_name_of_the_code_says_what_it_is_in_the_edition_s_language(ask):
    for language, kind in (("es", "función"), ("en", "function")):
        page = ask(language, "scaled_dot_product_attention")
        kinds = page.locator(".attn-results li > a + small").all_inner_texts()
        assert kind in map(str.strip, kinds) and not any("Python" in found for found in kinds)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_index_holds_prose_not_markup(site, language):
    script = (site / language / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("globalThis.attnSearch = ").removesuffix(";\n"))
    assert len(index["entries"]) > 600
    for _, _, title, _, text, _ in index["entries"]:
        assert not set("\\{}") & set(title), title
        assert "\\operatorname" not in text and "\\frac" not in text, text
    texts = [text for *_, text, _ in index["entries"]]
    assert any("√d_k" in text for text in texts)


def test_without_a_query_the_search_field_has_the_focus(tab, server):
    page = tab()
    page.goto(f"{server}/en/search.html")
    focus = "document.activeElement.id + document.activeElement.accessKey"
    assert page.evaluate(focus) == "attn-querys"


def test_it_works_from_a_folder(tab, site):
    page = tab()
    page.goto(f"{(site / 'es' / 'search.html').as_uri()}?q=softmax")
    page.locator(".attn-results").wait_for()
    assert pages(page)[0] == CHAPTER
    assert page.errors == []


@pytest.mark.parametrize("scheme", ("light", "dark"))
def test_results_are_accessible(tab, server, scheme, violations):
    page = tab(color_scheme=scheme)
    page.goto(f"{server}/es/search.html?q=softmax")
    page.locator(".attn-results").wait_for()
    page.evaluate("for (const more of document.querySelectorAll('details')) more.open = true")
    assert violations(page) == []
