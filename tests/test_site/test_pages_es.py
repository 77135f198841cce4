"""Every page of the Spanish edition, in the dark."""

from tests.test_site.every_page import EveryPage


class TestSpanish(EveryPage):
    language, scheme = "es", "dark"
