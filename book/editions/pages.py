"""Take the chapters out of the built site for a book on paper or on a reading device.

Nothing moves in these: a widget becomes a picture of itself, code that the site folds is left out,
and the answers to questions and exercises move to the end of their chapter.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from lxml import etree

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "site"
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"

# Widgets without a picture: questions become text, and emoji use the reader's own font, because the
# machine that makes the pictures may have none.
TEXTS = {"quiz", "emoji_search"}

AUTHOR = "The attn authors"
# The option makes Chromium redraw a whole tab: redrawn parts have slightly different edges.
STEADY = ["--disable-partial-raster"]
# Hides what would cover a widget in its picture, and lays out what would wait until it is seen.
STILL = """.attn-header, .attn-read { display: none !important; }
* { content-visibility: visible !important; }"""
# Pages that are useful only on the site: they link to it, work only in it, or change with it.
ON_THE_SITE = {
    "progress",
    "translator",
    "watch_it_learn",
    "source_map",
    "api",
    "instructors",
    "teaching",
    "changelog",
}

WORDS = {
    "es": {
        "answers": "Respuestas",
        "question": "Pregunta",
        "contents": "Contenido",
        "picture": "Imagen de una figura interactiva del sitio",
    },
    "en": {
        "answers": "Answers",
        "question": "Question",
        "contents": "Contents",
        "picture": "Picture of an interactive figure of the site",
    },
}

# Statements that are true only on the site, and their replacements in the book.
HERE = {
    "es": {
        "index": {
            "En estas páginas puedes leer el curso entero, tocar": "En el sitio del curso puedes tocar",
        },
        "how_to_use": {
            "y todo está a la vista, salvo las soluciones y el código de apoyo, que están plegados.": "y las respuestas y las soluciones están al final. Las figuras interactivas son imágenes.",
            "Abre la solución plegada cuando": "Mira la solución que está al final del capítulo cuando",
            "con las licencias que hay al pie": "con las licencias que nombra la primera página",
        },
        "08_training": {
            "y debajo de cada una hay una solución plegada.": "y al final del capítulo hay una solución de cada una.",
        },
    },
    "en": {
        "index": {
            "On these pages you can read the whole course, touch": "On the site of the course you can touch",
        },
        "how_to_use": {
            "and everything is open except solutions and supporting code, which are folded.": "and its answers and solutions stand at the end. Interactive figures are pictures.",
            "Open the folded solution after": "Look at the solution at the end of the chapter after",
            "under the licences at the foot of the page": "under the licences that the first page names",
        },
        "08_training": {
            "and under each there is a folded solution.": "and a solution of each is at the end of the chapter.",
        },
    },
}


@dataclass
class Page:
    """A page of the book.

    Attributes
    ----------
    name : str
        The name of its file, without the suffix.
    part : str or None
        The heading above it in the contents.
    article : Element
        The content of the page, in the XHTML namespace.
    pictures : dict of str to bytes
        PNG files by name.
    styles : list of str
        The styles of the drawings, without repetitions.
    """

    name: str
    part: str | None
    article: etree._Element
    pictures: dict = field(default_factory=dict)
    styles: list = field(default_factory=list)

    @property
    def title(self):
        """The text of its first heading."""
        return plain(self.article.find(f".//{XHTML}h1"))

    @property
    def entry(self):
        """Its title as in the contents: after the number, if it is a numbered chapter."""
        number = re.match(r"\d\d(?=_)", self.name)
        return f"{int(number[0])}. {self.title}" if number else self.title

    @property
    def sections(self):
        """The anchor of each section of the first level, with the text of its heading."""
        found = self.article.find(f"{XHTML}section").findall(f"{XHTML}section")
        return [(section.get("id"), plain(section.find(f"{XHTML}h2"))) for section in found]


def plain(heading):
    r"""Return the text of a heading, with formulas as one would type them.

    >>> formula = "<msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt><annotation>\\sqrt{d_k}</annotation>"
    >>> plain(etree.fromstring(f"<h2>Why divide<br/>by <math>{formula}</math>?</h2>"))
    'Why divide by √d_k?'
    """
    return " ".join(_typed(heading).split())


def _typed(element):
    tag = etree.QName(element).localname
    if tag == "annotation" or has(element, "katex-html"):
        return ""
    parts = [_typed(child) + (child.tail or "") for child in element]
    sign = {"msub": "_", "msup": "^"}.get(tag, "")
    before = {"br": " ", "msqrt": "√"}.get(tag, "")
    return before + (element.text or "") + sign.join(parts)


def listed(language):
    """Return the pages of an edition that its book contains, each with its part.

    Parameters
    ----------
    language : {"es", "en"}

    Returns
    -------
    list of (str, str or None)
    """
    toc = yaml.safe_load(
        (ROOT / ("_toc.yml" if language == "es" else f"_toc.{language}.yml")).read_text("utf-8")
    )
    files = [(toc["root"], None)]
    for part in toc["parts"]:
        for entry in part["chapters"]:
            found = (
                sorted(ROOT.glob(f"{entry['glob']}.ipynb")) if "glob" in entry else [entry["file"]]
            )
            files += [(file, part.get("caption")) for file in found]
    pages = [(Path(file).stem, part) for file, part in files]
    return [(name, part) for name, part in pages if name not in ON_THE_SITE]


def take(browser, language, narrow=False):
    """Return the pages of an edition.

    Parameters
    ----------
    browser : playwright Browser
    language : {"es", "en"}
    narrow : bool
        Whether figures with two drawings use the one for phones.

    Returns
    -------
    list of Page
    """
    still = browser.new_context(java_script_enabled=False)
    alive = moving(browser)
    found = []
    for name, part in listed(language):
        address = (SITE / language / f"{name}.html").as_uri()
        tab = still.new_page()
        tab.goto(address)
        text = tab.evaluate(
            "new XMLSerializer().serializeToString(document.querySelector('article'))"
        )
        tab.close()
        page = Page(name, part, etree.fromstring(text.encode("utf-8")))
        if _widgets(page.article):
            page.pictures = _photograph(alive, address, name)
        _settle(page, language, narrow)
        found.append(page)
    still.close()
    alive.close()
    return found


def moving(browser):
    """Return a context in which widgets run, for their pictures."""
    # Taller than every widget, because one that does not fit is scrolled, and its picture is
    # shifted.
    return browser.new_context(
        viewport={"width": 720, "height": 2600},
        device_scale_factor=2,
        color_scheme="light",
        reduced_motion="reduce",
    )


def _photograph(context, address, name):
    """Return a picture of each widget of a page that has one, by file name."""
    tab = ready(context, address)
    widgets = tab.locator(f"article [data-anywidget]{''.join(map(_not, sorted(TEXTS)))}")
    pictures = {}
    for n in range(widgets.count()):
        # The content above is removed: an offset of a fraction of a pixel would change the letters.
        widgets.nth(n).evaluate("""widget => {
            for (let part = widget; part !== document.body; part = part.parentElement)
                for (let above = part; (above = above.previousElementSibling); )
                    above.style.setProperty("display", "none", "important");
        }""")
        pictures[f"{name}-{n}.png"] = widgets.nth(n).screenshot()
    tab.close()
    return pictures


def _not(kind):
    return f":not([data-anywidget={kind}])"


def ready(context, address):
    """Open a page with all widgets running and nothing hiding them; return its tab."""
    tab = context.new_page()
    tab.goto(address)
    tab.add_style_tag(content=STILL)
    # The site does not wait for late fonts, so that pictures could have either font.
    awaited = (SITE / "type.css").read_text(encoding="utf-8").replace("Course", "Awaited")
    awaited = awaited.replace("font-display: optional", "font-display: block")
    tab.add_style_tag(content=awaited.replace("fonts/", "_static/fonts/"))
    tab.evaluate(
        """() => Promise.all(
            [...document.fonts].filter(face => face.family.includes("Awaited")).map(face => face.load())
        )"""
    )
    tab.evaluate("document.querySelectorAll('article details').forEach(d => { d.open = true; })")
    for widget in tab.locator("article [data-anywidget]").all():
        widget.scroll_into_view_if_needed()  # some load their script only then
    tab.wait_for_function("""() => [...document.querySelectorAll('[data-anywidget]')].every(w =>
        !w.querySelector(':scope > .attn-fallback') || getComputedStyle(w.querySelector(':scope > .attn-fallback')).display === 'none')""")
    tab.wait_for_timeout(500)
    return tab


def has(element, *classes):
    """Return whether an element has one of some classes.

    >>> has(etree.fromstring('<p class="a b"/>'), "b", "c")
    True
    """
    return not {*element.get("class", "").split()}.isdisjoint(classes)


def _widgets(article):
    return [e for e in article.iter(f"{XHTML}div") if e.get("data-anywidget", "quiz") not in TEXTS]


def _remove(element):
    """Remove an element, but keep the text after it."""
    parent, before = element.getparent(), element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _make(tag, text=None, **attributes):
    element = etree.Element(XHTML + tag, {k.rstrip("_"): v for k, v in attributes.items()})
    element.text = text
    return element


def _settle(page, language, narrow):
    """Turn a page of the site into a page of a book."""
    article, words = page.article, WORDS[language]
    unwanted = "attn-narrow attn-machine-upright" if not narrow else "attn-wide attn-machine-wide"
    for style in [*article.iter(f"{SVG}style")]:
        if style.text not in page.styles:
            page.styles.append(style.text)
        style.getparent().remove(style)
    for element in [*article.iter()]:
        if not isinstance(element.tag, str):
            _remove(element)  # a comment
            continue
        tag = etree.QName(element).localname
        if "data-anywidget" in element.attrib:
            element.attrib.pop("style", None)  # the height that a page reserves for it
        drop = tag in {"script", "button", "nav", "noscript"} or has(
            element,
            "headerlink",
            "attn-py-bar",
            "attn-erratum",
            "attn-steps",
            "attn-button",
            "attn-editions",  # it shows the sizes of the editions
            "attn-site",  # the source marks text that is true only on the site
            "toctree-wrapper",
        )
        drop |= "data-only" in element.attrib or has(element, *unwanted.split())
        if drop and element.getparent() is not None:
            _remove(element)
        elif element.tag.startswith(SVG) and "style" in element.attrib:
            # On the site a drawing scrolls on a phone, and its cells turn dark; in a book neither
            # happens.
            kept = re.sub(r"(min-width|filter): [^;]*(; )?", "", element.get("style"))
            element.set("style", kept)
    for said, instead in HERE[language].get(page.name, {}).items():
        _replace(page, said, instead)
    answers = []
    for n, widget in enumerate(_widgets(article)):
        caption = widget.find(f".//{XHTML}caption")
        said = "".join(caption.itertext()).strip() if caption is not None else words["picture"]
        widget[:] = [_make("img", src=f"{page.name}-{n}.png", alt=said, class_="attn-picture")]
        widget.text = None
        del widget.attrib["data-anywidget"]
    for widget in article.iterfind(f".//{XHTML}div[@data-anywidget='emoji_search']"):
        del widget.attrib["data-anywidget"]
    for quiz in [e for e in article.iter(f"{XHTML}div") if e.get("data-anywidget") == "quiz"]:
        answers += _question(quiz, words, len([a for a in answers if a.tag == XHTML + "h3"]) + 1)
    for details in [*article.iter(f"{XHTML}details")]:
        summary = details.find(f"{XHTML}summary")
        if has(details, "hide"):
            section = next(e for e in details.iterancestors(f"{XHTML}section"))
            if re.match(r"(exercise|ejercicio)-", section.get("id", "")):
                heading = next(e for e in section if re.fullmatch(r"h\d", etree.QName(e).localname))
                details.remove(summary)
                answers.append(_make("h3", "".join(heading.itertext()).strip()))
                answers += [*details]
            cell = details.getparent()
            _remove(details)
            if has(cell, "cell") and not len(cell):
                _remove(cell)
        else:
            details.remove(summary)
            details.tag = XHTML + "div"
            details.attrib.pop("open", None)
    if answers:
        section = _make("section", id=f"{page.name}-answers", class_="attn-answers")
        section.append(_make("h2", words["answers"]))
        section.extend(answers)
        article.find(f"{XHTML}section").append(section)


def _replace(page, said, instead):
    """Replace a text, which the page must contain."""
    for element in page.article.iter():
        for part in ("text", "tail"):
            text = getattr(element, part) or ""
            if said in text:
                setattr(element, part, text.replace(said, instead))
                return
    raise ValueError(f"{page.name}: expected it to say {said!r}, got another text")


def _question(quiz, words, first):
    """Number the questions of a quiz; remove its answers and return them."""
    fallback = quiz.find(f"{XHTML}div")
    del quiz.attrib["data-anywidget"]
    given = []
    questions = [e for e in fallback if e.tag == XHTML + "p"]
    lists = [e for e in fallback if e.tag == XHTML + "details"]
    for n, (question, answers) in enumerate(zip(questions, lists, strict=True), start=first):
        label = f"{words['question']} {n}"
        if len(questions) > 1:
            asked = question.find(f"{XHTML}strong")
            asked.text = re.sub(r"^\d+\. ", "", asked.text)
        question.insert(0, _make("span", f"{label}. ", class_="attn-label"))
        answers.remove(answers.find(f"{XHTML}summary"))
        given += [_make("h3", label), *answers]
        fallback.remove(answers)
    return given


def link(pages, address):
    """Replace links between pages by links within the book, and unwrap the other ones.

    Parameters
    ----------
    pages : list of Page
    address : callable
        From the name of a page and an anchor or None to the link in the book.
    language : {"es", "en"}
    """
    names = {page.name for page in pages}
    places = {
        p.name: {e.get("id") for e in p.article.iter() if isinstance(e.tag, str)} for p in pages
    }
    for page in pages:
        for a in page.article.iter(f"{XHTML}a", f"{SVG}a"):
            target = a.get("href", "")
            if re.match(r"https?:|mailto:", target):
                continue
            file, _, anchor = target.partition("#")
            name = Path(file).stem if file else page.name
            inside = "/" not in file and name in names and (not anchor or anchor in places[name])
            if target and inside:
                a.set("href", address(name, anchor or None))
            elif "href" in a.attrib:
                del a.attrib["href"]
