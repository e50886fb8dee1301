"""The CDK app: `python -m infra.app [-c settings=FILE] [-c layer=none]` writes the template into cdk.out/.

Decides nothing about resources (`stack.py` does). What cdk-nag still asks ends the run with an error.
"""

import os
import sys

from infra import context, node, settings


def main(argv: list[str]) -> int:
    """Synthesise; return 0, or 1 with what to do on stderr."""
    try:
        found = context.gather(argv, os.environ)
        deployment = settings.read(context.settings_path(found))
        node.prepare()  # before aws_cdk: its import starts jsii
        synthesise(deployment, found)
    except settings.DeploymentError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def synthesise(deployment: settings.Deployment, found: dict[str, object]) -> None:
    """Build the app and write its assembly to $CDK_OUTDIR or cdk.out."""
    from aws_cdk import App, Validations  # noqa: PLC0415 - after node.prepare()
    from cdk_nag import AwsSolutionsChecks  # noqa: PLC0415 - the same

    from infra.stack import RelightStack  # noqa: PLC0415 - the same

    app = App(outdir=os.environ.get("CDK_OUTDIR", "cdk.out"), context=found, analytics_reporting=False)
    RelightStack(app, deployment, with_layer=found.get("layer") != "none")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
