"""In which line of the YAML a field stands.

Decides the line of a dotted path, or of the nearest part of it that is there. The text was read as plain YAML before:
no anchors, bounded in depth.
"""

from collections.abc import Mapping

import yaml

Lines = Mapping[str, int]


def lines_of(text: str) -> Lines:
    """Return path -> line (from 1) of everything in *text*; nothing when it is no YAML."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    found: dict[str, int] = {}
    if root is not None:
        _walk(root, "", found)
    return found


def line_of(path: str, lines: Lines) -> int:
    """Return the line of *path*, or of what it stands in; the document's first when only that is known, 0 for none."""
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return lines.get(path, 0)


def _walk(node: yaml.Node, path: str, found: dict[str, int]) -> None:
    found.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}".lstrip(".") if isinstance(key.value, str) else path
            found.setdefault(inner, key.start_mark.line + 1)
            _walk(value, inner, found)
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            _walk(value, f"{path}.{at}".lstrip("."), found)
