"""The archive: a tar of `database.dump`, `files/…`, perhaps `secret_key`, and `manifest.json`."""

import contextlib
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from qanot_site.backups.contents import TableFigures
from qanot_site.backups.errors import BackupError, NotABackup

DUMP: Final = "database.dump"
FILES: Final = "files/"
KEY: Final = "secret_key"
MANIFEST: Final = "manifest.json"
# The first bytes of pg_dump's own format.
DUMP_MAGIC: Final = b"PGDMP"
_LONGEST_MANIFEST_BYTES: Final = 1_000_000_000
_BLOCK_BYTES: Final = 1 << 20


class Digest(BaseModel):
    """One member of the archive."""

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Manifest(BaseModel):
    """What an archive holds; written last, read first.

    Args:
        postgres_major: The server's version; an older one cannot take the dump.
        tables: Row counts and content hashes, of the dump's own snapshot.
        files: Below the folder of files, by relative path.
        has_all_files: False where files lie in a storage of their own, which this is no backup of.
        key_mark: Tells whether a secret key is the one that this installation used, and no more.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = 1
    made_at: datetime
    postgres_major: int
    migrations: list[tuple[str, str]]
    tables: dict[str, TableFigures]
    dump: Digest
    files: dict[str, Digest]
    has_all_files: bool
    has_secret_key: bool
    key_mark: str

    @property
    def row_count(self) -> int:
        """Return the rows of all tables."""
        return sum(table.rows for table in self.tables.values())


class _Reading:
    """A stream that hashes and counts what is read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self._size = 0

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        block = self._stream.read(size)
        self._hash.update(block)
        self._size += len(block)
        return block

    @property
    def digest(self) -> Digest:
        """Return the figures of what was read so far."""
        return Digest(size_bytes=self._size, sha256=self._hash.hexdigest())


class Writer:
    """An archive that is being written."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar

    def add(self, name: str, path: Path) -> Digest:
        """Add a file as it is now.

        Raises:
            FileNotFoundError: It is gone.
        """
        with path.open("rb") as stream:
            member = _member(name, os.fstat(stream.fileno()).st_size)
            reading = _Reading(stream)
            self._tar.addfile(member, reading)
            return reading.digest

    def add_text(self, name: str, text: str) -> None:
        """Add a text as a file."""
        content = text.encode()
        self._tar.addfile(_member(name, len(content)), io.BytesIO(content))


@contextlib.contextmanager
def written(path: Path) -> Iterator[Writer]:
    """Write an archive aside, readable by its owner alone; it is there whole or not at all."""
    draft = path.with_name(f".{path.name}-{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
                yield Writer(tar)
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
        _sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Reader:
    """An archive that is open for reading."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.manifest = self._read_manifest()

    def check(self, name: str, digest: Digest) -> None:
        """Read a member to its end.

        Raises:
            NotABackup: It is missing or is not what the manifest says.
        """
        reading = _Reading(self._open(name))
        while reading.read(_BLOCK_BYTES):
            pass
        _compare(name, reading, digest)

    def extract(self, name: str, digest: Digest, to: Path) -> None:
        """Write a member to a new file, readable by its owner alone.

        Raises:
            NotABackup: It is missing or is not what the manifest says.
        """
        reading = _Reading(self._open(name))
        descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            while block := reading.read(_BLOCK_BYTES):
                stream.write(block)
        _compare(name, reading, digest)

    def secret_key(self) -> str:
        """Return the key that it was asked to keep."""
        return self._open(KEY).read(10_000).decode()

    def _open(self, name: str) -> IO[bytes]:
        with contextlib.suppress(KeyError):
            stream = self._tar.extractfile(name)
            if stream is not None:
                return stream
        raise NotABackup(f"The backup is damaged: {name} is missing.")

    def _read_manifest(self) -> Manifest:
        text = self._open(MANIFEST).read(_LONGEST_MANIFEST_BYTES)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            raise NotABackup(
                "The backup's manifest cannot be read: it was made by a newer Qanot, or is damaged."
            ) from error
        for name in manifest.files:
            place = PurePosixPath(name)
            if place.is_absolute() or ".." in place.parts or not place.parts:
                raise NotABackup(f"The backup names a file outside the home: {name!r}.")
        return manifest


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """Open an archive.

    Raises:
        NotABackup: It is none.
    """
    try:
        with tarfile.open(path, mode="r:") as tar:
            yield Reader(tar)
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {path}.") from error
    except tarfile.TarError as error:
        raise NotABackup(f"{path} is not a backup of Qanot, or is damaged.") from error


def _compare(name: str, reading: _Reading, digest: Digest) -> None:
    if reading.digest != digest:
        raise NotABackup(f"The backup is damaged: {name} is not what was written.")


def is_plain_dump(path: Path) -> bool:
    """Return whether a file is a dump without an archive around it, as made before migrations."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(DUMP_MAGIC)) == DUMP_MAGIC
    except OSError as error:
        raise BackupError(f"{path}: {error.strerror}.") from error


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o600
    return member
