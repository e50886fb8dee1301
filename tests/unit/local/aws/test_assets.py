"""Assets of an assembly: which there are, which are code, and zips that are the same for the same content."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest

from local.aws.assets import Asset, code_keys, pointer, read_assets, zipped
from local.aws.lambdas.code import CodeStore


def _folder(root: Path, name: str = "asset.1") -> Path:
    folder = root / name
    (folder / "package").mkdir(parents=True)
    (folder / "package/module.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    return folder


def test_placeholders_of_account_and_region_are_filled_in(tmp_path: Path) -> None:
    destination = {"bucketName": "cdk-${AWS::AccountId}-${AWS::Region}", "objectKey": "1.zip"}
    files = {"1": {"source": {"path": "asset.1", "packaging": "zip"}, "destinations": {"here": destination}}}
    (tmp_path / "App.assets.json").write_text(json.dumps({"files": files}))
    assert read_assets(tmp_path, "App", account="111122223333", region="eu-west-1") == [
        Asset(tmp_path / "asset.1", "zip", "cdk-111122223333-eu-west-1", "1.zip")
    ]


def test_code_of_functions_and_layers_is_told_from_other_assets() -> None:
    template = {
        "Resources": {
            "Function": {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"S3Key": "code.zip"}}},
            "Layer": {"Type": "AWS::Lambda::LayerVersion", "Properties": {"Content": {"S3Key": "layer.zip"}}},
            "Inline": {"Type": "AWS::Lambda::Function", "Properties": {"Code": {"ZipFile": "x = 1"}}},
            "Queue": {"Type": "AWS::SQS::Queue"},
        }
    }
    assert code_keys(template) == {"code.zip", "layer.zip"}


def test_a_zip_depends_on_the_content_alone(tmp_path: Path) -> None:
    first, second = _folder(tmp_path / "a"), _folder(tmp_path / "b")
    os.utime(second / "run.sh", (1, 1))
    assert zipped(first) == zipped(second)
    with zipfile.ZipFile(io.BytesIO(zipped(first))) as archive:
        assert archive.namelist() == ["package/module.py", "run.sh"]
        assert archive.getinfo("run.sh").external_attr >> 16 & 0o111


def test_different_code_has_different_pointers(tmp_path: Path) -> None:
    assert pointer(_folder(tmp_path, "asset.1")) != pointer(_folder(tmp_path, "asset.2"))


class _Function:
    def __init__(self, code: dict[str, str], content: bytes) -> None:
        self.code = code
        self.code_bytes = content
        self.code_sha_256 = "digest/="


def test_registered_code_is_imported_from_where_it_lies_and_other_code_is_unpacked_once(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    store = CodeStore(tmp_path / "code")
    store.register("bucket", "key", folder)
    assert store.directory(_Function({"S3Bucket": "bucket", "S3Key": "key"}, b"")) == folder
    other = _Function({"S3Bucket": "bucket", "S3Key": "other"}, zipped(folder))
    unpacked = store.directory(other)
    assert (unpacked / "package/module.py").read_text() == "x = 1\n"
    assert store.directory(other) == unpacked


def test_code_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="synthesise the app first"):
        CodeStore(tmp_path).register("bucket", "key", tmp_path / "nowhere")
