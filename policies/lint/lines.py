"""In which line of the YAML a field stands.

Decides the line of a dotted path, or of the nearest part of it that is there. The text may be one that was refused: of
what is too large nothing is told, and what an alias stands for is walked once, where it was written.
"""

from collections.abc import Mapping

import yaml

from policies.yaml_text import LARGEST_BYTES

Lines = Mapping[str, int]


def lines_of(text: str) -> Lines:
    """Return path -> line (from 1) of everything in *text*; nothing when it is no YAML."""
    if len(text) > LARGEST_BYTES:
        return {}
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    found: dict[str, int] = {}
    if root is not None:
        _walk(root, "", found, set())
    return found


def line_of(path: str, lines: Lines) -> int:
    """Return the line of *path*, or of what it stands in; the document's first when only that is known, 0 for none."""
    while path and path not in lines:
        path = path.rpartition(".")[0]
    return lines.get(path, 0)


def _walk(node: yaml.Node, path: str, found: dict[str, int], walked: set[int]) -> None:
    if id(node) in walked:  # an alias: a few lines of them grow to gigabytes, or go round in circles
        return
    walked.add(id(node))
    found.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}".lstrip(".") if isinstance(key.value, str) else path
            found.setdefault(inner, key.start_mark.line + 1)
            _walk(value, inner, found, walked)
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            _walk(value, f"{path}.{at}".lstrip("."), found, walked)
