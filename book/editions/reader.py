"""Make an EPUB of the pages of an edition, for e-readers and phones."""

import datetime
import html
import re
import zipfile
from pathlib import Path

from ebooklib import epub
from lxml import etree
from pages import AUTHOR, SITE, SVG, XHTML, has, link

STYLE = Path(__file__).with_name("reader.css")
MATHML = "{http://www.w3.org/1998/Math/MathML}"
SCRIPTS = {MATHML + tag for tag in ("msub", "msup", "msubsup", "munder", "mover", "munderover")}
VARIABLE = re.compile(r"var\((--attn-[a-z-]+)(?:,([^()]*))?\)")
NO_DATE = datetime.datetime(1980, 1, 1)  # the date of zip entries without one


def write(pages, language, target, front):
    """Write the EPUB.

    Parameters
    ----------
    pages : list of Page
        Their links become those of the book.
    language : {"es", "en"}
    target : Path
        Of the EPUB.
    front : tuple of str
        Title, subtitle and notice of the first page.
    """
    title, subtitle, notice = front
    book = epub.EpubBook()
    book.set_identifier(f"attn-{language}")
    book.set_title(f"{title}. {subtitle}")
    book.set_language(language)
    book.add_author(AUTHOR)
    book.add_metadata("DC", "rights", notice)
    for name, value in (
        ("accessMode", "textual"),
        ("accessMode", "visual"),
        ("accessibilityFeature", "alternativeText"),
        ("accessibilityFeature", "MathML"),
        ("accessibilityHazard", "none"),
    ):
        book.add_metadata(None, "meta", value, {"property": f"schema:{name}"})
    static = SITE / language / "_static"
    book.add_item(_file("style.css", "text/css", STYLE.read_bytes()))
    serif = static / "fonts" / "serif.woff2"
    book.add_item(_file("serif.woff2", "font/woff2", serif.read_bytes()))
    colours = _colours(static / "palette.css")
    link(pages, lambda name, anchor: f"{name}.xhtml" + (f"#{anchor}" if anchor else ""))
    cover = _Page(uid="p-cover", file_name="cover.xhtml", title=title)
    first = '<div class="attn-title"><h1>{}</h1><p>{}</p><p><small>{}</small></p></div>'
    cover.document = _bound(title, language, "", first.format(*map(html.escape, front)))
    book.add_item(cover)
    entries, chapters = [], []
    for page in pages:
        for name, picture in page.pictures.items():
            book.add_item(_file(name, "image/png", picture))
        chapter = _Page(uid=f"p-{page.name}", file_name=f"{page.name}.xhtml", title=page.entry)
        chapter.document = _document(page, language, colours)
        chapter.properties = [
            name
            for name, tag in (("mathml", f"{MATHML}math"), ("svg", f"{SVG}svg"))
            if page.article.find(f".//{tag}") is not None
        ]
        book.add_item(chapter)
        chapters.append(chapter)
        if not entries or entries[-1][0] != page.part:
            entries.append((page.part, chapter.file_name, []))
        sections = [
            epub.Link(f"{page.name}.xhtml#{anchor}", said, f"p-{page.name}-{n}")
            for n, (anchor, said) in enumerate(page.sections)
        ]
        whole = epub.Section(page.entry, href=chapter.file_name)
        entries[-1][2].append((whole, sections) if sections else chapter)
    for part, first, its in entries:
        if part is None:
            book.toc += its
        else:
            book.toc.append((epub.Section(part, href=first), its))
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = [cover, "nav", *chapters]
    made = target.with_suffix(".made")
    options = {"mtime": NO_DATE, "epub3_pages": False, "raise_exceptions": True}
    epub.write_epub(made, book, options)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            how = zipfile.ZIP_STORED if entry.filename == "mimetype" else zipfile.ZIP_DEFLATED
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry), how, 9)
    made.unlink()


class _Page(epub.EpubHtml):
    """A page that is already XHTML: parsing it as HTML would lose its formulas and drawings."""

    document = b""

    def get_content(self, default=None):
        return self.document


def _file(name, kind, content):
    return epub.EpubItem(uid=f"f-{name}", file_name=name, media_type=kind, content=content)


def _colours(palette):
    """Return the light scheme's colours by CSS variable, which e-readers may not support."""
    light = palette.read_text(encoding="utf-8").split("\n", 1)[0]
    return dict(re.findall(r"(--attn-[a-z-]+): ([^;]+);", light))


def _document(page, language, colours):
    for span in [*page.article.iter(f"{XHTML}span")]:
        if has(span, "katex-html"):
            span.getparent().remove(span)  # the same formula, drawn for browsers
    for formula in page.article.iter(f"{MATHML}math"):
        _mend(formula)

    def coloured(text):
        return VARIABLE.sub(lambda found: colours.get(found[1], found[2] or "inherit"), text)

    body = coloured(etree.tostring(page.article, encoding="unicode"))
    styles = "".join(f"<style>{coloured(style)}</style>" for style in page.styles)
    return _bound(page.title, language, styles, body)


def _bound(title, language, styles, body):
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml" lang="{language}" xml:lang="{language}"><head>'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" type="text/css" href="style.css"/>{styles}</head>'
        f"<body>{body}</body></html>"
    ).encode()


def _mend(formula):
    """Turn a formula of KaTeX into valid MathML, which browsers do not require.

    The name of an operator, such as arg max, may hold more elements than the text that it should,
    which the browser then takes for HTML; and in a subscript, max brings the sign that applies a
    function, one element more than a subscript has.
    """
    for element in [*formula.iter()]:
        element.tag = MATHML + etree.QName(element).localname
        if element.tag in (f"{MATHML}mi", f"{MATHML}mo") and len(element):
            element.tag = f"{MATHML}mrow"
    for sign in [*formula.iter(f"{MATHML}mo")]:
        if sign.text == "\N{FUNCTION APPLICATION}" and sign.getparent().tag in SCRIPTS:
            sign.getparent().remove(sign)
