"""Read, check and put policies: what an operator edits, what is in force, and what the guard said.

  relight policy lint FILE_OR_DIR...          check policies and run their examples; nothing is changed
  relight policy push FILE_OR_DIR...          write them as live items; the guard puts good ones into force
  relight policy push DIR --mode shadow       the same, but none of them acts yet
  relight policy list                         every policy: mode, revision in force, verdict on the last edit
  relight policy show NAME                    one policy as it is in force, and what is wrong with its last edit
  relight policy stop --reason "bad image"    nothing acts any more, whatever the policies say; at once
  relight policy start                        policies act again as they say

The table's name is POLICIES_TABLE, or --table. Without FILE_OR_DIR, lint and push take the policies that come along.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functions.adapters.policies import DynamoPolicies

FAILED, USAGE_ERROR = 1, 2
_PATHS = "a policy, or a folder of policies (default: those that come along)"
_NO_FILES = "there is no policy here. Name files, or a folder that holds them (*.yaml)."
SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "shipped"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (("lint", "check policies"), ("push", "write policies as live items")):
        action = actions.add_parser(name, help=text)
        action.add_argument("paths", nargs="*", type=Path, metavar="FILE_OR_DIR", default=[SHIPPED], help=_PATHS)
        if name == "push":
            action.add_argument("--mode", choices=["active", "shadow", "off"], help="instead of what the files say")
            _add_editor(action)
            _add_table(action)
    for name, text in (("stop", "nothing acts any more, at once"), ("start", "policies act again as they say")):
        action = actions.add_parser(name, help=text)
        action.add_argument("--reason", default="", help="why, for whoever is paged")
        _add_editor(action)
        _add_table(action)
    _add_table(actions.add_parser("list", help="every policy in one line"))
    show = actions.add_parser("show", help="one policy in full")
    show.add_argument("name", metavar="NAME", help="as `relight policy list` shows it")
    _add_table(show)


def _add_editor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edited-by", default=os.environ.get("USER", "unknown"), help="who it is (default: you)")


def _add_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", default=os.environ.get("POLICIES_TABLE"), help="default: POLICIES_TABLE")
    parser.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")


def run(args: argparse.Namespace) -> int:
    """Do what was asked; the answer is the exit status."""
    from policies.contract.errors import RelightError

    if args.action != "lint" and not args.table:
        return _complain(
            "name the policies table, the stack's output PoliciesTable: set POLICIES_TABLE or give --table."
        )
    try:
        actions = {"lint": _lint, "push": _push, "list": _list, "show": _show, "stop": _switch, "start": _switch}
        return actions[args.action](args)
    except RelightError as error:
        from console.dlq.adapters.asking import advice

        return _complain(f"{error.message} {advice(error)}".strip(), FAILED)


def _lint(args: argparse.Namespace) -> int:
    files = _files(args.paths)
    if not files:
        return _complain(_NO_FILES, FAILED)
    documents = _checked(files)
    print(f"{len(documents)} of {len(files)} policies are good.")
    return 0 if len(documents) == len(files) else FAILED


def _push(args: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from functions.adapters.policies import push

    files = _files(args.paths)
    documents = _checked(files)
    if not files or len(documents) != len(files):
        return _complain("nothing was written." if files else f"{_NO_FILES} Nothing was written.", FAILED)
    if args.mode:
        documents = [{**document, "mode": args.mode} for document in documents]
    changed = push(_policies(args), documents, edited_by=args.edited_by, now=datetime.now(UTC))
    for document in documents:
        print(f"{'written  ' if document['name'] in changed else 'unchanged'}  {document['name']}")
    return 0


def _switch(args: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    from policies.contract.times import format_time
    from policies.coordination.switches import EVERYTHING

    mode = "off" if args.action == "stop" else "active"
    item = {"name": EVERYTHING, "mode": mode, **({"reason": args.reason} if args.reason else {})}
    _policies(args).put_live({**item, "edited_by": args.edited_by, "edited_at": format_time(datetime.now(UTC))})
    print(_SWITCHED[args.action])
    return 0


_SWITCHED = {
    "stop": "Everything is stopped. New findings are only recorded. Incidents that have acted stop before their next"
    " rung\nand page, unless all that is left is to bring their run back. See them: relight incident list",
    "start": "Policies act again as they say. What was parked or recorded meanwhile stays so: relight incident list",
}


def _list(args: argparse.Namespace) -> int:
    from policies.coordination.switches import EVERYTHING, stop_of

    policies = _policies(args)
    stop = stop_of(policies.live(EVERYTHING))
    if stop:
        print(f"NOTHING ACTS: {stop}. `relight policy start` ends that.")
    in_force = {heading.name: heading for heading in policies.headings()}
    for name in sorted({*policies.names(), *in_force} - {EVERYTHING}):
        heading = in_force.get(name)
        told = f"{heading.mode:<7} rev {heading.revision:<4}" if heading else f"{'-':<7} {'none':<8}"
        print(f"{name:<40} {told} {_status(_verdict(policies, name))}")
    return 0


def _show(args: argparse.Namespace) -> int:
    import json

    import yaml

    policies = _policies(args)
    head, verdict = policies.head(args.name), _verdict(policies, args.name)
    if head is None and policies.live(args.name) is None:
        return _complain(f"there is no policy {args.name}; `relight policy list` names them.", FAILED)
    if head is not None:
        print(f"# revision {head.revision}, {head.mode}")
        print(yaml.safe_dump(json.loads(head.document), sort_keys=False, allow_unicode=True, width=110), end="")
    print(f"# the item: {_status(verdict)}")
    for problem in (verdict or {}).get("problems", ()):
        print(f"#   {problem['path'] or 'document'}: {problem['reason']} {problem['hint']}")
    return 0


def _verdict(policies: "DynamoPolicies", name: str) -> Mapping[str, Any] | None:
    live = policies.live(name)
    if live is None:
        return {"status": "deleted"}
    return live.get("verdict") or policies.answer_beside(name)


def _status(verdict: Mapping[str, Any] | None) -> str:
    if verdict is None:
        return "not judged yet"
    problems = len(verdict.get("problems", ()))
    return f"{verdict['status']} ({problems} problems)" if problems else str(verdict["status"])


def _files(paths: Sequence[Path]) -> list[Path]:
    return [file for path in paths for file in (sorted(path.glob("*.y*ml")) if path.is_dir() else [path])]


def _checked(files: Sequence[Path]) -> list[dict[str, Any]]:
    return [document for file in files for document in _check(file)]


def _check(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the document in *file* if it is a good policy, else say what is wrong with it."""
    from policies.loader import load_text
    from policies.model import Policy
    from policies.notices import notices
    from policies.yaml_text import read_yaml

    try:
        text = file.read_bytes()
    except OSError as error:
        print(f"{file}: cannot be read: {error.strerror}.", file=sys.stderr)
        return
    loaded, document = load_text(text), read_yaml(text)
    if isinstance(loaded, Policy) and isinstance(document, dict):
        for notice in notices(loaded):
            print(f"{file}: note: {notice}")
        yield document
        return
    for problem in loaded if isinstance(loaded, list) else ():
        print(f"{file}: {problem}", file=sys.stderr)


def _policies(args: argparse.Namespace) -> "DynamoPolicies":
    from console.aws import session
    from console.dlq.adapters.asking import asking
    from functions.adapters.policies import DynamoPolicies

    with asking("connecting to AWS"):
        return DynamoPolicies(session(args.region).client("dynamodb"), args.table)


def _complain(text: str, status: int = USAGE_ERROR) -> int:
    print(f"relight policy: {text}", file=sys.stderr)
    return status
