"""Print the pages of an edition as a tagged PDF, with bookmarks and page numbers."""

import html
import re
from pathlib import Path

import attn_fonts
import pikepdf
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from lxml import etree
from pages import AUTHOR, SITE, WORDS, XHTML, link, plain

# The font weights that the styles use.
WEIGHTS = (400, 600, 700)
STYLE = Path(__file__).with_name("paper.css")


def write(launch, pages, language, target, front):
    """Write the PDF.

    The page numbers of the contents are known only after printing, so it is printed twice.

    Parameters
    ----------
    launch : callable
        Starts a browser. A browser that has drawn other pages rounds some positions differently.
    pages : list of Page
        Their links become those of the PDF.
    language : {"es", "en"}
    target : Path
        Of the PDF.
    front : tuple of str
        Title, subtitle and notice of the first page.
    """
    folder = target.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        for name, picture in page.pictures.items():
            (folder / name).write_bytes(picture)
    link(pages, lambda name, anchor: f"#{name}--{anchor}" if anchor else f"#{name}")
    for page in pages:
        for element in page.article.iter(f"{XHTML}*"):
            if "id" in element.attrib:
                element.set("id", f"{page.name}--{element.get('id')}")
    letters = _letters(language, folder)
    source, printed = folder / "book.html", folder / "printed.pdf"
    numbers = {}
    for _ in range(2):
        source.write_text(_document(pages, language, front, numbers, letters), encoding="utf-8")
        browser = launch()
        tab = browser.new_page(java_script_enabled=False)
        tab.goto(source.as_uri())
        tab.pdf(
            path=printed,
            prefer_css_page_size=True,
            tagged=True,
            outline=True,
            print_background=True,
        )
        browser.close()
        printed.write_bytes(_renumbered(printed.read_bytes()))
        with pikepdf.open(printed) as pdf:
            numbers = _numbers(pdf, pages)
    with pikepdf.open(printed) as pdf:
        for clock in ("/CreationDate", "/ModDate"):
            del pdf.docinfo[clock]
        pdf.docinfo["/Author"] = AUTHOR
        _name_bookmarks(pdf, pages, language)
        # The tags for screen readers would be most of an uncompressed file.
        pdf.save(
            target, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True
        )


def _renumbered(printed):
    """Number the ids of table cells from 0, in their order: Chromium's numbers vary.

    >>> _renumbered(b"/ID (node00000207) /Headers [(node00000205)]")
    b'/ID (node00000001) /Headers [(node00000000)]'
    """
    named = re.compile(rb"(?<=\(node)\d{8}(?=\))")
    ranks = {name: b"%08d" % n for n, name in enumerate(sorted({*named.findall(printed)}))}
    return named.sub(lambda found: ranks[found[0]], printed)


def _letters(language, folder):
    """Write static fonts in the weights of the book; return the style that names them.

    The site has variable fonts, which Chromium embeds in a PDF as drawings of letters.
    """
    static = SITE / language / "_static"
    rules = []
    for name, (family, slant) in attn_fonts.FACES.items():
        for weight in WEIGHTS:
            # The time in the font's head is kept, so that the same site gives the same book.
            font = TTFont(static / "fonts" / name, recalcTimestamp=False)
            instancer.instantiateVariableFont(font, {"wght": weight}, inplace=True)
            font.flavor = None
            file = f"{name.removesuffix('.woff2')}-{weight}.ttf"
            font.save(folder / file)
            rules.append(
                attn_fonts.face(f"Paper {family}", f'url("{file}")', slant, weight, family)
            )
    return "".join(rules)


def _name_bookmarks(pdf, pages, language):
    """Name the bookmarks as in the contents: Chromium omits formulas and the ends of lines."""
    tags = [f"{XHTML}h{level}" for level in range(1, 7)]
    with pdf.open_outline() as outline:
        _, contents, *marks = (mark for item in outline.root for mark in _flat(item))
        contents.title = WORDS[language]["contents"]
        headings = [(page, h) for page in pages for h in page.article.iter(*tags)]
        for mark, (page, heading) in zip(marks, headings, strict=True):
            mark.title = page.entry if heading.tag == f"{XHTML}h1" else plain(heading)


def _flat(item):
    yield item
    for child in item.children:
        yield from _flat(child)


def _document(pages, language, front, numbers, letters):
    title, subtitle, notice = map(html.escape, front)
    static = (SITE / language / "_static").as_uri()
    sheets = [
        f"{static}/{name}.css" for name in ("type", "palette", "katex.min", "course", "widgets")
    ]
    links = "".join(f'<link rel="stylesheet" href="{s}">' for s in [*sheets, STYLE.as_uri()])
    styles = dict.fromkeys(style for page in pages for style in page.styles)
    links += "".join(f"<style>{style}</style>" for style in [*styles, letters])
    texts = {p.name: etree.tostring(p.article, encoding="unicode", method="html") for p in pages}
    body = "".join(f'<div class="attn-page" id="{n}">{text}</div>' for n, text in texts.items())
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>'
        f'{links}</head><body><div class="attn-title"><h1>{title}</h1><p>{subtitle}</p>'
        f'<p class="attn-notice">{notice}</p></div><nav class="attn-contents">'
        f"{_contents(pages, numbers, language)}</nav><main>{body}</main></body></html>"
    )


def _contents(pages, numbers, language):
    rows, part = [f"<h1>{WORDS[language]['contents']}</h1>"], None
    for page in pages:
        if page.part != part:
            part = page.part
            rows.append(f"<p>{html.escape(part)}</p>")
        name, number = html.escape(page.entry), numbers.get(page.name, "000")
        rows.append(f'<a href="#{page.name}"><span>{name}</span> <span>{number}</span></a>')
    return "".join(rows)


def _numbers(pdf, pages):
    """Return the PDF page on which each page of the book begins, by name."""
    leaves = {leaf.objgen: n for n, leaf in enumerate(pdf.pages, start=1)}
    return {p.name: leaves[pdf.Root.Dests[f"/{p.name}"][0].objgen] for p in pages}
