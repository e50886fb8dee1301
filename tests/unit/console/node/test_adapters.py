"""The console's own reads on DynamoDB and EC2."""

import boto3
from moto import mock_aws

from console.node.adapters import DynamoNodeCommands, Ec2Names
from tests.tools.commands import NODE, OTHER_NODE, command
from tests.tools.tables import create_commands_table


def test_every_command_to_a_node_is_read_and_those_of_others_are_not() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_commands_table(client)
        commands = DynamoNodeCommands(client, "commands")
        for number in range(3):
            commands.put(command(name=str(number)))
        commands.put(command(node=OTHER_NODE))
        assert len(commands.all_of(NODE)) == 3


def test_a_node_is_found_by_its_private_dns_name() -> None:
    with mock_aws():
        ec2 = boto3.client("ec2")
        image = ec2.describe_images()["Images"][0]["ImageId"]
        [made] = ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"]
        names = Ec2Names(ec2)
        assert names.instance_of(made["PrivateDnsName"]) == made["InstanceId"]
        assert names.instance_of("ip-10-9-9-9.ec2.internal") is None
