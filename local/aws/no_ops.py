"""Resource types that the embedded AWS accepts and does not make, each with the reason why nothing is lost.

A type stands here only if an assertion on the template answers for it (tests/unit/infra), or if it is for people.
"""

from collections.abc import Mapping
from types import MappingProxyType

NO_OPS: Mapping[str, str] = MappingProxyType(
    {
        "AWS::CDK::Metadata": "usage statistics of the CDK; nothing reads it",
        "AWS::CloudTrail::Trail": "no call is told to EventBridge by itself; selectors and bucket policy are asserted",
        "AWS::CloudWatch::CompositeAlarm": "no alarm is evaluated here; the template's alarms are asserted",
        "AWS::EKS::AccessEntry": "the local Kubernetes API has no IAM; the entry and its group are asserted",
        "AWS::Events::EventBusPolicy": "resource policies are not evaluated; SourceArn and SourceAccount are asserted",
        "AWS::Logs::MetricFilter": "no metric is kept here; people and alarms read it",
        "AWS::Logs::QueryDefinition": "a saved search for people",
        "AWS::Logs::ResourcePolicy": "resource policies are not evaluated; the principal is asserted",
        "AWS::S3::BucketPolicy": "moto ignores its conditions: a deny of plain HTTP would refuse every upload",
        "AWS::EC2::VPCEndpoint": "there is no network to cross",
    }
)
