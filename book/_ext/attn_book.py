"""The Sphinx side of the course: URLs, assets, and what both editions share.

Pages are written in ``book/<language>`` and ``notebooks/<language>``; on the site their URL is just
their name (``03_self_attention.html``), the same in both editions, so that the path of a page's
twin differs only in one folder.
"""

import importlib.util
import os
import re
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
from pathlib import Path

import nbformat
import sphinxcontrib.katex
from docutils import nodes
from sphinx.builders.html import StandaloneHTMLBuilder

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the package itself is not installed for `make book`

import attn_citations
import attn_code
import attn_fonts
import attn_launch
import attn_model
import attn_python
import attn_search
from vendor import fetch, node

from attn.io import write_whole
from attn_course.palette import DARK, LIGHT, css_variables
from notebooks.build import book_edition
from notebooks.readable import chapter_of

THEME = ROOT / "book" / "_theme" / "attn"
ROOMS = tomllib.loads(Path(__file__).with_name("heights.toml").read_text(encoding="utf-8"))
# The caption of a part of the contents, if the part has several captions: see _toc.yml.
CAPTION = r'<p class="caption"><span class="caption-text">([^<:]+): ([^<]+)</span></p>'


def page_address(docname):
    """Return the path at which a document is published: its name without its source folder.

    >>> page_address("notebooks/es/03_self_attention")
    '03_self_attention'
    """
    return re.sub(r"^(book|notebooks)/(es|en)/", "", docname)


def chapter_number(address):
    """Return the number of a chapter from its path, or None.

    >>> chapter_number("03_self_attention"), chapter_number("A1_errata")
    (3, None)
    """
    numbered = re.match(r"(\d\d)_", address)
    return int(numbered[1]) if numbered else None


class CourseBuilder(StandaloneHTMLBuilder):
    """Sphinx's HTML builder, publishing each page at `page_address`."""

    def get_target_uri(self, docname, typ=None):
        return super().get_target_uri(page_address(docname), typ)

    def get_outfilename(self, pagename):
        return super().get_outfilename(page_address(pagename))

    def get_output_path(self, page_name, /):  # Sphinx 9 and later call this method
        return super().get_output_path(page_address(page_name))

    def init_highlighter(self):
        super().init_highlighter()
        self.highlighter.formatter = attn_code.Coloured

    def load_indexer(self, docnames):
        self.found = []  # every build indexes all pages

    def index_page(self, docname, doctree, title):
        if pieces := attn_search.entries(doctree):
            address = page_address(docname)
            self.found.append((address, chapter_number(address), pieces))

    def dump_search_index(self):
        path = Path(self.outdir) / self.searchindex_filename
        path.write_text(attn_search.index(sorted(self.found, key=lambda page: page[0])), "utf-8")


def configure(app, config):
    """Set what both editions share, once the edition's own settings are read."""
    config.html_title = "attn"
    # The URL of the site, if it is known: social cards need absolute URLs.
    site_url = os.environ.get("ATTN_SITE_URL", "")
    config.html_baseurl = f"{site_url}{config.language}/" if site_url else ""
    config.html_copy_source = True
    config.html_use_index = False
    config.html_domain_indices = False
    config.html_permalinks_icon = "#"
    config.html_static_path = [
        str(ROOT / "book" / "_static"),
        str(_site_assets()),
    ]
    config.html_favicon = str(ROOT / "book" / "_static" / "favicon.svg")
    config.numfig = True
    config.math_numfig = False
    config.math_number_all = False
    config.katex_prerender = True
    config.katex_css_path = "katex.min.css"
    styles = attn_citations.style_of(config.language)
    config.bibtex_default_style, config.bibtex_reference_style = styles
    config.myst_heading_anchors = 3
    # Two modules may export the same class, so a signature may link to either.
    config.suppress_warnings = ["myst.domains", "ref.python"]
    config.add_module_names = False
    config.toc_object_entries = (
        False  # these entries in every page's contents would double the time of the build
    )
    config.myst_ref_domains = ["std"]  # `#decoding` is a section, never `attn.decoding`
    config.nb_merge_streams = True
    ui = UI[config.language]
    config.numfig_format = {"figure": f"{ui['figure']} %s"}
    config.nb_code_prompt_show = ui["show_code"]
    config.nb_code_prompt_hide = ui["hide_code"]
    sphinxcontrib.katex.NODEJS_BINARY = str(node())
    sphinxcontrib.katex.KaTeXServer.start_server_process = start_katex
    # In seconds: the first start of Node on a busy machine may take more than the default of 5.
    sphinxcontrib.katex.STARTUP_TIMEOUT = sphinxcontrib.katex.RENDER_TIMEOUT = 60.0


def start_katex(folder, timeout):
    """Start KaTeX's server and connect to it, trying again until it listens.

    sphinxcontrib-katex tries to connect only once, as soon as the socket exists; the server listens
    only a moment later, and 1 build in 12 failed. (Its network socket does try again, but is four
    times as slow.)
    """
    address = folder / "katex.sock"
    command = sphinxcontrib.katex.KaTeXServer.build_command(socket=address)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
    deadline = time.monotonic() + timeout
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    while True:
        try:
            connection.connect(str(address))
            return process, connection
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > deadline:
                process.kill()
                raise
            time.sleep(0.01)


def _site_assets():
    """Write the generated assets (colours, widgets, fonts) and return their folder."""
    folder = ROOT / "build" / "assets"
    (folder / "fonts").mkdir(parents=True, exist_ok=True)
    dark = css_variables(DARK)
    widgets, katex = _widget_source(), fetch("katex") / "dist"
    fonts = attn_fonts.files(fetch)
    sheets = {
        "type": attn_fonts.sheet(fonts),
        "palette": f":root {{ color-scheme: light; {css_variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme]) "
        f"{{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme='dark'] {{ color-scheme: dark; {dark} }}\n",
        "katex.min": (katex / "katex.min.css").read_text(encoding="utf-8"),
        "course": (THEME / "static" / "course.css").read_text(encoding="utf-8"),
    }
    # A page waits for each of its stylesheets, so one file has all that it needs at first.
    sheets["site"] = widgets.plain("\n".join([*sheets.values(), widgets.ground()]))
    del sheets["course"]  # the theme includes this one; the editions read it separately
    sheets["widgets"] = widgets.stylesheet()
    for name, sheet in sheets.items():
        _write(folder / f"{name}.css", sheet)
    _write(folder / "widget_style.js", widgets.style_script())
    _write(folder / "drawn.js", widgets.drawing_script())
    for name in widgets.BUNDLES:
        _write(folder / f"{name}.js", widgets.classic_bundle(name))
    for name, text in widgets.model_scripts().items():
        _write(folder / name, text)
    for font in katex.glob("fonts/*.woff2"):
        _write(folder / "fonts" / font.name, font.read_bytes())
    for name, path in fonts.items():
        _write(folder / "fonts" / name, path.read_bytes())
    return folder


def _widget_source():
    """Load attn_course/widgets/_source.py alone: the package around it needs anywidget."""
    path = ROOT / "attn_course" / "widgets" / "_source.py"
    spec = importlib.util.spec_from_file_location("attn_widgets_source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write(path, content):
    # Both editions are built at the same time from this folder, so a file must never be
    # half-written.
    content = content.encode() if isinstance(content, str) else content
    if not path.exists() or path.read_bytes() != content:
        write_whole(path, content)


def read_source(app, docname, content):
    """Replace the notebook that Sphinx found by the chapter's source, which is in MyST."""
    if docname.startswith("notebooks/"):
        source = ROOT / "notebooks" / "src" / f"{docname.rpartition('/')[2]}.md"
        content[0] = nbformat.writes(book_edition(source, app.config.language))


def offer_labels(app, doctree):
    """Let ``page.ipynb#label`` link to a label of another page: MyST itself knows only headings.

    In JupyterLab such a link opens the right notebook, which ``#label`` alone does not.
    """
    known = app.env.metadata[app.env.docname].setdefault("myst_slugs", {})
    for label, is_explicit in doctree.nametypes.items():
        if is_explicit and doctree.nameids.get(label):
            known.setdefault(label, (None, doctree.nameids[label], ""))


def number_figures_by_chapter(app, env):
    """Number figures by page: 3.1 is the first of chapter 3, L3.1 the first of its laboratory."""
    for docname, kinds in env.toc_fignumbers.items():
        chapter = chapter_of(page_address(docname))
        for figures in kinds.values():
            for i, name in enumerate(figures, start=1):
                figures[name] = (chapter, i) if chapter else (i,)


def keep_punctuation(app, doctree, docname):
    """Bind a formula to the punctuation after it, where browsers may break a line."""
    for formula in list(doctree.findall(nodes.math)):
        index = formula.parent.index(formula)
        after = formula.parent[index + 1] if index + 1 < len(formula.parent) else None
        marks = re.match(r"[.,;:?!)»”]+", after) if isinstance(after, nodes.Text) else None
        if marks:
            bound = nodes.inline("", "", formula.deepcopy(), nodes.Text(marks[0]))
            bound["classes"].append("attn-bound")
            # By index: `replace` would take the first equal text, which may be before another
            # formula.
            formula.parent[index : index + 2] = [bound, nodes.Text(after[marks.end() :])]


def rebuild_everything(app, env, added, changed, removed):
    """Read every page on every build: it takes seconds, and no page is ever outdated."""
    return env.found_docs


def whole_address(app, language, pagename):
    """Return the absolute URL of a page of an edition, for search engines; "" if it is unknown."""
    base = app.config.html_baseurl
    site = base.removesuffix(f"{app.config.language}/")
    return base and f"{site}{language}/{page_address(pagename)}.html"


def page_context(app, pagename, templatename, context, doctree):
    """Give the template the URL of the page's twin, and the assets that the page needs."""
    language = app.config.language
    twin = "en" if language == "es" else "es"
    # `jupyter-book build .` builds one edition alone, which has no twin to link to.
    context["has_twin"] = "ATTN_BOTH_EDITIONS" in os.environ
    depth = page_address(pagename).count("/") + 1
    context["twin_language"] = twin
    context["twin_address"] = "../" * depth + f"{twin}/{page_address(pagename)}.html"
    context["twin_whole_address"] = whole_address(app, twin, pagename)
    context["pageurl"] = whole_address(
        app, language, pagename
    )  # Sphinx's URL has the source's folder
    context["landing_address"] = "../" * depth + "index.html"
    context["social_card"] = (
        app.config.html_baseurl or context["content_root"]
    ) + "_static/social-card.png"
    context["ui"] = UI[language]
    context["chapter"] = chapter_number(page_address(pagename))
    context["contents"] = lambda tree: _contents(tree, context["chapter"])
    context["own_contents"] = "" if pagename == app.config.root_doc else _own_contents(context)
    context["page_description"] = _description(doctree) or UI[language]["description"]
    body = context.get("body") or ""
    widgets = _widget_source()
    needed = widgets.scripts(body)
    context["widget_scripts"] = [name for name in needed if name not in widgets.LATE]
    context["late_scripts"] = [
        (name, stem) for name in needed if name in widgets.LATE for stem in widgets.BUNDLES[name]
    ]
    notebook = (context.get("sourcename") or "").endswith(".ipynb")
    context["launch"] = attn_launch.addresses(language, Path(pagename).name) if notebook else {}
    context["python"] = attn_python.page_settings(body, language, depth)
    context["model"] = attn_model.page_settings(body, depth)
    if body:
        body = _with_rooms(body, f"{language}/{page_address(pagename)}")
        body = attn_python.frame_starters(_bind_numbers(_accessible(_with_image_sizes(body))))
        context["body"] = attn_launch.reports(body, page_address(pagename), context["ui"]["report"])


def _contents(tree, chapter):
    """Number the chapters in the table of contents, and remove heading roles without a level.

    The link to the current page is `#`, which does not contain its chapter.
    """
    here = '<a class="current reference internal" href="#"'
    tree = tree.replace(
        f"{here}>", f'{here} aria-current="page">{_number(chapter) if chapter else ""}', 1
    )
    linked = r'(<a class="reference internal" href="(?:\.\./)*(\d\d)_[^"#]+">)'
    tree = re.sub(linked, lambda link: link[1] + _number(int(link[2])), tree)
    tree = tree.replace(' role="heading"', "")
    part = None

    def caption(found):
        """Show the name of a part once, above the first of its captions, `part: subject`."""
        nonlocal part
        before, part = part, found[1]
        once = f'<p class="attn-part">{part}</p>' if part != before else ""
        return f'{once}<p class="caption"><span class="caption-text">{found[2].capitalize()}</span></p>'

    return re.sub(CAPTION, caption, tree)


def _own_contents(context):
    """Return a list of links to the sections of a page, or nothing if there are one or two."""
    inner = re.search(r"</a>\s*(<ul>.*</ul>)\s*</li>\s*</ul>", context.get("toc") or "", re.DOTALL)
    return inner[1] if inner and inner[1].count("<li>") > 2 else ""


def _number(chapter):
    return f'<span class="attn-number">{chapter}</span>'


def _description(doctree):
    """Return the page's first long paragraph, shortened, for search engines and social cards."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        words = paragraph.astext().split()
        if len(words) > 8:
            return textwrap.shorten(" ".join(words), 180, placeholder=" …")
    return None


def _with_image_sizes(body):
    """Give figures their size as attributes, so that browsers keep their proportions on a phone."""
    return re.sub(
        r'style="width: (\d+)px; height: (\d+)px;"',
        r'width="\1" height="\2" loading="lazy"',
        body,
    )


def _with_rooms(body, page):
    """Reserve the height of each widget until it has loaded."""
    rooms = iter(ROOMS.get(page, []))

    def with_room(found):
        room = next(rooms, None)
        if room is None:
            return found[0]
        return f'{found[0]} style="--attn-hand: {room[0]}px; --attn-desk: {room[1]}px"'

    return re.sub(r'<div class="attn-widget" data-anywidget="\w+"', with_room, body)


def _bind_numbers(body):
    """Prevent line breaks inside a number or before its % sign, in the text of a page alone."""
    skipped = r"(<(script|style|svg|math|option)\b.*?</\2>|<[^>]*>)"
    return re.sub(
        skipped + r"|\d+(?:\u2009\d{3})+(?:\.\d+)?(?: %)?|\d+(?:\.\d+)? %",
        lambda it: it[0] if it[1] else f'<span class="attn-bound">{it[0]}</span>',
        body,
        flags=re.DOTALL,
    )


def _accessible(body):
    """Correct the generators' markup for screen readers.

    The label of myst-nb's folded cells is English and hides their visible name; the roles that
    docutils gives to a bibliography are deprecated in ARIA, or lack their list items.
    """
    unwanted = (
        r' aria-label="Toggle hidden content"| role="doc-biblioentry"'
        r'|(?<=<div) role="list"(?= class="citation-list")'
    )
    return re.sub(unwanted, "", body)


UI = {
    "es": {
        "tagline": "Un curso sobre atención y Transformer",
        "description": "attn: un curso interactivo sobre atención y el Transformer, "
        "desde el producto punto.",
        "skip": "Saltar al contenido",
        "contents": "Contenido",
        "own_contents": "En esta página",
        "search": "Buscar",
        "search_placeholder": "Buscar en el curso",
        "theme": "Cambiar entre modo claro y oscuro",
        "twin": "English",
        "twin_label": "Read this page in English",
        "twin_gone": "This copy of the course comes without its English edition.",
        "choose_language": "Elegir idioma",
        "chapter": "Capítulo",
        "copy": "Copiar",
        "copied": "Copiado",
        "source": "Ver en la bibliografía",
        "enlarge": "Ampliar la figura",
        "save": "Guardar como SVG",
        "unsaved": "No se ha podido cargar drawn.js",
        "close": "Cerrar",
        "turn": "Pasar de página",
        "resume": "Seguir donde lo dejaste:",
        "answers": "Respuestas",
        "question": "Pregunta",
        "report": "Avisar de un error en esta sección",
        "previous": "Anterior",
        "next": "Siguiente",
        "notebook": "El cuaderno de esta página",
        "download": "Descargar",
        "open_in": "Abrir en {}",
        "licence": "Contenido bajo CC BY 4.0. Código bajo licencia MIT.",
        "glossary": "Glosario",
        "no_script": "Esta página necesita JavaScript. Sin él ves lo que muestra al principio.",
        "no_script_search": "La búsqueda necesita JavaScript. Sin él, el "
        '<a href="{glossary}">glosario</a> explica los términos del curso, y la '
        '<a href="{api}">referencia de la API</a> tiene los nombres del código.',
        "results": {
            "one": "Una página contiene «{query}».",
            "many": "{count} páginas contienen «{query}».",
            "none": "Ninguna página contiene «{query}».",
            "suggestion": "¿Quisiste decir «{query}»?",
            "moreOne": "Una sección más",
            "more": "{count} secciones más",
            "kinds": {
                "term": "glosario",
                "see": "glosario",
                "function": "función",
                "class": "clase",
                "method": "método",
                "classmethod": "método de clase",
                "staticmethod": "método estático",
                "property": "propiedad",
                "attribute": "atributo",
                "data": "constante",
                "exception": "excepción",
                "module": "módulo",
            },
        },
        "figure": "Figura",
        "show_code": "Mostrar el código",
        "hide_code": "Ocultar el código",
    },
    "en": {
        "tagline": "A course on attention and the Transformer",
        "description": "attn: an interactive course on attention and the Transformer, "
        "from the dot product up.",
        "skip": "Skip to content",
        "contents": "Contents",
        "own_contents": "On this page",
        "search": "Search",
        "search_placeholder": "Search the course",
        "theme": "Switch between light and dark mode",
        "twin": "Español",
        "twin_label": "Leer esta página en español",
        "twin_gone": "Esta copia del curso no trae la edición en español.",
        "choose_language": "Choose language",
        "chapter": "Chapter",
        "copy": "Copy",
        "copied": "Copied",
        "source": "See the bibliography",
        "enlarge": "Enlarge the figure",
        "save": "Save as SVG",
        "unsaved": "drawn.js could not be loaded",
        "close": "Close",
        "turn": "Turn the page",
        "resume": "Go on where you stopped:",
        "answers": "Answers",
        "question": "Question",
        "report": "Report an error in this section",
        "previous": "Previous",
        "next": "Next",
        "notebook": "The notebook of this page",
        "download": "Download",
        "open_in": "Open in {}",
        "licence": "Content under CC BY 4.0. Code under the MIT licence.",
        "glossary": "Glossary",
        "no_script": "This page needs JavaScript. Without it you see what it shows at first.",
        "no_script_search": "Search needs JavaScript. Without it, the "
        '<a href="{glossary}">glossary</a> explains the terms of the course, and the '
        '<a href="{api}">API reference</a> has the names of the code.',
        "results": {
            "one": "One page has “{query}”.",
            "many": "{count} pages have “{query}”.",
            "none": "No page has “{query}”.",
            "suggestion": "Did you mean “{query}”?",
            "moreOne": "One more section",
            "more": "{count} more sections",
            "kinds": {
                "term": "glossary",
                "see": "glossary",
                "function": "function",
                "class": "class",
                "method": "method",
                "classmethod": "class method",
                "staticmethod": "static method",
                "property": "property",
                "attribute": "attribute",
                "data": "constant",
                "exception": "exception",
                "module": "module",
            },
        },
        "figure": "Figure",
        "show_code": "Show the code",
        "hide_code": "Hide the code",
    },
}


def setup(app):
    # Jupyter Book always passes this setting to Sphinx; the extension it belongs to is not used
    # here.
    app.add_config_value("comments_config", {}, "")
    app.setup_extension("attn_api")
    app.setup_extension("attn_pages")
    app.setup_extension("attn_glossary")
    app.setup_extension("attn_machine")
    app.setup_extension("attn_code")
    app.setup_extension("attn_figures")
    app.setup_extension("attn_look")
    app.add_builder(CourseBuilder, override=True)
    app.add_html_theme("attn", str(THEME))
    app.connect("config-inited", configure)
    app.connect("env-get-outdated", rebuild_everything)
    app.connect("source-read", read_source)
    app.connect("doctree-read", offer_labels)
    app.connect("env-check-consistency", number_figures_by_chapter)
    app.connect("doctree-resolved", keep_punctuation)
    app.connect("doctree-resolved", attn_python.mark_cells)
    # Late, after the other extensions have changed the page.
    app.connect("html-page-context", page_context, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
