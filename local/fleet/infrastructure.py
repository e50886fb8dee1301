"""What an operator has before Relight comes: an EKS cluster, an Auto Scaling group of GPU nodes, a bucket.

Made through AWS's own API, by names that the deployment's settings know.
"""

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from local.aws.server import EmbeddedAws

NODE_ROLE = "training-node"


@dataclass(frozen=True, slots=True)
class Site:
    """The names of one training cluster."""

    cluster: str = "training"
    eks_cluster: str = "training"
    auto_scaling_group: str = "training-p5"
    bucket: str = "training-checkpoints"
    prefix: str = "llama/run-1"
    instance_type: str = "p5.48xlarge"
    zone: str = "us-east-1a"
    size: int = 8
    namespace: str = "training"
    job: str = "llama-pretrain"

    @property
    def checkpoints(self) -> str:
        """`s3://BUCKET/PREFIX`."""
        return f"s3://{self.bucket}/{self.prefix}"


def build(aws: EmbeddedAws, site: Site) -> None:
    """Make everything but the Kubernetes API's address; the group starts its instances."""
    aws.client("s3").create_bucket(Bucket=site.bucket)
    subnet = _subnet(aws, site.zone)
    _make_node_role(aws)
    _make_eks_cluster(aws, site, subnet)
    _make_group(aws, site, subnet)


def _subnet(aws: EmbeddedAws, zone: str) -> str:
    wanted = [{"Name": "availability-zone", "Values": [zone]}, {"Name": "default-for-az", "Values": ["true"]}]
    subnets = aws.client("ec2").describe_subnets(Filters=wanted)["Subnets"]
    return str(subnets[0]["SubnetId"])


def _make_node_role(aws: EmbeddedAws) -> None:
    iam = aws.client("iam")
    trust = (
        '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole",'
        '"Principal":{"Service":["ec2.amazonaws.com","eks.amazonaws.com"]}}]}'
    )
    iam.create_role(RoleName=NODE_ROLE, AssumeRolePolicyDocument=trust)
    iam.create_instance_profile(InstanceProfileName=NODE_ROLE)
    iam.add_role_to_instance_profile(InstanceProfileName=NODE_ROLE, RoleName=NODE_ROLE)


def attach_node_policy(aws: EmbeddedAws, policy_arn: str) -> None:
    """Attach the policy that the stack gives out for nodes, as the README tells an operator to."""
    aws.client("iam").attach_role_policy(RoleName=NODE_ROLE, PolicyArn=policy_arn)


def _make_eks_cluster(aws: EmbeddedAws, site: Site, subnet: str) -> None:
    role = aws.client("iam").get_role(RoleName=NODE_ROLE)["Role"]["Arn"]
    try:
        aws.client("eks").create_cluster(
            name=site.eks_cluster, roleArn=role, resourcesVpcConfig={"subnetIds": [subnet]}
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceInUseException":
            raise


def _make_group(aws: EmbeddedAws, site: Site, subnet: str) -> None:
    ec2, tags = aws.client("ec2"), _tags(site)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    template = ec2.create_launch_template(
        LaunchTemplateName=site.auto_scaling_group,
        LaunchTemplateData={
            "ImageId": image,
            "InstanceType": site.instance_type,
            "IamInstanceProfile": {"Name": NODE_ROLE},
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        },
    )["LaunchTemplate"]
    aws.client("autoscaling").create_auto_scaling_group(
        AutoScalingGroupName=site.auto_scaling_group,
        LaunchTemplate={"LaunchTemplateId": template["LaunchTemplateId"], "Version": "$Latest"},
        MinSize=0,
        MaxSize=site.size + 2,
        DesiredCapacity=site.size,
        VPCZoneIdentifier=subnet,
        HealthCheckType="EC2",
        Tags=[{**tag, "PropagateAtLaunch": True, **_of_group(site)} for tag in tags],
    )


def _tags(site: Site) -> list[dict[str, str]]:
    return [
        {"Key": "relight:cluster", "Value": site.cluster},
        {"Key": f"kubernetes.io/cluster/{site.eks_cluster}", "Value": "owned"},
        {"Key": "Name", "Value": f"{site.cluster}-gpu"},
    ]


def _of_group(site: Site) -> dict[str, str]:
    return {"ResourceId": site.auto_scaling_group, "ResourceType": "auto-scaling-group"}


def instances_of(aws: EmbeddedAws, site: Site) -> list[dict[str, Any]]:
    """All instances of the cluster that EC2 still shows, terminated ones among them, oldest first."""
    wanted = [{"Name": "tag:relight:cluster", "Values": [site.cluster]}]
    pages = aws.client("ec2").get_paginator("describe_instances").paginate(Filters=wanted)
    found = [one for page in pages for reservation in page["Reservations"] for one in reservation["Instances"]]
    return sorted(found, key=lambda instance: (instance["LaunchTime"], instance["InstanceId"]))
