"""The answers to what cdk-nag asks: each finding that stays is acknowledged where it is, with its reason.

It must not hide a finding of another resource: ids name the exact wildcard.
"""

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, reasons: dict[str, str]) -> None:
    """Acknowledge AwsSolutions findings of *construct*: rule (``IAM5[Resource::*]``) -> why it stays."""
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason) for rule, reason in reasons.items())
    )
