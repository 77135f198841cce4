"""Every page of the Spanish edition, and the one that leads to both, in both colour schemes."""

from tests.test_site.every_page import EveryPage


class TestSpanish(EveryPage):
    language, beside = "es", ["index.html#"]
    # The editions differ in words alone, so one of them shows what the dark scheme does to a page.
    schemes = ("light", "dark")

    def test_the_schemes_differ(self, visits):
        for page, scheme in visits:
            if scheme == "dark":
                assert visits[page, "light"]["theme"] != visits[page, "dark"]["theme"], page
