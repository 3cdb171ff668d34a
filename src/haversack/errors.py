"""One tree of errors: a stable code, a sentence, and a hint for a reader that will retry."""

LONGEST_MESSAGE = 1_000
"""Characters of a message that are kept: it may quote a value of any length."""


class HaversackError(Exception):
    """Something the caller can act on; the message names the value, the hint says what to do next."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = _printable(message)
        self.hint = _printable(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}" if self.hint else self.message

    def written(self, *, as_json: bool = False) -> str:
        """The error as it is sent to a model: its code, what is wrong, and what to do."""
        if not as_json:
            return f"{self.code}: {self}"
        from json import dumps

        body = {"code": self.code, "message": self.message} | ({"hint": self.hint} if self.hint else {})
        return dumps({"error": body}, ensure_ascii=False)


def _printable(text: str) -> str:
    """The text in a length that can be read, without halves of surrogate pairs, which cannot be sent."""
    if len(text) > LONGEST_MESSAGE:
        text = text[: LONGEST_MESSAGE - 1] + "…"
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class InvalidArgument(HaversackError):
    """An argument is missing, unknown, of the wrong type or out of range."""

    code = "invalid_argument"


class WrongUsage(InvalidArgument):
    """What was typed is no command, or not how the command is typed."""

    code = "wrong_usage"


class UnknownTool(HaversackError):
    """No tool has that name."""

    code = "unknown_tool"


class BudgetTooSmall(InvalidArgument):
    """The budget asked for is below the floor."""

    code = "budget_too_small"


class TooLarge(InvalidArgument):
    """A text is over a limit; it is refused whole, never cut."""

    code = "too_large"


class NotFound(HaversackError):
    """Nothing has that id or name."""

    code = "not_found"


class ExpiredKey(NotFound):
    """A continuation key that was never made, or is no longer kept."""

    code = "expired_key"


class Conflict(HaversackError):
    """The request contradicts what is there."""

    code = "conflict"


class Changed(Conflict):
    """What was to be changed is no longer what the caller saw."""

    code = "changed"


class OutsideRoot(HaversackError):
    """A path leaves the workspace root."""

    code = "outside_root"


class SecretWithheld(HaversackError):
    """A file that looks like a secret, which the settings keep back."""

    code = "withheld"


class WrongStage(HaversackError):
    """A planning step was taken at the wrong time; the hint names the right next tool."""

    code = "wrong_stage"


class DamagedFile(HaversackError):
    """A file the program keeps cannot be understood; it is left as it is."""

    code = "damaged_file"


class ToolFailed(HaversackError):
    """A program that was asked to help (git, a search program) failed or took too long."""

    code = "tool_failed"


class StoreError(HaversackError):
    """The store cannot be opened, read or written.

    `is_passing` where a server broke a transaction off, of which it kept nothing, and would take it again.
    """

    code = "store_error"
    is_passing = False


class StoreBusy(StoreError):
    """Another process held the store for longer than the busy timeout."""

    code = "store_busy"


class StoreUnwritable(StoreError):
    """Nothing can be added to the store; what is in it can still be read."""


class StoreReadOnly(StoreUnwritable):
    """The store's file or folder cannot be written."""

    code = "store_read_only"


class StoreFull(StoreUnwritable):
    """There is no room left on the disk."""

    code = "store_full"


class StoreUnavailable(StoreError):
    """The store's server cannot be reached, or holds no store."""

    code = "store_unavailable"


class StoreMisconfigured(StoreError):
    """The store's server lacks a right or a version that the program needs."""

    code = "store_misconfigured"


class Forbidden(HaversackError):
    """The caller has no right to do that."""

    code = "forbidden"


class StoreDamaged(StoreError):
    """The store's file is not a sound database."""

    code = "store_damaged"


class StoreTooNew(StoreError):
    """The store was written by a newer version of this program."""

    code = "store_too_new"


class ConfigError(HaversackError):
    """A setting is unknown or has a value that cannot be used."""

    code = "config_error"
