"""Notices in the incidents table, each put once: its stream tells the bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.notice_items import notice_item

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

    from functions.ports.notices import Notice


class DynamoNotices:
    """See `Notices` in `functions/ports/notices.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*."""
        self._client = client
        self._table = table

    def tell(self, notice: Notice) -> None:
        """See the port."""
        with calling(f"telling of policy {notice.policy}"):
            try:
                self._client.put_item(
                    TableName=self._table, Item=notice_item(notice), ConditionExpression="attribute_not_exists(pk)"
                )
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
