"""What is read of a file: its content whatever packs it, up to the limit and no further; and what is no file."""

from __future__ import annotations

import gzip
import lzma
import os
import threading
import tracemalloc

import pytest
from support import scenario

from cluster_abm import bounded_files
from cluster_abm.bounded_files import BLOCK, MEGABYTE, Limit, digest, opened, unpacked, whole
from cluster_abm.errors import InputError
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.workload.traces import read_trace

LIMIT = Limit(1, "some.key")


def put(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def refused(path, limit=LIMIT):
    with pytest.raises(InputError) as caught:
        whole(path, limit)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", "a.csv", "a.gz.csv", "a.zip"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
# The names of cases are the same in every process that runs them.
@pytest.mark.parametrize(
    "data", [b"x", b"some text\n" * 1000, os.urandom(MEGABYTE // 2)], ids=["byte", "text", "noise"]
)
def test_the_content_is_the_same_whatever_packs_it_and_however_it_is_called(tmp_path, name, pack, data):
    assert whole(put(tmp_path, name, pack(data)), LIMIT) == data


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_several_members_are_read_one_after_the_other(tmp_path, pack):
    assert whole(put(tmp_path, "a", pack(b"one ") + pack(b"two ") + pack(b"")), LIMIT) == b"one two "


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_as_much_as_the_limit_and_no_byte_more(tmp_path, pack):
    assert len(whole(put(tmp_path, "a", pack(b"x" * MEGABYTE)), LIMIT)) == MEGABYTE
    problem = refused(put(tmp_path, "b", pack(b"x" * (MEGABYTE + 1))))
    assert f"{tmp_path / 'b'}: more than 1 MB, unpacked: allowed up to 1 MB (some.key" in problem


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_no_more_is_held_than_the_limit_and_a_block(tmp_path, pack):
    path = put(tmp_path, "a", pack(bytes(100 * MEGABYTE)))
    tracemalloc.start()
    try:
        assert "more than 1 MB" in refused(path)
        # The dictionary that xz unpacks with has 8 MB.
        assert tracemalloc.get_traced_memory()[1] < 20 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_packed_parts_that_are_empty_have_an_end_too(tmp_path):
    empty = gzip.compress(b"")
    assert "more than 1 MB" in refused(put(tmp_path, "a", empty * (4 * MEGABYTE // len(empty))))


@pytest.mark.slow
def test_a_packed_file_that_makes_next_to_nothing_is_not_unpacked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_files, "MOST_FOR_NOTHING", 4 * MEGABYTE)
    empty, blob = gzip.compress(b""), gzip.compress(os.urandom(8 * MEGABYTE))
    path = put(tmp_path, "a", gzip.compress(b"text") + empty * (6 * MEGABYTE // len(empty)))
    with pytest.raises(InputError, match=r"4 MB of it unpack to 0 MB: no file in use"):
        list(all_of(path))
    assert len(b"".join(all_of(put(tmp_path, "b", blob)))) == 8 * MEGABYTE


def all_of(path):
    with opened(path) as file:
        yield from unpacked(file, path, Limit(100, "a key"))


@pytest.mark.skipif(not os.path.exists("/proc/self/pagemap"), reason="needs a file without size and end")
def test_a_file_without_size_and_end_is_digested_up_to_the_limit():
    with opened("/proc/self/pagemap") as file, pytest.raises(InputError, match="more than 1 MB"):
        digest(file, "/proc/self/pagemap", Limit(1, "a key"))


def test_a_large_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(2**40)  # without a byte on the disk
    assert "more than 1 MB" in refused(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_what_is_cut_off_or_damaged_is_said_to_be(tmp_path, pack):
    packed = pack(os.urandom(3000))
    assert "damaged or cut off" in refused(put(tmp_path, "a", packed[:-5]))
    assert "damaged or cut off" in refused(put(tmp_path, "a", packed[:1000] + b"????" + packed[1004:]))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/dev/zero", "a device; a file is needed"),
        ("/dev/null", "a device; a file is needed"),
        ("/", "a folder; a file is needed"),
        ("/nowhere/at/all", "No such file or directory"),
        ("x" * 5000, "File name too long"),
        ("a\0b", "null"),
    ],
)
def test_what_is_no_file_is_named(path, words):
    problem = refused(path)
    assert "cannot be read" in problem
    assert words in problem
    assert len(problem) < 500
    assert problem.isprintable()


def test_a_pipe_is_read_once_where_that_is_enough(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert "a pipe, which can be read only once" in refused(path)
    data = os.urandom(BLOCK // 2)

    def write():
        packed = gzip.compress(data)
        with path.open("wb", buffering=0) as pipe:
            for part in (packed[:1], packed[1:4], packed[4:]):  # the first bytes need not come together
                pipe.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    with opened(path, pipes=True) as file:
        assert b"".join(unpacked(file, path, LIMIT)) == data
    writer.join()


def test_a_pipe_without_an_end_has_a_limit(tmp_path):
    read, write = os.pipe()
    stop = threading.Event()

    def pour():
        try:
            while not stop.is_set():
                os.write(write, bytes(65536))
        except BrokenPipeError:
            pass
        finally:
            os.close(write)

    writer = threading.Thread(target=pour)
    writer.start()
    try:
        with opened(f"/dev/fd/{read}", pipes=True) as file, pytest.raises(InputError, match="more than 1 MB"):
            list(unpacked(file, "pipe", LIMIT))
    finally:
        stop.set()
        os.close(read)
        writer.join()


def test_a_file_without_end_is_not_digested(tmp_path):
    """A sparse file of terabytes takes no room, and days to read."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(2**42)
    with pytest.raises(InputError, match="more than 512 MB, unpacked"):
        read_trace(path)
    with pytest.raises(InputError, match="more than 512 MB, unpacked"):
        cell_key(scenario(workload__kind="trace", workload__trace__file=str(path)))
