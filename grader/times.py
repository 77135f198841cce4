"""Read a time as people write it, or refuse it: one parser for every date of a course.

A time without a zone is in UTC, as nbgrader takes it, and a date alone is the end of that day.
An ambiguous time is refused, and the user is told how a time was read.
"""

import re
import unicodedata
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

EXAMPLE = "2026-03-06 23:00 UTC"
MONTHS = {
    word: number
    for number, words in enumerate(
        (
            ("january", "enero"),
            ("february", "febrero"),
            ("march", "marzo"),
            ("april", "abril"),
            ("may", "mayo"),
            ("june", "junio"),
            ("july", "julio"),
            ("august", "agosto"),
            ("september", "septiembre", "setiembre", "sept"),
            ("october", "octubre"),
            ("november", "noviembre"),
            ("december", "diciembre"),
        ),
        start=1,
    )
    for whole in words
    for word in (whole, whole[:3])
}
WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            ("monday", "lunes"),
            ("tuesday", "martes", "tues"),
            ("wednesday", "miercoles"),
            ("thursday", "jueves", "thur", "thurs"),
            ("friday", "viernes"),
            ("saturday", "sabado"),
            ("sunday", "domingo"),
        )
    )
    for whole in words
    for word in (whole, whole[:3])
}
# These abbreviations mean one zone to nearly everyone; the numbers are hours from UTC.
ZONES = {
    **dict.fromkeys(("UTC", "GMT", "Z", "WET"), 0),
    **dict.fromkeys(("BST", "CET", "MEZ", "WEST"), 1),
    **dict.fromkeys(("CEST", "MESZ", "EET"), 2),
    **dict.fromkeys(("EEST", "MSK"), 3),
    **dict.fromkeys(("AWST",), 8),
    **dict.fromkeys(("JST",), 9),
    **dict.fromkeys(("AEST",), 10),
    **dict.fromkeys(("AEDT",), 11),
    **dict.fromkeys(("NZST",), 12),
    **dict.fromkeys(("NZDT",), 13),
    **dict.fromkeys(("ART", "BRT", "CLST", "UYT"), -3),
    **dict.fromkeys(("BOT", "CLT", "EDT", "VET"), -4),
    **dict.fromkeys(("CDT", "COT", "EST", "PET"), -5),
    **dict.fromkeys(("MDT",), -6),
    **dict.fromkeys(("MST", "PDT"), -7),
    **dict.fromkeys(("AKDT", "PST"), -8),
    **dict.fromkeys(("AKST",), -9),
    **dict.fromkeys(("HST",), -10),
}
AMBIGUOUS = {"CST", "IST", "AST", "ADT", "ECT", "AMT", "GST", "PYT", "SST", "KST", "WST", "ACT"}

_DATES = (
    r"(?P<year>\d{4})([-/.])(?P<month>\d\d?)\2(?P<day>\d\d?)(?!\d)",
    r"(?P<first>\d\d?)([-/.])(?P<second>\d\d?)\2(?P<year>\d{4})(?!\d)",
    r"(?P<day>\d\d?)(?:st|nd|rd|th|º|o\b|\.)? ?(?:de |of )?-?(?P<word>[a-z]{3,10})\.?,? ?(?:de |del )?-?(?P<year>\d{4})(?!\d)",
    r"(?P<word>[a-z]{3,10})\.? (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>\d{4})(?!\d)",
)
_TIME = re.compile(
    r"(?P<hour>\d\d?)(?:[:_](?P<minute>\d\d)(?:[:_](?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?)?(?!\d)"
    r"(?: ?(?P<half>[ap]) ?\. ?m ?\.| ?(?P<plain>[ap]m)\b| ?(?P<h>h|hs|hrs|horas)\b\.?)?"
)
_OFFSET = re.compile(r"(?:utc|gmt)? ?(?P<sign>[+\u2212-])(?P<hours>\d\d?):?(?P<minutes>[0-5]\d)?")


class NoTime(ValueError):
    """A text that is no time, or is ambiguous; the message says which, as a part of a sentence."""


def read_time(text):
    """Return the time in a text.

    Parameters
    ----------
    text : str
        A date, with the year first, with the name of the month, or with numbers of which one can
        be no month; perhaps a time of 12 or 24 hours; perhaps a zone: an offset, the name of a
        region, or an abbreviation that no other zone has.

    Returns
    -------
    datetime
        In UTC without zone, as nbgrader counts.

    Raises
    ------
    NoTime
        If it tells none, or may tell two.

    Examples
    --------
    >>> read_time("Friday, 6 March 2026, 11:59 pm CET")
    datetime.datetime(2026, 3, 6, 22, 59)
    """
    given = unicodedata.normalize("NFKC", text)
    plain = unicodedata.normalize("NFKD", given)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = " ".join(plain.split())
    if len(plain) > 80 or not plain.isprintable():
        raise NoTime("it is no time")
    rest = plain.casefold()
    weekday = re.match(r"([a-z]{3,9})\.?,? ", rest)
    named = weekday[1] if weekday and weekday[1] in WEEKDAYS else None
    day, rest = _date(rest[weekday.end() :] if named else rest)
    if named and day.weekday() != WEEKDAYS[named]:
        raise NoTime(f"{day:%Y-%m-%d} is no {named}")
    is_time = re.match(r"(?:t(?=\d)|_|,? ?(?:at |a las? )?)(?=\d)", rest)
    if is_time:
        when, rest = _time(day, rest[is_time.end() :])
    else:
        when = day + timedelta(days=1, seconds=-1)
    zone = plain[len(plain) - len(rest) :].strip(" ,()") if rest else ""
    try:
        return _in_utc(when, zone)
    except OverflowError:
        raise NoTime("it is no time of this calendar") from None


def told(when):
    """Return a time as text, in UTC and in the zone of this machine."""
    local = when.replace(tzinfo=UTC).astimezone()
    shown = "%Y-%m-%d %H:%M:%S" if when.second or when.microsecond else "%Y-%m-%d %H:%M"
    return f"{when:{shown}} UTC ({local:{shown} %Z} on this machine)"


def _date(text):
    for pattern in _DATES:
        if found := re.match(pattern, text):
            break
    else:
        raise NoTime("it begins with no date of four figures for the year")
    said = found.groupdict()
    if "first" in said:
        first, second = int(said["first"]), int(said["second"])
        if first <= 12 and second <= 12 and first != second:
            raise NoTime(
                f"{found[0]} may be the {first} of month {second} or the {second} of month {first}: "
                "write the year first"
            )
        day, month = (first, second) if second <= 12 else (second, first)
    else:
        day = int(said["day"])
        month = MONTHS.get(said["word"]) if "word" in said else int(said["month"])
    try:
        return datetime(int(said["year"]), month, day), text[found.end() :]
    except (ValueError, TypeError):
        raise NoTime(f"{found[0]} is no day of the calendar") from None


def _time(day, text):
    found = _TIME.match(text)
    if found is None:
        raise NoTime("its hour and minutes are not apart")
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    half = found["half"] or (found["plain"] or "")[:1]
    if found["minute"] is None and not half and not found["h"]:
        raise NoTime("its hour has no minutes")
    if half and not 1 <= hour <= 12:
        raise NoTime(f"there is no {hour} {half}m")
    hour = hour % 12 + 12 * (half == "p") if half else hour
    whole = hour == 24 and minute == second == 0  # 24:00 is the end of the day.
    if not whole and (hour > 23 or minute > 59 or second > 59):
        raise NoTime(f"{found[0].strip()} is no time of the day")
    part = int((found["part"] or "0").ljust(6, "0")[:6])
    passed = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=part)
    return day + passed, text[found.end() :]


def _in_utc(when, zone):
    name = zone.upper()
    if not zone or name in ZONES:
        return when - timedelta(hours=ZONES.get(name, 0))
    if offset := _OFFSET.fullmatch(zone.casefold()):
        passed = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        if passed > timedelta(hours=14):
            raise NoTime(f"no zone is {zone}")
        return when - passed * (1 if offset["sign"] == "+" else -1)
    if name in AMBIGUOUS:
        raise NoTime(f"several zones are called {zone}: write an offset, such as -06:00")
    return _of_region(when, zone)


def _of_region(when, zone):
    # The text must look like the name of a region, because ZoneInfo would open it as a file.
    if not re.fullmatch(r"[A-Za-z]+(?:/[A-Za-z_-]+){1,2}", zone):
        raise NoTime(f"no zone is called {zone}")
    name = zone.title() if zone.islower() else zone
    try:
        region = ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise NoTime(f"no zone is called {zone}") from None
    early, late = (when.replace(tzinfo=region, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early.astimezone(region).replace(tzinfo=None) != when:
        raise NoTime("the clocks were put forward then, and there was no such time")
    if early != late:
        raise NoTime("the clocks were put back then, and that time came twice: write an offset")
    return early.replace(tzinfo=None)
