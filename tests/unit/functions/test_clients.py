import ast
from pathlib import Path

import pytest

HANDLERS = sorted((Path(__file__).parents[3] / "functions").glob("*/handler.py"))


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda path: path.parent.name)
def test_no_call_of_a_function_may_hang_for_as_long_as_botocore_lets_it(handler: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(handler.read_text())) if isinstance(node, ast.Call)]
    clients = [call for call in calls if ast.unparse(call.func) == "boto3.client"]
    assert clients
    assert all("_CLIENT" in ast.unparse(each) for each in clients)
    assert {ast.unparse(call.func) for call in calls} & {"bounded", "Config"} == {"bounded"}
