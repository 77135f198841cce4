"""`AnswerBoard`: the answers of several systems, right and wrong at a glance, case by case."""

import traitlets

from attn._checks import argument_error
from attn_course.widgets._base import Widget, check_labels, check_list, check_whole, escape
from attn_course.widgets._source import module, stylesheet
from attn_course.widgets.visual_asker import check_thing

TEXT = {
    "es": {
        "system": "sistema",
        "case": "lo que recibe",
        "said": "lo que dice",
        "right": "lo correcto",
        "silence": "(sin respuesta)",
        "hit": "✓",
        "miss": "✗",
    },
    "en": {
        "system": "system",
        "case": "what it is given",
        "said": "what it says",
        "right": "what is right",
        "silence": "(no answer)",
        "hit": "✓",
        "miss": "✗",
    },
}
PARTS = ("text", "asked", "said", "right", "note", "things")


class AnswerBoard(Widget):
    """Show which answers of several systems are right, and any of them beside its question.

    Parameters
    ----------
    groups : sequence of str
        What each system is tried on, such as "from the documents".
    systems : dict of str to list of list of dict
        For each system, the cases of each group. A case has ``"said"`` and ``"right"``, which are
        equal where the system is right and empty where there is no answer; what the system reads
        as ``"text"``, or as ``"things"``, those of an image; and may have what is ``"asked"`` and
        a ``"note"`` about it.
    chosen : sequence of int, length 3
        The places of the system, group and case to begin with.
    language : {"es", "en"}, optional
        By default, the language in use.

    Attributes
    ----------
    chosen
        It follows the reader's hand in JupyterLab, and can also be set.

    Raises
    ------
    ValueError
        If the arguments do not fit together.

    Examples
    --------
    >>> case = {"text": "The red house.", "said": "La casa.", "right": "La casa roja."}
    >>> AnswerBoard(["documents"], {"translates": [[case]]}, language="en").score()
    [[(0, 1)]]
    """

    _stem = "answer_board"
    _state = ("groups", "names", "cases", "chosen")
    _esm = module(_stem)
    _css = stylesheet()

    groups = traitlets.List(traitlets.Unicode()).tag(sync=True)
    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    cases = traitlets.List().tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, groups, systems, chosen=(0, 0, 0), language=None):
        groups, names = check_labels("groups", groups), check_labels("systems", systems)
        cases = [_check_groups(f"systems[{name!r}]", systems[name], groups) for name in names]
        chosen = _check_chosen(chosen, cases)
        super().__init__(language, groups=groups, names=names, cases=cases, chosen=chosen)

    @traitlets.validate("chosen")
    def _validate(self, proposal):
        # The cases are not there yet while the constructor sets the traits.
        return _check_chosen(proposal["value"], self.cases) if self.cases else proposal["value"]

    def score(self):
        """Return how many cases are right, and how many there are, by system and group.

        Returns
        -------
        list of list of (int, int)
        """
        return [
            [(sum(case["said"] == case["right"] for case in group), len(group)) for group in groups]
            for groups in self.cases
        ]

    def _fallback(self):
        text = TEXT[self.language]
        head = ["", text["case"], text["said"], text["right"]]
        tables = []
        for name, groups in zip(self.names, self.cases, strict=True):
            lines = []
            for group, cases in zip(self.groups, groups, strict=True):
                for case in cases:
                    mark = text["hit" if case["said"] == case["right"] else "miss"]
                    given = " ".join(filter(None, (case["text"], case["asked"])))
                    said, right = (case[part] or text["silence"] for part in ("said", "right"))
                    cells = "".join(f"<td>{escape(cell)}</td>" for cell in (given, said, right))
                    lines.append(f'<tr><th scope="row">{mark} {escape(group)}</th>{cells}</tr>')
            columns = "".join(f'<th scope="col">{cell}</th>' for cell in head[1:])
            tables.append(
                f"<table><caption>{escape(name)}</caption><thead><tr><td></td>{columns}</tr></thead>"
                f"<tbody>{''.join(lines)}</tbody></table>"
            )
        return "".join(tables)

    def __repr__(self):
        return f"AnswerBoard({self.names!r}, chosen={self.chosen}, language={self.language!r})"


def _check_groups(name, found, groups):
    wanted = f"one or more cases for each of {len(groups)} groups"
    found = [
        check_list(f"{name}[{i}]", cases, "a list of cases")
        for i, cases in enumerate(check_list(name, found, wanted, len(groups)))
    ]
    if not all(found):
        raise argument_error(name, wanted, found)
    return [
        [_check_case(f"{name}[{i}][{j}]", case) for j, case in enumerate(cases)]
        for i, cases in enumerate(found)
    ]


def _check_case(name, case):
    if not isinstance(case, dict) or not {"said", "right"} <= set(case) <= set(PARTS):
        raise argument_error(name, f"a dict of said, right and others of {', '.join(PARTS)}", case)
    made = {part: case.get(part, "") for part in PARTS[:-1]}
    if not all(isinstance(part, str) for part in made.values()):
        raise argument_error(name, "strings", case)
    things = case.get("things")
    if things is None and not made["text"]:
        raise argument_error(name, "a text or things", case)
    if things is None:
        return made | {"things": None}
    things = check_list(f"{name}.things", things, "a list of things")
    made["things"] = [check_thing(f"{name}.things[{i}]", thing) for i, thing in enumerate(things)]
    return made


def _check_chosen(chosen, cases):
    chosen = check_list("chosen", chosen, "the places of a system, a group and a case", 3)
    system = check_whole("chosen[0]", chosen[0], 0, len(cases) - 1)
    group = check_whole("chosen[1]", chosen[1], 0, len(cases[system]) - 1)
    return [system, group, check_whole("chosen[2]", chosen[2], 0, len(cases[system][group]) - 1)]
