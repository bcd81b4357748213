"""What `--output` and the library do to the file that is named."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from assay.atomic_files import check_writable, write_bytes_atomically, write_text_atomically
from config.backups import BackupError, create_backup

ROOT = Path(__file__).resolve().parents[2]


def device(path: Path, minor: int) -> Path:
    """A device node with the numbers of /dev/null (3) or /dev/full (7): a test must not touch the
    machine's."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("wb").close()
    except OSError as error:
        pytest.skip(f"no device can be made and opened in a temporary folder ({error})")
    return path


@pytest.fixture
def null_device(tmp_path: Path) -> Path:
    return device(tmp_path / "null", 3)


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def write(path: Path | str, text: str = "new\n") -> None:
    with write_text_atomically(path) as out:
        out.write(text)


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_a_device_stays_a_device(null_device: Path):
    write(null_device)
    assert stat.S_ISCHR(null_device.lstat().st_mode)
    assert null_device.lstat().st_rdev == os.makedev(1, 3)
    assert names_in(null_device.parent) == ["null"]


def test_a_link_to_a_device_stays_a_link(null_device: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(null_device)
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_ISCHR(null_device.lstat().st_mode)


def test_a_command_that_writes_to_a_device_leaves_it_there(null_device: Path, tmp_path: Path):
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 t\n")
    arguments = [
        "evaluate",
        str(tmp_path / "qrels"),
        str(tmp_path / "run"),
        "--output",
        str(null_device),
    ]
    subprocess.run([sys.executable, "-m", "assay", *arguments], cwd=ROOT, check=True, timeout=120)
    assert stat.S_ISCHR(null_device.lstat().st_mode)


def test_a_pipe_with_a_name_gets_the_bytes_and_stays(tmp_path: Path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(pipe, "through\n")
    reader.join(timeout=20)
    assert got == [b"through\n"]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert names_in(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_an_open_descriptor_is_written_where_it_stands(tmp_path: Path, name: str):
    """As `{ echo before; assay ... --output /dev/stdout; echo after; } > file` does."""
    file = tmp_path / "file"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    (tmp_path / "link").symlink_to(f"/proc/self/fd/{descriptor}")
    try:
        os.write(descriptor, b"before\n")
        write(name.format(descriptor) if "/" in name else tmp_path / name)
        os.write(descriptor, b"after\n")
    finally:
        os.close(descriptor)
    assert file.read_bytes() == b"before\nnew\nafter\n"
    assert not file.is_symlink()


def test_standard_output_may_be_named(tmp_path: Path):
    """By a link as /dev/stdout is one: a test must not touch the machine's."""
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    program = (
        "import sys\nfrom assay.atomic_files import write_text_atomically\nwith write_text_atomically(sys.argv[1]) as "
        "out: out.write('through')"
    )
    piped = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "stdout")],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert piped.stdout == b"through"
    assert (tmp_path / "stdout").is_symlink()


def test_a_descriptor_that_is_not_open_is_refused_at_once():
    with pytest.raises(OSError, match="this file descriptor is not open") as refused:
        check_writable("/dev/fd/987")
    assert refused.value.errno == errno.EBADF


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_followed_and_stays(tmp_path: Path, there: bool):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real/file")
    if there:
        (tmp_path / "real" / "file").write_text("old\n")
    write(tmp_path / "linked")
    assert os.readlink(tmp_path / "linked") == "real/file"
    assert (tmp_path / "real" / "file").read_text() == "new\n"
    assert names_in(tmp_path) == ["linked", "real"]


def test_a_backup_does_not_take_the_place_of_a_link_that_leads_nowhere(tmp_path: Path):
    (tmp_path / "backup").symlink_to("nowhere")
    with pytest.raises(BackupError, match="already exists"):
        create_backup(tmp_path / "backup")


def test_links_that_lead_in_a_circle_are_refused(tmp_path: Path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"[Ll]evels|links"):
        write(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, usual_umask: None, mode: int):
    file = tmp_path / "file"
    file.write_text("old\n")
    file.chmod(mode)
    write(file)
    assert (stat.S_IMODE(file.stat().st_mode), file.read_text()) == (mode, "new\n")


def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path, usual_umask: None):
    write(tmp_path / "file")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_an_existing_file_keeps_its_owner_and_group(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("old\n")
    os.chown(file, 1234, 2345)
    file.chmod(0o664)
    write(file)
    assert (file.stat().st_uid, file.stat().st_gid, stat.S_IMODE(file.stat().st_mode)) == (
        1234,
        2345,
        0o664,
    )
    assert file.read_text() == "new\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for another user")
def test_a_file_of_another_user_that_all_may_write_is_written_in_its_place():
    program = (
        "import os, sys\nfrom assay.atomic_files import write_text_atomically\nos.setgroups([]); "
        "os.setgid(4321); os.setuid(4321)\n"
    )
    program += "with write_text_atomically(sys.argv[1]) as out: out.write('new')"
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        file = Path(folder, "file")
        file.write_text("old, and longer\n")
        file.chmod(0o666)
        inode = file.stat().st_ino
        subprocess.run([sys.executable, "-c", program, str(file)], cwd=ROOT, check=True, timeout=60)
        assert (file.stat().st_ino, file.stat().st_uid, file.read_text()) == (inode, 0, "new")


def stopped_in_the_middle(path: Path) -> None:
    with write_bytes_atomically(path) as out:
        out.write(b"half")
        raise ValueError("in the middle")


def test_an_error_leaves_a_file_and_a_pipe_as_they_were(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("old\n")
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    try:
        for path in (file, Path(f"/dev/fd/{write_end}")):
            with pytest.raises(ValueError, match="in the middle"):
                stopped_in_the_middle(path)
        with pytest.raises(BlockingIOError):
            os.read(read_end, 1)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert file.read_text() == "old\n"
    assert names_in(tmp_path) == ["file"]


def test_a_full_device_is_an_error_with_the_name_that_was_given(tmp_path: Path):
    full = device(tmp_path / "full", 7)
    with pytest.raises(OSError, match="space") as refused:
        write(full)
    assert refused.value.filename == str(full)
    assert stat.S_ISCHR(full.lstat().st_mode)


def test_a_file_of_the_program_is_private_even_over_an_open_one(tmp_path: Path):
    file = tmp_path / "file"
    file.write_text("old\n")
    file.chmod(0o644)
    with write_bytes_atomically(file, private=True) as out:
        out.write(b"new")
    assert (stat.S_IMODE(file.stat().st_mode), file.read_bytes()) == (0o600, b"new")
