"""Tokenizer files: JSON with one token on each line."""

import json
from pathlib import Path
from typing import Any

from attn._checks import argument_error, shown


def to_json(content: dict[str, Any]) -> str:
    """Return the text of a file: one item of a list on each line.

    `json.dump` would spread a merge over four lines, or put all tokens into one.
    """
    fields = []
    for name, value in content.items():
        if isinstance(value, list):
            items = (json.dumps(item, ensure_ascii=False) for item in value)
            text = "[\n  " + ",\n  ".join(items) + "\n ]"
        else:
            text = json.dumps(value)
        fields.append(f' "{name}": {text}')
    return "{\n" + ",\n".join(fields) + "\n}\n"


def read_json(path: str | Path) -> Any:
    """Read a JSON file; raise ``ValueError`` with its path if it is not JSON."""
    try:
        text = Path(path).read_bytes().decode()
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_number)
    except OSError as error:
        raise argument_error(str(path), "a file that can be read", error.strerror) from None
    except (ValueError, RecursionError) as error:
        raise argument_error(str(path), "JSON in UTF-8", f"something else ({error})") from None


def _distinct(entries: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(entries)
    if len(found) < len(entries):
        names = [name for name, _ in entries]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {shown(twice)} twice in one object")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name}, which is no number of JSON")
