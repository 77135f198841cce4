"""Every page of the English edition, in the light."""

from tests.test_site.every_page import EveryPage


class TestEnglish(EveryPage):
    language, scheme = "en", "light"
