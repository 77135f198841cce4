"""`collect`: from an exchange, a folder or an LMS's archive into the folders of the course.

A submission is trusted only for its content. Its author is taken from the file system, the LMS and
the roster; its time from the file system or the archive.
"""

import os
import pwd
import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from grader.course import CourseError, write
from grader.gradebook import due_date
from grader.inbox import CHECKPOINT, CHECKPOINTS, Nested, Refused, open_inbox
from grader.lms import named, whose
from grader.problem_sets import folders
from grader.regrade import MOST_BYTES as MOST_OF_A_REQUEST
from grader.regrade import place_of
from grader.roster import Roster, is_name, key
from grader.submission import REASONS, BadSubmission, parse, plain, plain_bytes
from grader.submitted import parse_time, shown, small_text
from grader.times import told
from grader.words import LANGUAGES

EXCHANGE = re.compile(
    r"(?P<student>.+)\+(?P<set>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d[ _]\d\d[:_]\d\d[:_]\d\d[^+]*)"
    r"(?:\+.*)?"
)
ARCHIVES = (".zip", ".rar", ".7z", ".tar", ".gz", ".tgz")
LEAST_TEXTS = 3  # unchanged cells that identify a notebook of the set
MOST_ZIPS = 3  # zips within zips
MOST_NAMED = 5  # files that are listed where none is a notebook
ODD = timedelta(minutes=10)  # between the time that nbgrader wrote and that of the system


@dataclass
class Collected:
    """The result of collecting an inbox.

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
    file: str  # the student's name for it
    reason: str | None  # why it cannot be read
    said: str | None  # the time that nbgrader's exchange has in the name of the folder
    lms: object  # what an LMS says of the file, a `Named`, or None
    # upload is the path of the folder that holds all files that were handed in at once.
    upload: tuple = ()

    @property
    def label(self):
        return shown(self.inbox.path.joinpath(*self.parts))


@dataclass(frozen=True)
class _Notebook:
    """A notebook of the set, and what distinguishes it from others of its student."""

    offer: _Offer
    data: bytes
    when: object
    number: int  # in the name, as browsers and Canvas count downloads and attempts
    is_called: bool  # like the set
    is_ours: bool  # holds tasks of the set
    is_answered: bool  # holds anything that was not handed out
    language: str | None


def collect(course, name, source=None, language=None):
    """Take the submissions of a set into the course; of two notebooks, the later one.

    Parameters
    ----------
    course : grader.course.Course
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
    return _Intake(course, name, language).take(_inboxes(course, source))


def _inboxes(course, source):
    if source is not None:
        return [open_inbox(source)]
    places = []
    for language in course.languages:
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
        self.set = course.problem_set(name)
        self.roster, self.found = Roster.of(course), Collected()
        self.due = due_date(course.config(), name)
        self.people = {}  # people[student][number of the LMS] is where it was seen first.
        self.released = {language: course.released(language, name) for language in course.languages}
        self.texts = {
            language: {plain(cell.source) for cell in released.cells} - {""}
            for language, released in self.released.items()
        }
        others = {place.name for place in course.set_folder(".").glob("[!.]*")}
        if self.set.conventions.sets:
            others |= folders(self.set.conventions.sets).keys()
        self.others = {other.casefold() for other in others} - {name.casefold()}
        number = r"(?:(?:[ _-]+|(?=\())\(?(\d{1,4})\)?)?"
        self.expected = re.compile(rf"{re.escape(name)}{number}\.ipynb", re.IGNORECASE)
        self.request = re.compile(rf"{re.escape(name)}[ _-]?regrade.*\.(?:md|txt)", re.IGNORECASE)

    def take(self, inboxes):
        """Take everything; return what became of it."""
        offers = {}
        for inbox in inboxes:
            files = list(inbox.names())
            depth = self._depth(inbox, files)
            for parts, reason in files:
                if len(parts) > depth:
                    self._sort(inbox, parts, depth, reason, offers)
        if not offers and not self.found.left_out:
            places = " or ".join(str(inbox.path) for inbox in inboxes)
            raise CourseError(f"There is nothing of {self.name} in {places}.")
        for student in sorted(offers):
            if len(people := self.people.get(student, {})) > 1:
                for place in people.values():
                    self._leave(
                        place,
                        "several people have this name; moodle_id or canvas_id in the "
                        "roster tells them apart",
                    )
            else:
                self._take(student, offers[student])
        self.found.left_out = list(dict.fromkeys(self.found.left_out))
        return self.found

    def _depth(self, inbox, files):
        """Return how many folders enclose those of the students, if somebody packed them all."""
        above = []
        while True:
            depth = len(above)
            tops = {parts[depth] for parts, _ in files if len(parts) > depth + 1}
            loose = [parts[depth] for parts, _ in files if len(parts) == depth + 1]
            if len(tops) != 1 or any(name.lower().endswith(".ipynb") for name in loose):
                break
            (top,) = tops
            inner = {parts[depth + 1 :] for parts, _ in files if len(parts) > depth + 1}
            is_someone = named((top, "")) or EXCHANGE.fullmatch(top)
            if is_someone or not self._holds_a_class(inbox, top, inner):
                break
            above.append(top)
        if above:
            place = shown(inbox.path.joinpath(*above))
            self.found.remarks.append(f"{place} is taken for the folder of the whole class.")
        return len(above)

    def _holds_a_class(self, inbox, top, inner, is_outermost=True):
        """Return whether the only folder of an inbox holds the folders of students."""
        if self.roster is not None and self._student(top) is not None:
            return False
        folders = {parts[0] for parts in inner if len(parts) > 1}
        if any(named(parts) or EXCHANGE.fullmatch(parts[0]) for parts in inner if parts[0]):
            return True
        if self.roster is not None and any(map(self._student, folders)):
            return True
        if len(folders) == 1:
            (only,) = folders
            below = {parts[1:] for parts in inner if parts[0] == only and len(parts) > 1}
            if self._holds_a_class(inbox, only, below, is_outermost=False):
                return True
        if self.roster is not None:
            return False
        answered = {
            parts[0] for parts in inner if len(parts) > 1 and self.expected.fullmatch(parts[-1])
        }
        is_packed = top.casefold() in (self.name.casefold(), inbox.path.stem.casefold())
        return len(answered) > 1 or (is_outermost and is_packed and bool(answered))

    def _sort(self, inbox, parts, depth, reason, offers):
        """Put a file among the offers of its student."""
        own, top = parts[depth:], parts[: depth + 1]
        place, said, given = shown(inbox.path.joinpath(*top)), None, named(own)
        if given:
            if given.name is None:
                self._leave(
                    place,
                    "its name can be read as that of two people; let Moodle pack a folder "
                    "for each student",
                )
                return
            student, file = whose(given, self.roster), given.file
            self.people.setdefault(student, {}).setdefault(given.number, place)
        elif match := EXCHANGE.fullmatch(own[0]):
            if match["set"] != self.name:
                return
            student, file, said = self._student(match["student"]), own[-1], match["time"]
        elif len(own) == 1:
            # The file is in no student's folder, and its name is not one that an LMS gives. It may
            # be the table of participants.
            if reason or own[0].lower().endswith((".ipynb", *ARCHIVES)):
                is_zip = own[0].lower().endswith(ARCHIVES)
                why = (
                    "it is packed: say FROM and its name" if is_zip else "nothing says whose it is"
                )
                self._leave(place, reason or why)
            return
        elif own[0] == CHECKPOINTS:
            return
        elif any(folder.casefold() in self.others for folder in own[1:-1]) and not (
            self.expected.fullmatch(own[-1])
        ):
            return  # another set
        else:
            student, file = self._student(own[0]), own[-1]
        if student is None:
            self._leave(place, self._unknown(given))
            return
        offer = _Offer(inbox, parts, file, reason, said, given, top)
        offers.setdefault(student, []).append(offer)

    def _student(self, folder):
        """Return the id of the student whose name a folder has, or None."""
        folder = unicodedata.normalize("NFC", folder)  # macOS writes accents apart
        if self.roster is None:
            return folder if is_name(folder) else None
        if folder in self.roster:
            return folder
        name, letters = folder.casefold(), key(folder)
        for is_called in (
            lambda one: folder == one.user or name == one.email.casefold() != "",
            lambda one: name == one.id.casefold(),
            lambda one: letters in one.names,
        ):
            if person := self.roster.find(is_called):
                return person.id
        return None

    def _unknown(self, given):
        if self.roster is None:
            return "no student is called that"
        if given:
            return f"nobody in the roster, or several, are {ascii(given.name)[1:-1]}"
        return "nobody in the roster is called that"

    def _leave(self, label, reason):
        self.found.left_out.append(f"Left out {label}: {reason}.")

    def _take(self, student, offers):
        """Take the notebook of a student, or one in each edition, and any regrade request."""
        given, (offers, refused) = offers, self._unpacked(offers)
        notebooks, requests, copies = [], [], []
        for offer in offers:
            if offer.reason == CHECKPOINT:
                copies += [(offer, CHECKPOINT)] * offer.file.lower().endswith(".ipynb")
            elif self.request.fullmatch(offer.file):
                received, why = self._read(student, offer)
                refused += [(offer, why)] * bool(why)
                requests += [(received.modified, received.data, offer)] * bool(received)
            elif (is_loud := offer.file.lower().endswith(".ipynb")) or _may_be_one(offer.file):
                notebook, why = self._notebook(student, offer)
                if notebook and (is_loud or notebook.is_ours):
                    notebooks.append(notebook)
                elif is_loud:
                    refused.append((offer, why))
        best = self._chosen(student, notebooks)
        if notebooks:
            # Other notebooks beside it are of another set.
            refused = [
                (offer, why)
                for offer, why in refused
                if self.expected.fullmatch(offer.file) or offer.file.lower().endswith(".zip")
            ]
        for offer, why in refused or copies * (not notebooks):
            self._leave(offer.label, why)
        if not notebooks and not requests and not refused and not copies:
            names = {offer.file or offer.parts[-1] for offer in given} - {""}
            what = sorted(ascii(name)[1:-1] for name in names)[:MOST_NAMED]
            top = shown(given[0].inbox.path.joinpath(*given[0].upload))
            there = f" ({', '.join(what)})" if what else ": the folder is empty"
            self._leave(top, f"there is no notebook among what {student} handed in{there}")
        try:
            for language, notebook in best.items():
                offer = notebook.offer
                self._store(student, language, notebook)
            if requests:
                _, data, offer = max(requests, key=lambda request: request[0])
                self._store_request(student, data, offer)
        except OSError as error:
            self._leave(offer.label, f"{shown(error.filename)} cannot be written: {error.strerror}")

    def _unpacked(self, offers, depth=0):
        """Return the offers, zips replaced by their files, and the zips that cannot be read."""
        found, refused = [], []
        for offer in offers:
            if not offer.file.lower().endswith(".zip") or offer.reason:
                found.append(offer)
                continue
            try:
                if depth == MOST_ZIPS:
                    raise Refused("it is a zip within zips: hand in the notebook itself")
                nested = Nested(offer.inbox, offer.parts)
            except Refused as reason:
                refused.append((offer, str(reason)))
                continue
            inner = [
                replace(offer, inbox=nested, parts=parts, file=parts[-1], reason=reason)
                for parts, reason in nested.names()
            ]
            more, bad = self._unpacked(inner, depth + 1)
            found, refused = found + more, refused + bad
        return found, refused

    def _chosen(self, student, notebooks):
        """Return the notebook of a student that counts, by edition.

        An answered notebook counts, and an unanswered one beside it does not. Of several with the
        name of the set, the later one counts; of several with other names, none can be chosen.
        """
        if any(notebook.is_answered for notebook in notebooks):
            untouched = [notebook for notebook in notebooks if not notebook.is_answered]
            notebooks = [notebook for notebook in notebooks if notebook.is_answered]
            if untouched:
                as_given = " and ".join(notebook.offer.label for notebook in untouched)
                counts = " and ".join(notebook.offer.label for notebook in notebooks)
                self.found.remarks.append(
                    f"{student}: {as_given} is as it was handed out; {counts} counts."
                )
        last = max((one.offer.said or "" for one in notebooks), default="")
        notebooks = [one for one in notebooks if one.offer.said in (None, last)]
        if any(notebook.is_ours for notebook in notebooks):
            notebooks = [notebook for notebook in notebooks if notebook.is_ours]
        elif notebooks:
            self.found.remarks.append(
                f"{student}: {notebooks[0].offer.label} has none of the tasks of {self.name}."
            )
        best = {}
        for language in dict.fromkeys(notebook.language for notebook in notebooks):
            several = [notebook for notebook in notebooks if notebook.language == language]
            latest = max(several, key=lambda one: (one.when, one.number, one.is_called))
            others = [one for one in several if _cells(one.data) != _cells(latest.data)]
            as_late = [
                one for one in others if (one.when, one.number) == (latest.when, latest.number)
            ]
            if others and (as_late or not all(one.is_called for one in several)):
                labels = " and ".join(sorted(one.offer.label for one in (latest, *others)))
                self._leave(
                    labels,
                    f"{student} answered all of them, and nothing says which counts; leave "
                    "one, and collect again",
                )
                continue
            best[language] = latest
            if others:
                self.found.remarks.append(
                    f"{student} handed in {len(several)} notebooks: the last, "
                    f"{latest.offer.label}, counts."
                )
        return best

    def _notebook(self, student, offer):
        """Return the notebook in a file, or None and why it is not a notebook of the set."""
        received, why = self._read(student, offer)
        if received is None:
            return None, why
        match, language = self.expected.fullmatch(offer.file), self.language
        try:
            submission = parse(received.data)
        except BadSubmission as bad:
            why = REASONS[bad.reason]["en"]
            if match is None or language is None:
                hint = " (--language en collects it, for a page that says so)" if match else ""
                return None, why + hint
            is_ours, is_answered = True, False
        else:
            language, is_ours, is_answered = self._known(submission)
            language = language or self.language
            if not match and not is_ours:
                return None, f"it is not called {self.name}.ipynb and has none of its tasks"
            if language is None:
                editions = " or the ".join(LANGUAGES[lang] for lang in self.released)
                last = [*self.released][-1]
                return None, (
                    f"it does not tell whether it is the {editions} edition; "
                    f"--language {last} takes it for {LANGUAGES[last]}"
                )
        number = int(match[1] or 0) if match else 0
        when = self._when(offer, received)
        known = (match is not None, is_ours, is_answered, language)
        return _Notebook(offer, received.data, when, number, *known), None

    def _known(self, submission):
        """Return the edition of a notebook or None, if it is of the set, and if it is answered."""
        texts = {plain(cell.source) for cell in submission.cells} - {""}
        tasks = {
            grade_id
            for cell in next(iter(self.released.values())).cells
            if (grade_id := cell.metadata.get("nbgrader", {}).get("grade_id"))
            not in (None, "setup")
        }
        # Cells that exist in one language alone show the language.
        n_own = {
            lang: len(texts & given.difference(*(g for la, g in self.texts.items() if la != lang)))
            for lang, given in self.texts.items()
        }
        most = max(n_own.values())
        by_text = [lang for lang, n in n_own.items() if n == most]
        functions = "|".join(re.escape(task.exercise.id) for task in self.set.tasks) or "(?!)"
        code = "\n".join(cell.source for cell in submission.cells if cell.kind == "code")
        # Some programs drop metadata. Then the released text identifies the set.
        is_ours = (
            any(cell.grade_id in tasks for cell in submission.cells)
            or most >= LEAST_TEXTS
            or re.search(rf"^def (?:{functions})\b", code, re.MULTILINE) is not None
        )
        language = self._said(submission) or (by_text[0] if len(by_text) == 1 else None)
        return language, is_ours, not texts <= set().union(*self.texts.values())

    def _said(self, submission):
        """Return the edition that the metadata of a notebook name, or None."""
        mine = submission.metadata.get(self.set.conventions.name)
        language = mine.get("language") if isinstance(mine, dict) else None
        return language if language in [*self.released] else None

    def _read(self, student, offer):
        """Return what was received, or None and why it is left out."""
        try:
            if offer.reason:
                raise Refused(offer.reason)
            received = offer.inbox.read(offer.parts)
            self._check_owner(student, offer, received)
            return received, None
        except Refused as reason:
            return None, str(reason)

    def _check_owner(self, student, offer, received):
        """Raise `Refused` unless a file belongs to its student, or to a keeper of all files."""
        if received.owner is None or (
            offer.said is None and received.owner in self._keepers(offer)
        ):
            return
        try:
            owner = pwd.getpwuid(received.owner).pw_name
        except KeyError:
            owner = str(received.owner)
        person = self.roster.people[student] if self.roster else None
        if person and person.user:
            if owner != person.user:
                raise Refused(f"it belongs to {owner}, and {student} is {person.user}")
        # The Littlest JupyterHub names its accounts like this.
        elif owner not in (student, f"jupyter-{student}") and received.owner != os.geteuid():
            raise Refused(
                f"it belongs to the account {owner}, and nothing says that this is {student}; the "
                "column user of the roster can"
            )

    @staticmethod
    def _keepers(offer):
        """Return the accounts that may own the files of all students in a folder."""
        try:
            return os.geteuid(), os.stat(offer.inbox.path).st_uid
        except OSError:
            return (os.geteuid(),)

    def _when(self, offer, received):
        """Return when a notebook was received, a time that no student can forge.

        The owner of a file can give it any time of modification. If the file is ours, its time of
        modification is the one that a copy or an archive kept.
        """
        is_ours = received.owner is None or received.owner == os.geteuid()
        if offer.lms and offer.lms.lms == "canvas":
            # Archives of Canvas have the time of the download, and say who was late, not how late.
            if not offer.lms.is_late and self.due:
                return min(received.modified, self.due)
            if offer.lms.is_late:
                self.found.remarks.append(
                    f"{offer.label} came late, says Canvas, but not how late: until you write "
                    f"timestamp.txt, {received.modified:%Y-%m-%d %H:%M} UTC counts."
                )
            return received.modified
        if offer.said is None and is_ours:
            if received.modified > received.changed + ODD:
                self.found.remarks.append(
                    f"{offer.label} has a time that was not yet, {told(received.modified)}: somebody's "
                    f"clock was wrong, and {told(received.changed)} counts."
                )
                return received.changed
            return received.modified
        said = offer.said and parse_time(offer.said)
        if said and abs(said - received.changed) > ODD:
            self.found.remarks.append(
                f"{offer.label} came at {received.changed:%Y-%m-%d %H:%M} UTC; that counts, and "
                "not the time in its name."
            )
        return received.changed

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
            self.found.same += 1  # The time of the first hand-in counts.
            return
        if before is not None and not is_same:
            when = parse_time(small_text(stamp) or "")
            if when and when >= notebook.when:
                self.found.same += 1
                self.found.remarks.append(
                    f"{student}: {offer.label} is older than what is in the course, in "
                    f"{LANGUAGES[language]}, which stays."
                )
                return
        stamp.unlink(missing_ok=True)  # After an interruption here, collecting again repairs it.
        write(place, notebook.data)
        self._keep_secret(offer, place.parent / "submission_secret.txt")
        write(stamp, f"{notebook.when:%Y-%m-%d %H:%M:%S.%f} UTC")
        if before is None:
            self.found.new += 1
        else:
            self.found.replaced += 1

    def _keep_secret(self, offer, place):
        """Keep the secret with which nbgrader's exchange returns feedback to the student."""
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
        places = [
            self.course.path(lang, "submitted", student, self.name)
            for lang in self.course.languages
        ]
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


def _may_be_one(file):
    """Return whether a file may be a notebook under a name that a phone or a browser gave it."""
    suffix = Path(file.lower()).suffix
    return suffix in ("", ".txt", ".json") and file != "" or ".ipynb" in file.lower()


def _cells(data):
    """Return the cells of a notebook, or the bytes of another file.

    Outputs and metadata are left out, since running or opening a notebook changes them.
    """
    try:
        return [(cell.kind, cell.source, cell.grade_id) for cell in parse(data).cells]
    except BadSubmission:
        return data
