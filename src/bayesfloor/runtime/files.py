"""Files that appear whole or not at all."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(file: Path, contents: bytes, *, replace: bool = True, durable: bool = True) -> None:
    """Write a file aside and give it its name.

    Parameters
    ----------
    file : Path
        Where to.
    contents : bytes
        What.
    replace : bool, default=True
        Whether a file that is there may be replaced, and a link followed. If not, one that came meanwhile is kept.

    durable : bool, default=True
        Whether it must outlast a machine that loses power at once: to wait for the disk takes milliseconds.

    Raises
    ------
    FileExistsError
        If there is one that may not be replaced.
    OSError
        If it cannot be written; nothing is left behind.
    """
    place = Path(os.path.realpath(file)) if replace else file
    aside = place.with_name(f".{place.name[:50]}.{secrets.token_hex(8)}.part")
    try:
        # the system takes the umask off; to ask for it is to change it for all threads
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(contents)
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            if replace:
                os.replace(aside, place)
            else:
                _name_new_file(aside, place)
        finally:
            with suppress(OSError):
                os.unlink(aside)
    except FileExistsError as error:
        raise FileExistsError(f"{str(file)!r} exists") from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


def _name_new_file(aside: Path, place: Path) -> None:
    """Give a file a name that no other has; the system checks that and does it in one step."""
    try:
        os.link(aside, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: take the name, then replace what is known to be our own
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            os.replace(aside, place)
        except OSError:
            os.unlink(place)
            raise
