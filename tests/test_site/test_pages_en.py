"""Every page of the English edition."""

from tests.test_site.every_page import EveryPage


class TestEnglish(EveryPage):
    language = "en"
