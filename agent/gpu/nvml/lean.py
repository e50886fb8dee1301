"""pynvml, but only the part of it that is asked for.

The module is one long file of some 700 functions and 300 ctypes structures. All of it takes 18 MiB, and what is dropped
afterwards leaves 7 MiB of holes behind, of the 80 that the agent promises. So its text is cut before it is run: the
statements that define the names wanted, those that these name in turn, and those that define nothing. An import of a
name defines it: `ctypes.util`, which nothing here needs, brings tempfile, shutil and subprocess, 1.5 MiB. If that does
not work with some version of it, the whole module is taken. It must not know what NVML is for.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from types import ModuleType

_NAME = "pynvml"
_STATEMENT = re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)  # a line that begins at the margin
_DEFINED = re.compile(r"(?:@[^\n]*\n)*(?:(?:def|class)\s+(\w+)|from [\w.]+ import (\w+)\s*$|(\w+)\s*=[^=])")
_WORD = re.compile(r"\w+")
_ERRORS = "NVML_ERROR_"  # from these it makes its exceptions, by name


def load(wanted: Iterable[str]) -> ModuleType:
    """Return pynvml with at least the names *wanted*; ImportError where it is not installed."""
    try:
        return _cut(list(wanted))
    except (OSError, SyntaxError, NameError, AttributeError, LookupError):
        sys.modules.pop(_NAME, None)
        return importlib.import_module(_NAME)


def _cut(wanted: list[str]) -> ModuleType:
    spec = importlib.util.find_spec(_NAME)
    if spec is None or spec.origin is None:
        raise LookupError(_NAME)
    with open(spec.origin, encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes a MiB, and nothing else here needs it
        text = kept(file.read(), wanted)
    module = sys.modules[_NAME] = importlib.util.module_from_spec(spec)
    exec(compile(text, spec.origin, "exec"), module.__dict__)  # noqa: S102 - what an import does, of a part of the file
    for name in wanted:
        getattr(module, name)
    return module


def kept(source: str, wanted: Iterable[str]) -> str:
    """Return the statements of *source* that define *wanted* and what they need, in their order."""
    statements = _decorated(_STATEMENT.split(source))
    defines: dict[str, list[int]] = {}
    keep: set[int] = set()
    for number, statement in enumerate(statements):
        match = _DEFINED.match(statement)
        if match is None:
            keep.add(number)
        else:
            defines.setdefault(match[match.lastindex or 1], []).append(number)
    words = [*wanted, *(word for number in keep for word in _WORD.findall(statements[number]))]
    words += [name for name in defines if name.startswith(_ERRORS)]
    while words:
        for number in defines.pop(words.pop(), ()):
            keep.add(number)
            words += _WORD.findall(statements[number])
    return "".join(statements[number] for number in sorted(keep))


def _decorated(parts: Iterable[str]) -> list[str]:
    """Put decorators to what they decorate."""
    found: list[str] = []
    for part in parts:
        if found and found[-1].startswith("@") and "\ndef " not in found[-1] and "\nclass " not in found[-1]:
            found[-1] += part
        else:
            found.append(part)
    return found
