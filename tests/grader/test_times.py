"""Times as people write them: understood, or refused for a reason."""

import pytest

from grader.submitted import find
from grader.times import NoTime, read_time

UNDERSTOOD = {
    "2026-07-06 23:00 CEST": "2026-07-06 21:00",
    "2026-03-06 23:00 PST": "2026-03-07 07:00",
    "2026-07-06 23:00 BST": "2026-07-06 22:00",
    "2026-03-06 23:00 +01": "2026-03-06 22:00",
    "2026-03-06T23:00:00+0530": "2026-03-06 17:30",
    "2026-03-06 23:00Z": "2026-03-06 23:00",
    "2026-03-06 23:00 UTC-3": "2026-03-07 02:00",
    "2026-07-06 23:00 Europe/Madrid": "2026-07-06 21:00",
    "2026-03-06 11:59 pm": "2026-03-06 23:59",
    "2026-03-06 12:00 a. m. CET": "2026-03-05 23:00",
    "2026-03-06 12 p.m.": "2026-03-06 12:00",
    "2026-03-06 24:00": "2026-03-07 00:00",
    "2026-03-06 CET": "2026-03-06 22:59:59",
    "13/03/2026": "2026-03-13 23:59:59",
    "03/13/2026 23:00": "2026-03-13 23:00",
    "06.06.2026 9:05": "2026-06-06 09:05",
    "viernes, 6 de marzo de 2026, 23:59": "2026-03-06 23:59",
    "Friday, 6 March 2026, 11:59 PM": "2026-03-06 23:59",
    "March 6th, 2026 at 11 pm EST": "2026-03-07 04:00",
    "6-mar-2026 23:00 h": "2026-03-06 23:00",
    "2026-03-05_18:30:00": "2026-03-05 18:30",
}
REFUSED = {
    "2026-03-06 23:00 XYZ": "no zone is called XYZ",
    "2026-03-06 23:00 CST": "several zones are called CST",
    "2026-03-06 23:00 IST": "several zones are called IST",
    "2026-03-06 23:00 ../CET": "no zone is called",
    "2026-03-06 23:00 +15": "no zone is",
    "06/03/2026": "may be the 6 of month 3 or the 3 of month 6",
    "30/02/2026": "is no day of the calendar",
    "2026-13-01": "is no day of the calendar",
    "Thursday, 6 March 2026": "2026-03-06 is no thursday",
    "2026-03-06 13:00 pm": "there is no 13 pm",
    "2026-03-06 25:00": "is no time of the day",
    "2026-03-06 2300": "its hour and minutes are not apart",
    "2026-03-06 23": "its hour has no minutes",
    "2026-03-29 02:30 Europe/Madrid": "there was no such time",
    "2026-10-25 02:30 Europe/Madrid": "that time came twice",
    "9999-12-31 23:00 -05": "of this calendar",
    "tomorrow": "no date",
    "": "no date",
}


@pytest.mark.parametrize(("text", "when"), UNDERSTOOD.items())
def test_valid_times_are_read(text, when):
    assert str(read_time(text)).startswith(when)


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_invalid_times_are_refused_with_the_reason(text, reason):
    with pytest.raises(NoTime) as caught:
        read_time(text)
    assert reason in str(caught.value)


def test_a_timestamp_written_by_hand_is_reported_as_it_was_read(course, hand_in):
    place = hand_in("ana").parent / "timestamp.txt"
    place.write_bytes("\ufeff6 de marzo de 2026, 11:59 p.\u00a0m. CET\r\n".encode())
    (ana,), _, (remark,) = find(course, "ps2")
    assert ana.timestamp == "2026-03-06 22:59:00.000000 UTC"
    assert remark.startswith(f"ana: {place} is read as 2026-03-06 22:59 UTC (")
    place.write_text("06/03/2026 23:00")
    (ana,), _, (remark,) = find(course, "ps2")
    assert ana.timestamp is None and "holds no time; it is left out: 06/03/2026 may be" in remark
