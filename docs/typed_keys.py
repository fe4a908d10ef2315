"""The keys of scenario files as TypedDicts, from their JSON Schema."""

from __future__ import annotations

import textwrap
from typing import Any

Schema = dict[str, Any]

_COLUMNS = 100
_HEAD = '''"""The keys of scenario files, so that editors complete them and type checkers know them.

Written by ``python docs/generate.py`` from the JSON Schema that ``rocelab schema`` prints.
Quantities are texts with their unit, such as ``"100Gbps"``, ``"1.5us"`` and ``"320KB"``.

>>> from rocelab.keys import StarTopology
>>> network: StarTopology = {
...     "kind": "star", "hosts": 4, "host_rate": "100Gbps", "host_delay": "1us"
... }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

'''

_SIMPLE = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def typed_keys(schema: Schema) -> str:
    """A module of Python with a class for each table."""
    tables, words, unions = [], [], []
    for name, one in sorted(schema["$defs"].items()):
        variants = [each for each in one.get("oneOf", []) if "properties" in each]
        kinds = {_kind_name(each, name): each for each in variants}
        if one.get("type") == "object":
            tables.append(_table(_name(name), one))
        elif kinds:
            tables += [_table(kind, each) for kind, each in kinds.items()]
            unions.append(_alias(_name(name), " | ".join(kinds), one))
        elif "$ref" in str(one):
            unions.append(_alias(_name(name), _type(one), one))
        else:
            words.append(_alias(_name(name), _type(one), one))
    tables.append(_table("ScenarioKeys", schema))
    # Aliases are looked up where they stand, what is in a class only by type checkers.
    return "\n\n".join([_HEAD + "\n".join(words), *tables, "\n".join(unions)])


def _name(name: str) -> str:
    """What a definition of the schema is called here."""
    return name.removesuffix("Spec")


def _kind_name(variant: Schema, name: str) -> str:
    """The class of one kind: ``LeafSpineTopology``."""
    kind: str = variant["properties"]["kind"]["const"]
    return "".join(word.capitalize() for word in kind.split("-")) + _name(name)


def _table(name: str, schema: Schema) -> str:
    lines = [f"class {name}(TypedDict):", _doc(schema.get("description", name))]
    required = schema.get("required", [])
    for key, value in sorted(schema.get("properties", {}).items()):
        of = _type(value)
        of = of if key in required else f"NotRequired[{of}]"
        lines += ["", _fit(f"    {key}: ", of)]
        if "description" in value:
            lines.append(_doc(value["description"]))
    return "\n".join(lines) + "\n"


def _alias(name: str, of: str, schema: Schema) -> str:
    lines = [_fit(f"{name}: TypeAlias = ", of)]
    if "description" in schema:
        lines.append(_doc(schema["description"], indent=""))
    return "\n".join(lines) + "\n"


def _type(schema: Schema) -> str:
    """The type of a value. A key that may be null is one that may be left out."""
    if "$ref" in schema:
        return _name(schema["$ref"].rsplit("/", 1)[-1])
    if "const" in schema:
        return f"Literal[{_quoted(schema['const'])}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(_quoted, schema['enum']))}]"
    several = [one for key in ("anyOf", "oneOf") for one in schema.get(key, [])]
    several = [one for one in several if one.get("type") != "null"]
    if several and all("const" in one for one in several):
        return f"Literal[{', '.join(_quoted(one['const']) for one in several)}]"
    if several:
        return " | ".join(dict.fromkeys(map(_type, several)))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    (kind,) = [one for one in kinds if one != "null"]
    if kind == "array":
        inner = schema.get("items") or {"anyOf": schema["prefixItems"]}
        return f"Sequence[{_type(inner)}]"
    if kind == "object":
        return f"Mapping[str, {_type(schema['additionalProperties'])}]"
    return _SIMPLE[kind]


def _quoted(word: str) -> str:
    return f'"{word}"'


def _fit(begin: str, of: str) -> str:
    """``begin`` and a type, of which a list of words that is too long takes several lines."""
    if len(begin + of) <= _COLUMNS:
        return begin + of
    before, _, words = of.partition("Literal[")
    if not words:
        parts = of.split(" | ")
        indent = " " * (len(begin) - len(begin.lstrip()))
        each = [f"{indent}    {'| ' * (at > 0)}{part}" for at, part in enumerate(parts)]
        return "\n".join([f"{begin}(", *each, f"{indent})"])
    closing = words[words.index("]") :]
    indent = " " * (len(begin) - len(begin.lstrip()) + 4)
    each = [f"{indent}{word}," for word in words[: words.index("]")].split(", ")]
    return "\n".join([f"{begin}{before}Literal[", *each, f"{indent[4:]}{closing}"])


def _doc(text: str, indent: str = "    ") -> str:
    text = " ".join(text.split()).replace("\\", "\\\\")
    text = text if text.endswith((".", ":", ")")) else f"{text}."
    if text.endswith('"'):
        text += " "
    if len(text) + len(indent) + 6 <= _COLUMNS:
        return f'{indent}"""{text}"""'
    wrapped = textwrap.wrap(text, _COLUMNS - len(indent) - 4, break_on_hyphens=False)
    first, *rest = wrapped
    lines = [f'{indent}"""{first}', *(f"{indent}{line}" for line in rest), f'{indent}"""']
    return "\n".join(lines)
