"""The opcodes that writers of dataclasses use (pickle protocols 2 to 5), as one table over the inert machine.

Numbers and meanings: CPython, Lib/pickletools.py. An opcode that is missing here is refused: persistent ids, the
extension registry and out-of-band buffers have no place in checkpoint metadata.
"""

import pickle
import struct
from collections.abc import Callable
from typing import Any

from policies.checkpoints.inert_pickle import OPAQUE, Fields, Machine

Opcode = Callable[[Machine], None]
_U1, _U2, _U4, _U8, _I4 = (struct.Struct(form) for form in ("<B", "<H", "<I", "<Q", "<i"))
_LONGEST_NUMBER = 16  # bytes; offsets and lengths have 8
_STOP = pickle.STOP[0]


def load(data: bytes, *, allowed: Callable[[str, str], bool], keep: frozenset[str]) -> Any:  # noqa: ANN401 - its value
    """Return the pickled value as `Node`, `Fields`, text, whole number or `OPAQUE`.

    *allowed* says of (module, name) whether a pickle may mention it, *keep* which text keys are remembered.
    BadInputError when it is cut off, malformed, or mentions anything else.
    """
    machine = Machine(data, allowed=allowed, keep=keep)
    try:
        while (code := data[machine.at]) != _STOP:
            machine.at += 1
            _OPCODES[code](machine)
        return machine.stack.pop()
    except (IndexError, struct.error):
        raise machine.bad("ends in the middle or takes what it never put") from None
    except KeyError:
        raise machine.bad("uses an opcode that no writer of checkpoint metadata uses") from None
    except UnicodeDecodeError:
        raise machine.bad("holds text that is no UTF-8") from None


def _constant(value: object) -> Opcode:
    return lambda m: m.stack.append(value)


def _integer(form: struct.Struct) -> Opcode:
    return lambda m: m.stack.append(m.number(form))


def _text(form: struct.Struct) -> Opcode:
    return lambda m: m.stack.append(m.take(m.number(form)).decode("utf-8", "surrogatepass"))


def _bytes(form: struct.Struct) -> Opcode:
    def run(m: Machine) -> None:
        m.take(m.number(form))
        m.stack.append(OPAQUE)

    return run


def _long(form: struct.Struct) -> Opcode:
    def run(m: Machine) -> None:
        raw = m.take(m.number(form))
        m.stack.append(int.from_bytes(raw, "little", signed=True) if len(raw) <= _LONGEST_NUMBER else OPAQUE)

    return run


def _tuple(size: int) -> Opcode:
    def run(m: Machine) -> None:
        for _ in range(size):
            m.stack.pop()
        m.stack.append(OPAQUE)

    return run


def _get(form: struct.Struct) -> Opcode:
    return lambda m: m.stack.append(m.memo[m.number(form)])


def _put(form: struct.Struct) -> Opcode:
    return lambda m: m.remember(m.number(form))


def _skip(size: int) -> Opcode:
    def run(m: Machine) -> None:
        m.take(size)

    return run


def _mark(m: Machine) -> None:
    m.marks.append(len(m.stack))


def _pop(m: Machine) -> None:
    m.stack.pop()


def _pop_mark(m: Machine) -> None:
    m.since_mark()


def _marked(m: Machine) -> None:
    m.since_mark()
    m.stack.append(OPAQUE)


def _fraction(m: Machine) -> None:
    m.take(8)
    m.stack.append(OPAQUE)


def _new_dictionary(m: Machine) -> None:
    m.stack.append(Fields())


def _dictionary(m: Machine) -> None:
    items = m.since_mark()
    m.stack.append(Fields())
    m.put_items(m.stack[-1], items)


def _set_item(m: Machine) -> None:
    value, key = m.stack.pop(), m.stack.pop()
    m.put_items(m.stack[-1], [key, value])


def _set_items(m: Machine) -> None:
    items = m.since_mark()
    m.put_items(m.stack[-1], items)


def _global(m: Machine) -> None:
    module = m.take_line()
    m.mention(module, m.take_line())


def _stack_global(m: Machine) -> None:
    name, module = m.stack.pop(), m.stack.pop()
    m.mention(module, name)


def _construct(m: Machine) -> None:
    m.stack.pop()  # the arguments
    m.construct(m.stack.pop())


def _construct_with_keywords(m: Machine) -> None:
    m.stack.pop()
    _construct(m)


def _memoize(m: Machine) -> None:
    m.remember(len(m.memo))


_TABLE: dict[bytes, Opcode] = {
    pickle.PROTO: _skip(1),
    pickle.FRAME: _skip(8),
    pickle.MARK: _mark,
    pickle.POP: _pop,
    pickle.POP_MARK: _pop_mark,
    pickle.NONE: _constant(None),
    pickle.NEWTRUE: _constant(True),  # noqa: FBT003 - the value itself
    pickle.NEWFALSE: _constant(False),  # noqa: FBT003 - the value itself
    pickle.BININT: _integer(_I4),
    pickle.BININT1: _integer(_U1),
    pickle.BININT2: _integer(_U2),
    pickle.LONG1: _long(_U1),
    pickle.LONG4: _long(_I4),
    pickle.BINFLOAT: _fraction,
    pickle.BINUNICODE: _text(_U4),
    pickle.SHORT_BINUNICODE: _text(_U1),
    pickle.BINUNICODE8: _text(_U8),
    pickle.BINBYTES: _bytes(_U4),
    pickle.SHORT_BINBYTES: _bytes(_U1),
    pickle.BINBYTES8: _bytes(_U8),
    pickle.EMPTY_TUPLE: _constant(OPAQUE),
    pickle.TUPLE1: _tuple(1),
    pickle.TUPLE2: _tuple(2),
    pickle.TUPLE3: _tuple(3),
    pickle.TUPLE: _marked,
    pickle.EMPTY_LIST: _constant(OPAQUE),
    pickle.LIST: _marked,
    pickle.APPEND: _pop,
    pickle.APPENDS: _pop_mark,
    pickle.EMPTY_SET: _constant(OPAQUE),
    pickle.ADDITEMS: _pop_mark,
    pickle.FROZENSET: _marked,
    pickle.EMPTY_DICT: _new_dictionary,
    pickle.DICT: _dictionary,
    pickle.SETITEM: _set_item,
    pickle.SETITEMS: _set_items,
    pickle.GLOBAL: _global,
    pickle.STACK_GLOBAL: _stack_global,
    pickle.REDUCE: _construct,
    pickle.NEWOBJ: _construct,
    pickle.NEWOBJ_EX: _construct_with_keywords,
    pickle.BUILD: Machine.build,
    pickle.BINPUT: _put(_U1),
    pickle.LONG_BINPUT: _put(_U4),
    pickle.MEMOIZE: _memoize,
    pickle.BINGET: _get(_U1),
    pickle.LONG_BINGET: _get(_U4),
}
_OPCODES = {code[0]: run for code, run in _TABLE.items()}
