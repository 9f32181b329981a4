"""Network file systems are told from local ones."""

import pytest

from lethe_core.adapters.stores import sqlite_connection
from lethe_core.adapters.stores.mounts import network_type
from lethe_core.adapters.stores.sqlite import SqliteStore
from lethe_core.errors import StoreUnavailableError


@pytest.fixture
def table(tmp_path):
    def write(*lines):
        file = tmp_path / "mounts"
        file.write_text("\n".join(f"{line} rw 0 0" for line in lines))
        return file

    return write


def test_the_innermost_mount_decides(tmp_path, table):
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    mounts = table("/dev/sda / ext4", f"nas:/x {tmp_path} nfs4", f"/dev/sdb {inside} ext4")
    assert network_type(tmp_path, mounts) == "nfs4"
    assert network_type(tmp_path / "a", mounts) == "nfs4"
    assert network_type(inside, mounts) == ""
    assert network_type(inside / "not" / "yet", mounts) == ""


def test_of_two_mounts_on_one_point_the_later_decides(tmp_path, table):
    assert network_type(tmp_path, table(f"a {tmp_path} ext4", f"b {tmp_path} cifs")) == "cifs"
    assert network_type(tmp_path, table(f"b {tmp_path} cifs", f"a {tmp_path} ext4")) == ""


def test_a_name_that_only_begins_alike_is_another_folder(tmp_path, table):
    (tmp_path / "data2").mkdir()
    assert network_type(tmp_path / "data2", table(f"nas {tmp_path}/data nfs")) == ""


def test_a_mount_point_with_a_space_is_found(tmp_path, table):
    (tmp_path / "my data").mkdir()
    assert network_type(tmp_path / "my data", table(f"nas {tmp_path}/my\\040data fuse.sshfs")) == "fuse.sshfs"


@pytest.mark.parametrize("text", ["", "nonsense", "one two"])
def test_an_unreadable_table_refuses_nothing(tmp_path, table, text):
    assert network_type(tmp_path, table(text)) == ""
    assert network_type(tmp_path, tmp_path / "missing") == ""


def test_a_store_on_a_network_file_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "network_type", lambda _folder: "nfs4")
    with pytest.raises(StoreUnavailableError, match=r"graph\.db.*nfs4.*Neo4j"):
        SqliteStore(tmp_path / "graph.db")
    assert list(tmp_path.iterdir()) == []
