"""Records an incident as it was asked for: gathers, makes the example, tries it, prints it and writes it down.

Decides what is refused: an example in which the policy does not find what it found, unless a person says what should
come out; and one whose events its file tells already, with another end. It must not judge events itself.
"""

import argparse
from pathlib import Path

from console.policy.account import Account, connect
from console.policy.files import write_whole
from console.record.appending import There, appended, there_already
from console.record.reading import Sources, gather
from console.record.screen import Printed, show
from policies.contract.errors import BadInputError
from policies.loader import load_text
from policies.model import Policy
from policies.recording.making import Recording, Wish, record

NOT_AS_IT_WAS = 1
ENDS_OTHERWISE = 1


def run(args: argparse.Namespace) -> int:
    """Do what *args* ask; AWS is asked only for what the archive and the files do not have."""
    from console.archive.whereabouts import reader_of

    def account() -> Account:
        return connect(args.stack, args.region)

    archive = reader_of(args.events, args.region) if args.events else None
    return perform(args, Sources(archive, account, args.days, args.policies, args.write, where=args.events))


def perform(args: argparse.Namespace, sources: Sources) -> int:
    """Do it with these sources; RelightError when it cannot be done."""
    material = gather(sources, args.incident, args.policy)
    wish = Wish(says=args.says, findings=args.findings, every=args.all, others=material.nodes)
    made = record(material.incident, material.policy, material.seen, wish)
    if made is None:
        hint = "--all takes all that was seen, --policy NAME another policy, --events PATH every event as it came."
        raise BadInputError(f"{material.policy.name} asks about nothing of what was seen.", hint=hint)
    is_wanted = made.is_as_it_was or args.findings is not None
    there = _write(args.write, made) if args.write and is_wanted else None
    printed = Printed(args.write, there, from_notes=sources.archive is None, refused=not is_wanted)
    show(material, made, printed, as_json=args.json)
    if not is_wanted:
        return NOT_AS_IT_WAS
    return ENDS_OTHERWISE if there and there.findings != made.document["findings"] else 0


def _write(file: Path, made: Recording) -> There | None:
    """Append it, or return the example that tells the same already; the file is whole at every moment."""
    try:
        text = file.read_bytes().decode()
        there = there_already(text, made.document)
        if there:
            return there
        after = appended(text, made.document)
        loaded = load_text(after, try_examples=False)
        if not isinstance(loaded, Policy):
            raise BadInputError(f"{file} would be no good policy: {loaded[0]}", hint="Remove an example first.")
        write_whole(file, after)
    except OSError as error:
        raise BadInputError(f"{file}: {error.strerror or error}.", hint="See whether it may be written.") from None
    return None
