"""Who gives a command in a shell that says so in its own way, or not at all."""

import argparse
import os
import pwd
from pathlib import Path

import pytest

from console.commands import incident, node
from console.policy import table_commands
from console.whoami import whoami

NAMES = ("LOGNAME", "USER", "LNAME", "USERNAME")


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_shell_says_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "kim")
    assert whoami() == "kim"


def test_in_a_shell_that_says_nothing_the_password_database_counts() -> None:
    assert whoami() == pwd.getpwuid(os.getuid()).pw_name


def test_who_is_in_no_password_database_is_told_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert whoami() == f"uid {os.getuid()}"


def test_every_command_that_leaves_a_name_leaves_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "kim")
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    incident.add_arguments(verbs.add_parser("incident"))
    node.add_arguments(verbs.add_parser("node"))
    words = verbs.add_parser("policy").add_subparsers()
    table_commands.add_arguments(words.add_parser, Path(), "files")
    for line in (
        "incident approve 4be1",
        "incident deny 4be1 --reason no",
        "incident close 4be1 --reason done",
        "incident verdict 4be1 faulty",
        "node run node-1 reset_gpu",
        "node maintenance node-1",
    ):
        assert parser.parse_args(line.split()).by == "kim", line
    for line in ("set-mode xid-79 off", "push", "rollback xid-79", "stop", "start"):
        assert parser.parse_args(["policy", *line.split()]).by == "kim", line
