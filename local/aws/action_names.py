"""The IAM actions behind an API operation. Most share the operation's name; the exceptions stand here.

Source: the Service Authorization Reference, "Actions, resources, and condition keys" of each service.
"""

from local.aws.calls import Call

_ACTIONS: dict[str, tuple[str, ...]] = {
    "s3:HeadObject": ("s3:GetObject",),
    "s3:HeadBucket": ("s3:ListBucket",),
    "s3:ListObjects": ("s3:ListBucket",),
    "s3:ListObjectsV2": ("s3:ListBucket",),
    "s3:ListObjectVersions": ("s3:ListBucketVersions",),
    "s3:ListBuckets": ("s3:ListAllMyBuckets",),
    "s3:DeleteObjects": ("s3:DeleteObject",),
    "s3:CreateMultipartUpload": ("s3:PutObject",),
    "s3:UploadPart": ("s3:PutObject",),
    "s3:CompleteMultipartUpload": ("s3:PutObject",),
    "s3:UploadPartCopy": ("s3:GetObject", "s3:PutObject"),
    "s3:CopyObject": ("s3:GetObject", "s3:PutObject"),
    "s3:PutBucketLifecycleConfiguration": ("s3:PutLifecycleConfiguration",),
    "sqs:SendMessageBatch": ("sqs:SendMessage",),
    "sqs:DeleteMessageBatch": ("sqs:DeleteMessage",),
    "sqs:ChangeMessageVisibilityBatch": ("sqs:ChangeMessageVisibility",),
    "sns:PublishBatch": ("sns:Publish",),
    "lambda:Invoke": ("lambda:InvokeFunction",),
    "lambda:InvokeAsync": ("lambda:InvokeFunction",),
}
# SageMaker developer guide, "Provide permissions for tagging resources": whoever creates with tags needs AddTags, too.
_TAGS_WHEN_CREATING = frozenset({"sagemaker:CreateTrainingJob"})
_TO_TAG = ("sagemaker:AddTags",)
# A transaction needs the right of each kind of write in it, and none of its own.
_TRANSACTION_PARTS = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}


def actions(call: Call) -> tuple[str, ...]:
    """The IAM actions that this call needs."""
    if call.service == "dynamodb" and call.operation.startswith("Transact"):
        return _transaction_actions(call)
    name = f"{call.service}:{call.operation}"
    tags = _TO_TAG if name in _TAGS_WHEN_CREATING and call.parameters.get("Tags") else ()
    return (*_ACTIONS.get(name, (name,)), *tags)


def _transaction_actions(call: Call) -> tuple[str, ...]:
    kinds = {kind for item in call.parameters.get("TransactItems", []) for kind in item}
    names = {f"dynamodb:{_TRANSACTION_PARTS.get(kind, kind + 'Item')}" for kind in kinds}
    return tuple(sorted(names))
