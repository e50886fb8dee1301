"""Deploys a synthesised stack into the embedded AWS, or says exactly which resources it could not make.

There are no updates: a run starts fresh and deploys once. What is deployed is the template of the real account.
"""

import json
import time
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from local.aws.assets import Asset, code_keys, pointer, read_assets, zipped
from local.aws.errors import DeployError, ResourceProblem
from local.aws.server import EmbeddedAws

_BOOTSTRAP_VERSION = "30"  # what templates of the CDK's default synthesizer ask for at least
_CREATION_SECONDS = 60.0
_STACK_TYPE = "AWS::CloudFormation::Stack"


def deploy(aws: EmbeddedAws, *, assembly: Path, stack: str) -> dict[str, str]:
    """Create the stack and return its outputs.

    Args:
        aws: where to.
        assembly: the folder of the synthesised app (`cdk.out`). Workers import from its asset folders: keep it.
        stack: the stack's name, and that of `<stack>.template.json` and `<stack>.assets.json`.

    Raises:
        DeployError: resources that were not made as the template asks, each with its reason.
        FileNotFoundError: the assembly does not hold this stack.
    """
    text = (assembly / f"{stack}.template.json").read_text()
    template: dict[str, Any] = json.loads(text)
    account = aws.client("sts").get_caller_identity()["Account"]
    _upload(aws, read_assets(assembly.resolve(), stack, account=account, region=aws.region), code_keys(template))
    _pretend_bootstrapped(aws, template)
    _create(aws, stack, text)
    return _outputs(aws, stack)


def _upload(aws: EmbeddedAws, assets: list[Asset], code: set[str]) -> None:
    s3 = aws.client("s3")
    for bucket in {asset.bucket for asset in assets}:
        s3.create_bucket(Bucket=bucket)
    for asset in assets:
        if asset.key in code and asset.source.is_dir():
            aws.control("register_code", bucket=asset.bucket, key=asset.key, directory=str(asset.source))
            body = pointer(asset.source)
        else:
            body = zipped(asset.source) if asset.packaging == "zip" else asset.source.read_bytes()
        s3.put_object(Bucket=asset.bucket, Key=asset.key, Body=body)


def _pretend_bootstrapped(aws: EmbeddedAws, template: dict[str, Any]) -> None:
    parameter = template.get("Parameters", {}).get("BootstrapVersion", {}).get("Default")
    if parameter:
        aws.client("ssm").put_parameter(Name=parameter, Value=_BOOTSTRAP_VERSION, Type="String", Overwrite=True)


def _create(aws: EmbeddedAws, stack: str, template: str) -> None:
    failure = None
    try:
        aws.client("cloudformation").create_stack(
            StackName=stack, TemplateBody=template, Capabilities=["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM"]
        )
    except ClientError as error:
        failure = ResourceProblem(stack, _STACK_TYPE, str(error))
    problems = [ResourceProblem(**problem) for problem in aws.control("stack_problems", stack=stack)]
    if problems or failure:
        raise DeployError(stack, [*problems, *([failure] if failure else [])])


def _outputs(aws: EmbeddedAws, stack: str) -> dict[str, str]:
    client = aws.client("cloudformation")
    deadline = time.monotonic() + _CREATION_SECONDS
    while True:
        description = client.describe_stacks(StackName=stack)["Stacks"][0]
        if description["StackStatus"] == "CREATE_COMPLETE":
            return {output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", [])}
        if not description["StackStatus"].endswith("_IN_PROGRESS") or time.monotonic() > deadline:
            raise DeployError(stack, [ResourceProblem(stack, _STACK_TYPE, f"it is {description['StackStatus']}")])
        time.sleep(0.05)
