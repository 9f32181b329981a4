"""An S3 server on this machine (moto's), for what workers keep in a bucket that all of them share."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import boto3
from moto.backends import get_backend
from moto.server import ThreadedMotoServer

BUCKET: Final = "lethe-tests"
KEYS: Final = {
    "AWS_ACCESS_KEY_ID": "key-of-the-tests",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-tests",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass(frozen=True)
class S3:
    """The server, with one bucket."""

    endpoint: str
    client: Any

    @property
    def environment(self) -> dict[str, str]:
        """What a worker has to know."""
        return {**KEYS, "AWS_ENDPOINT_URL": self.endpoint}

    def url(self, folder: str) -> str:
        return f"s3://{BUCKET}/{folder}"

    def put(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def keys(self, folder: str) -> list[str]:
        """What lies below a folder, without the folder's name."""
        found = self.client.list_objects_v2(Bucket=BUCKET, Prefix=f"{folder}/").get("Contents", [])
        return [one["Key"].removeprefix(f"{folder}/") for one in found]

    def age(self, key: str, *, days: float) -> None:
        """Make an object as old as no client can: the server runs in this process."""
        object_ = get_backend("s3")["123456789012"]["aws"].buckets[BUCKET].keys[key]
        object_.last_modified -= timedelta(days=days)


@contextmanager
def serving() -> Iterator[S3]:
    """Serve while the block lasts."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            region_name=KEYS["AWS_DEFAULT_REGION"],
        )
        client.create_bucket(Bucket=BUCKET)
        yield S3(endpoint, client)
    finally:
        server.stop()
