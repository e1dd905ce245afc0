"""Exceptions of hyperslab.

Each is also an instance of the corresponding Python exception: a missing file raises a FileNotFoundError, a missing object a
KeyError. All have the attributes that `Error` lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._differences import Report
    from ._losses import LossReport


class Error(Exception):
    """Something went wrong.

    kind: the kind of error in one word, such as ``"malformed"``
    detail: what was found, and what was expected
    file, object: where it occurred; None if unknown
    structure, offset: the structure of the format and the byte in the file; None if unknown
    help: what can be done about it, as a list of strings
    """

    kind: str = "invalid-argument"
    detail: str = ""
    file: str | None = None
    object: str | None = None
    structure: str | None = None
    offset: int | None = None
    help: list[str] = []

    # An OSError would be shown by its number, a KeyError in quotes.
    __str__ = Exception.__str__

    def set_help(self, help: list[str]) -> None:
        """Set what can be done about the error."""
        said = str(self.args[0]).partition("\nhelp: ")[0]
        self.help, self.args = help, ("\nhelp: ".join([said, *help]), *self.args[1:])

    def add_help(self, text: str) -> None:
        """Add something that can be done about the error."""
        self.set_help([*self.help, text])

    def name_subject(self, name: str) -> None:
        """Name the subject of an error whose message does not name it."""
        self.args = (f"{name}: {self.args[0]}", *self.args[1:])

    def add_lines(self, lines: list[str]) -> None:
        """Add details about what was found."""
        said = str(self.args[0]).partition("\nhelp: ")[0]
        self.args = ("\n".join([said, *(f"  {line}" for line in lines)]), *self.args[1:])
        self.set_help(self.help)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_made_again, (type(self), self.args, _state(self)))


class ReadError(Error, OSError):
    """Reading or writing failed."""

    kind = "io"


class AccessError(ReadError, PermissionError):
    """The operating system denied permission to read or write."""


class NoFileError(Error, FileNotFoundError):
    """A file or folder does not exist."""

    kind = "file-not-found"


class NoObjectError(Error, KeyError):
    """The store has no object, attribute or label of this name."""

    kind = "not-found"


class ExistsError(Error, FileExistsError):
    """Something already exists."""

    kind = "already-exists"


class FormatError(Error, ValueError):
    """The file violates its specification, or its bytes have changed since they were written.

    report: the findings in a document that `create` refuses; None for other errors
    """

    kind = "malformed"
    report: Report | None = None


class UnsupportedError(FormatError, NotImplementedError):
    """The file may be valid, but hyperslab cannot read it."""

    kind = "unsupported"


class LimitError(Error, MemoryError):
    """The file needs more than the limits allow."""

    kind = "limit-exceeded"


class ArgumentError(Error, ValueError):
    """An argument is not valid."""


class LossError(Error, ValueError):
    """The target would lose content that may not be lost, or what was written differs from what was read.

    report: what would be lost, or what was found when the target was read back
    """

    kind = "loss"
    report: LossReport

    @staticmethod
    def of(error: Error, report: LossReport) -> LossError:
        """The same error, with the report."""
        made = LossError(*error.args)
        for name, value in _state(error).items():
            setattr(made, name, value)
        made.kind, made.report = "loss", report
        return made


class JoinWarning(UserWarning):
    """Coordinates are missing between stores that were opened as one."""


class FileWarning(UserWarning):
    """A file can be read but is defective: it is truncated, or was not closed by its writer."""


class DocumentWarning(UserWarning):
    """A document is flawed: a key has no meaning, so the store created from the document does not have it."""


class LeftOutWarning(UserWarning):
    """The target of references, or Zarr, cannot represent something in the file, so readers do not see it."""


class UnwrittenWarning(UserWarning):
    """An array has no receipt for any of its regions, so all of its elements are the fill value."""


_KINDS: dict[str, type[Error]] = {
    "io": ReadError,
    "file-not-found": NoFileError,
    "not-found": NoObjectError,
    "already-exists": ExistsError,
    "malformed": FormatError,
    "checksum": FormatError,
    "unsupported": UnsupportedError,
    "limit-exceeded": LimitError,
}


def exception(kind: str, message: str, *, errno: int | None = None, **parts: object) -> BaseException:
    """The exception for an error of the library."""
    if kind == "cancelled":
        return KeyboardInterrupt(message)
    # A refusal before any system call has no errno.
    is_denied = kind == "io" and (errno in _DENIED or str(parts.get("detail")).endswith("permission denied"))
    made = AccessError(message) if is_denied else _KINDS.get(kind, ArgumentError)(message)
    made.kind = kind
    if is_denied:
        errno = errno or _DENIED[0]
    if isinstance(made, OSError):
        if errno is None and kind in _ERRNO:
            errno = _ERRNO[kind]
        made.errno, made.filename = errno, parts.get("file")
    for name, value in parts.items():
        setattr(made, name, value)
    return made


# errno.ENOENT and errno.EEXIST, which are the same everywhere.
_ERRNO = {"file-not-found": 2, "already-exists": 17}
# errno.EACCES and errno.EPERM.
_DENIED = (13, 1)


def _state(error: Error) -> dict[str, Any]:
    """The attributes of an error. `__dict__` does not contain those of an OSError."""
    own = dict(error.__dict__)
    if isinstance(error, OSError):
        own.update(errno=error.errno, filename=error.filename)
    return own


def _made_again(kind: type[Error], args: tuple[Any, ...], state: dict[str, Any]) -> Error:
    made = kind(*args)
    for name, value in state.items():
        setattr(made, name, value)
    return made
