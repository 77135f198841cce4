"""`collect`: from an exchange, a folder or an LMS's archive into the folders of the course.

What students hand in is believed in nothing but its content: who it is from, the system, the LMS
and the roster say; when it came, the system or the archive.
"""

import json
import os
import pwd
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from assignments.grader.course import LANGUAGES, CourseError, write
from assignments.grader.gradebook import due_date
from assignments.grader.inbox import Refused, open_inbox
from assignments.grader.lms import named, whose
from assignments.grader.regrade import MOST_BYTES as MOST_OF_A_REQUEST
from assignments.grader.regrade import place_of
from assignments.grader.roster import Roster, is_name
from assignments.grader.submission import BadSubmission, parse, plain_bytes
from assignments.grader.submitted import NAMES, parse_time, shown, small_text

EXCHANGE = re.compile(
    r"(?P<student>.+)\+(?P<set>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d[ _]\d\d[:_]\d\d[:_]\d\d[^+]*)"
    r"(?:\+.*)?"
)
ODD = timedelta(minutes=10)  # between what nbgrader wrote and what the system saw


@dataclass
class Collected:
    """What became of an inbox.

    Attributes
    ----------
    new, replaced, same : int
        Notebooks that came, that took the place of an earlier one, and that were there already.
    left_out, remarks : list of str
        A sentence for each thing that was not taken, and for each that deserves a look.
    """

    new: int = 0
    replaced: int = 0
    same: int = 0
    left_out: list = field(default_factory=list)
    remarks: list = field(default_factory=list)

    def __str__(self):
        total = self.new + self.replaced + self.same
        summary = (
            f"{total} in the course: {self.new} new, {self.replaced} replaced, {self.same} as "
            f"before. {len(self.left_out)} left out."
        )
        return "\n".join([*self.left_out, *self.remarks, summary])


@dataclass(frozen=True)
class _Offer:
    """A file that somebody handed in."""

    inbox: object
    parts: tuple
    file: str  # as the student called it
    reason: str | None  # why it cannot be read
    said: str | None  # the time that nbgrader's exchange has in the name of the folder
    lms: object  # what an LMS says of it, a `Named`, or None

    @property
    def label(self):
        return shown(self.inbox.path.joinpath(*self.parts))


@dataclass(frozen=True)
class _Notebook:
    offer: _Offer
    data: bytes
    when: object
    number: int  # in the name, as browsers and Canvas count downloads and attempts


def collect(course, name, source=None, language=None):
    """Take what was handed in of a set into the course; of two notebooks, the later.

    Parameters
    ----------
    course : assignments.grader.course.Course
    name : str
        The set.
    source : Path, optional
        A folder or a zip; without it, the exchange folders of both editions.
    language : {"es", "en"}, optional
        The edition of notebooks that do not tell.

    Returns
    -------
    Collected

    Raises
    ------
    CourseError
        If there is nothing of the set.
    """
    course.problem_set(name)
    return _Intake(course, name, language).take(_inboxes(course, source))


def _inboxes(course, source):
    if source is not None:
        return [open_inbox(source)]
    places = []
    for language in LANGUAGES:
        config = course.config(language)
        root = (
            Path(config.Exchange.root) if "root" in config.Exchange else course.folder / "exchange"
        )
        places.append(root / str(config.CourseDirectory.course_id) / "inbound")
    inboxes = [open_inbox(place) for place in places if place.is_dir()]
    if not inboxes:
        raise CourseError(
            f"There is no {' and no '.join(map(str, places))}: say what to collect from, "
            "FROM=folder or FROM=file.zip."
        )
    return inboxes


class _Intake:
    """Collects one set."""

    def __init__(self, course, name, language):
        self.course, self.name, self.language = course, name, language
        self.roster, self.found = Roster.of(course), Collected()
        self.due = due_date(course.config("es"), name)
        self.people = {}  # by student, where each number that an LMS gave was seen first
        self.released = {language: course.released(language, name) for language in LANGUAGES}
        number = r"(?:(?:[ _-]+|(?=\())\(?(\d{1,4})\)?)?"
        self.expected = re.compile(rf"{re.escape(name)}{number}\.ipynb", re.IGNORECASE)
        self.request = re.compile(rf"{re.escape(name)}[ _-]?regrade.*\.(?:md|txt)", re.IGNORECASE)

    def take(self, inboxes):
        """Take everything; return what became of it."""
        offers = {}
        for inbox in inboxes:
            for parts, reason in inbox.names():
                self._sort(inbox, parts, reason, offers)
        if not offers and not self.found.left_out:
            places = " or ".join(str(inbox.path) for inbox in inboxes)
            raise CourseError(f"There is nothing of {self.name} in {places}.")
        for student in sorted(offers):
            if len(people := self.people.get(student, {})) > 1:
                for place in people.values():
                    self._leave(
                        place, "several people have this name; moodle_id or canvas_id in the "
                        "roster tells them apart"
                    )  # fmt: skip
            else:
                self._take(student, offers[student])
        self.found.left_out = list(dict.fromkeys(self.found.left_out))
        return self.found

    def _sort(self, inbox, parts, reason, offers):
        """Put a file among the offers of the student it is from."""
        place, said, given = shown(inbox.path / parts[0]), None, named(parts)
        if given:
            student, file = whose(given, self.roster), given.file
            self.people.setdefault(student, {}).setdefault(given.number, place)
        elif match := EXCHANGE.fullmatch(parts[0]):
            if match["set"] != self.name:
                return
            student, file, said = self._student(match["student"]), parts[-1], match["time"]
        elif len(parts) == 1:
            # Neither a student's nor in the way of an LMS: the table of participants, perhaps.
            if reason or parts[0].lower().endswith(".ipynb"):
                self._leave(place, reason or "nothing says whose it is")
            return
        elif len(parts) > 2 and parts[1] not in (self.name, ".."):
            return  # another set
        else:
            student, file = self._student(parts[0]), parts[-1]
        if student is None:
            self._leave(place, self._unknown(given))
            return
        offer = _Offer(inbox, parts, file, reason, said, given)
        offers.setdefault(student, []).append(offer)

    def _student(self, folder):
        """Return the id of the student after whom a folder is called, or None."""
        folder = unicodedata.normalize("NFC", folder)  # macOS writes accents apart
        if self.roster is None:
            return folder if is_name(folder) else None
        if folder in self.roster:
            return folder
        person = self.roster.find(
            lambda one: folder == one.user or folder.casefold() == one.email.casefold() != ""
        )
        return person.id if person else None

    def _unknown(self, given):
        if self.roster is None:
            return "no student is called that"
        if given:
            return f"nobody in the roster, or several, are {ascii(given.name)[1:-1]}"
        return "nobody in the roster is called that"

    def _leave(self, label, reason):
        self.found.left_out.append(f"Left out {label}: {reason}.")

    def _take(self, student, offers):
        """Take the notebook of a student, or one in each edition, and the request if there is one."""
        best, requests = {}, []
        notebooks = [offer for offer in offers if offer.file.lower().endswith(".ipynb")]
        called = [offer for offer in notebooks if self.expected.fullmatch(offer.file)]
        for offer in called or notebooks:
            self._weigh(student, offer, best, by_content=not called)
        for offer in offers:
            if self.request.fullmatch(offer.file) and (received := self._read(student, offer)):
                requests.append((received.modified, received.data, offer))
        if not notebooks and not requests:
            top = shown(offers[0].inbox.path / offers[0].parts[0])
            self._leave(top, f"there is no notebook among what {student} handed in")
        if len(called) > 1 and len(best) == 1:
            (notebook,) = best.values()
            self.found.remarks.append(
                f"{student} handed in {len(called)} notebooks: the last, {notebook.offer.label}, "
                "counts."
            )
        try:
            for language, notebook in best.items():
                offer = notebook.offer
                self._store(student, language, notebook)
            if requests:
                _, data, offer = max(requests, key=lambda request: request[0])
                self._store_request(student, data, offer)
        except OSError as error:
            self._leave(offer.label, f"{shown(error.filename)} cannot be written: {error.strerror}")

    def _weigh(self, student, offer, best, by_content):
        """Make a notebook the one that counts in its edition if it is later than the others."""
        received = self._read(student, offer)
        if received is None:
            return
        language, is_ours = self._edition(received.data)
        if by_content and not is_ours:
            self._leave(
                offer.label, f"it is not called {self.name}.ipynb and has none of its tasks"
            )
        elif (language or self.language) is None:
            self._leave(
                offer.label,
                "it does not tell whether it is the Spanish or the English edition; "
                "--language en takes it for English",
            )
        else:
            match = self.expected.fullmatch(offer.file)
            number = int(match[1] or 0) if match else 0
            new = _Notebook(offer, received.data, self._when(offer, received), number)
            old = best.get(language or self.language)
            if old is None or (new.when, new.number) > (old.when, old.number):
                best[language or self.language] = new

    def _read(self, student, offer):
        """Return what was received, or None if it is left out, which is said."""
        try:
            if offer.reason:
                raise Refused(offer.reason)
            received = offer.inbox.read(offer.parts)
            self._check_owner(student, offer, received)
            return received
        except Refused as reason:
            self._leave(offer.label, reason)
            return None

    def _check_owner(self, student, offer, received):
        if received.owner is None or (offer.said is None and received.owner == os.geteuid()):
            return
        try:
            owner = pwd.getpwuid(received.owner).pw_name
        except KeyError:
            owner = str(received.owner)
        person = self.roster.people[student] if self.roster else None
        if person and person.user:
            if owner != person.user:
                raise Refused(f"it belongs to {owner}, and {student} is {person.user}")
        elif owner != student and received.owner != os.geteuid():
            self.found.remarks.append(
                f"{offer.label} says that it is from {student}, and belongs to {owner}."
            )

    def _when(self, offer, received):
        """Return when a notebook was received, which no student can have made up.

        Who owns a file can give it any time of modification. Where the file is ours, that is
        what a copy or an archive has kept.
        """
        is_ours = received.owner is None or received.owner == os.geteuid()
        if offer.lms and offer.lms.lms == "canvas":
            # Its archives have the time of the download, and say who was late, not how late.
            if not offer.lms.is_late and self.due:
                return min(received.modified, self.due)
            if offer.lms.is_late:
                self.found.remarks.append(
                    f"{offer.label} came late, says Canvas, but not how late: until you write "
                    f"timestamp.txt, {received.modified:%Y-%m-%d %H:%M} UTC counts."
                )
            return received.modified
        if offer.said is None and is_ours:
            return received.modified
        said = offer.said and parse_time(offer.said)
        if said and abs(said - received.changed) > ODD:
            self.found.remarks.append(
                f"{offer.label} came at {received.changed:%Y-%m-%d %H:%M} UTC; that counts, and "
                "not the time in its name."
            )
        return received.changed

    def _edition(self, data):
        """Return (language or None, whether there is a task of the set) of a notebook."""
        try:
            cells = parse(data).cells
        except BadSubmission:
            return None, False
        tasks = {
            grade_id
            for cell in self.released["en"].cells
            if (grade_id := cell.metadata.get("nbgrader", {}).get("grade_id"))
            not in (None, "setup")
        }
        is_ours = any(cell.grade_id in tasks for cell in cells)
        said = json.loads(data.decode("utf-8-sig")).get("metadata")
        said = said.get("attn") if isinstance(said, dict) else None
        said = said.get("language") if isinstance(said, dict) else None
        if said in LANGUAGES:
            return said, is_ours
        # Some programs drop what they do not know: then the text that was handed out tells.
        texts = {cell.source.strip() for cell in cells}
        es, en = ({c.source.strip() for c in self.released[lang].cells} for lang in LANGUAGES)
        n_es, n_en = len(texts & (es - en)), len(texts & (en - es))
        return None if n_es == n_en else "es" if n_es > n_en else "en", is_ours

    def _store(self, student, language, notebook):
        place = self.course.path(language, "submitted", student, self.name)
        offer, stamp = notebook.offer, place.parent / "timestamp.txt"
        if self._is_linked(place):
            self._leave(offer.label, f"{shown(place.parent)} is a link")
            return
        try:
            before = plain_bytes(place)
        except BadSubmission:
            before = None
        is_same = before is not None and _cells(before) == _cells(notebook.data)
        if is_same and small_text(stamp):
            self.found.same += 1  # Handed in again, or downloaded again: the first time counts.
            return
        if before is not None and not is_same:
            when = parse_time(small_text(stamp) or "")
            if when and when >= notebook.when:
                self.found.same += 1
                self.found.remarks.append(
                    f"{student}: {offer.label} is older than what is in the course, in "
                    f"{NAMES[language]}, which stays."
                )
                return
        stamp.unlink(missing_ok=True)  # Whoever is interrupted here collects again.
        write(place, notebook.data)
        self._keep_secret(offer, place.parent / "submission_secret.txt")
        write(stamp, f"{notebook.when:%Y-%m-%d %H:%M:%S.%f} UTC")
        if before is None:
            self.found.new += 1
        else:
            self.found.replaced += 1

    def _keep_secret(self, offer, place):
        """Keep what nbgrader's exchange finds the way back to the student by."""
        place.unlink(missing_ok=True)
        if offer.said is None:
            return
        try:
            data = offer.inbox.read((*offer.parts[:-1], place.name)).data
        except Refused:
            return
        if data.isascii() and len(data) < 1000:
            write(place, data)

    def _store_request(self, student, data, offer):
        places = [self.course.path(lang, "submitted", student, self.name) for lang in LANGUAGES]
        places = [place for place in places if place.is_file() and not self._is_linked(place)]
        if len(data) > MOST_OF_A_REQUEST:
            self._leave(offer.label, f"it is over {MOST_OF_A_REQUEST // 1024} kB")
        elif not places:
            self._leave(offer.label, f"{student} has handed in no notebook of {self.name}")
        for place in places if len(data) <= MOST_OF_A_REQUEST else ():
            place = place_of(place, self.name)
            if not place.is_file() or place.read_bytes() != data:
                write(place, data)
                remark = f"{student} asks to have a mark looked at again: {offer.label}."
                self.found.remarks += [remark] * (remark not in self.found.remarks)

    @staticmethod
    def _is_linked(place):
        return any(folder.is_symlink() for folder in (place.parent, place.parent.parent))


def _cells(data):
    """Return what a student wrote in a notebook, or its bytes if it is none.

    To run it again, or to open it elsewhere, changes outputs and metadata.
    """
    try:
        return [(cell.kind, cell.source, cell.grade_id) for cell in parse(data).cells]
    except BadSubmission:
        return data
