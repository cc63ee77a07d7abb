"""The program inside a kernel process: runs cells of Python for a host and lets them call the host's tools.

```
host ── init, exec, tool_result, snapshot, restore, interrupt, reset, shutdown ─▶ guest     one JSON object
host ◀─ ready, tool_call, message, exec_result, snapshot_result, reset_result ──  guest     per line
host ◀─ tool_cancel, if `init.cancels` asks for calls that no code waits for      guest
```

The file stands alone: standard library only, Python 3.9 and later. Any host that speaks this protocol can
start it, on the guest's stdin and stdout: `python3 guest.py`.

- The lines travel on private copies of the descriptors. Everything that a cell prints, also from programs and
  C code, is output: it goes to stderr if the host reads that (`init.output` is `"stream"`), else to a file
  that is sent with the result. The value of a cell's last line is always part of the result, after all
  printed text.
- No second thread waits for input. An idle guest reads; while a cell runs, a signal announces new lines; a
  running event loop also watches the descriptor. `Wire.busy` is true while something already reads.
- Importing `asyncio` takes as long as five starts, `traceback` as long as one. Such modules are imported
  when a cell needs them, and only then do the names `asyncio` and `json` appear in the namespace.
- A cell may break any module and any builtin, so the guest copies what it needs before the first cell.
"""

import _signal  # type: ignore[import-not-found]
import _thread
import builtins
import fcntl
import io
import posix
import select
import sys
from _json import encode_basestring, make_encoder, make_scanner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Any
else:
    Any = object

_ast: Any = None  # imported with the first cell that is more than an expression: it costs a millisecond

# Changes that a cell makes to `builtins` or to a module must not affect the functions below.
_BUILTINS: "dict[str, Any]" = dict(vars(builtins))
globals()["__builtins__"] = _BUILTINS


def _aside(module: Any) -> Any:
    copy = type(sys)(module.__name__)
    vars(copy).update(vars(module))
    return copy


_signal, _thread, fcntl, io, posix, select = map(_aside, (_signal, _thread, fcntl, io, posix, select))

PROTOCOL = 1
CAPABILITIES = '["interrupt","reset","stream","rich","signals"]'

_HERE = (lambda: 0).__code__.co_filename
_TOOL_FILE = "<tool>"
_MAX_LINE_BYTES = 64 * 1024 * 1024
_MAX_SENT_BYTES = 7 * 1024 * 1024  # hosts limit the length of a line; a longer one may be dropped unanswered
_MAX_ERROR = 64 * 1024
_MAX_FRAMES = 60
_MAX_OUTPUT_BYTES = 10 * 1024 * 1024
_MAX_SNAPSHOT_BYTES = 64 * 1024 * 1024
_MAX_FILES = 1000
_MAX_SOURCES = 1000
_MAX_NODES = 1_000_000
_MAX_LOOKED_AT = 100_000
_CHUNK = 65536
_POKE_S = 0.02
_NOTICE = (
    _signal.SIGURG if sys.platform == "linux" else _signal.SIGIO
)  # the former has no effect without a handler
_SET_OWNER_THREAD, _SET_SIGNAL = 15, 10  # F_SETOWN_EX, F_SETSIG
_LOOP_FILES = ("asyncio/base_events.py", "asyncio/events.py", "asyncio/selector_events.py", "/selectors.py")
_TOP_AWAIT, _ONLY_AST = 0x2000, 0x400
_COROUTINE = 0x80


# Lines


class _Strict:
    """The options of the JSON scanner."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    memo: "dict[str, str]" = {}  # noqa: RUF012 - only the scanner sees it

    @staticmethod
    def parse_constant(name: str) -> float:
        return float(name.replace("Infinity", "inf"))


_scan = make_scanner(_Strict)  # type: ignore[arg-type]


def decode(text: str) -> Any:
    """Return the value of a JSON text; raises ValueError."""
    start = 0 if text[:1] == "{" else len(text) - len(text.lstrip(" \t\r\n"))
    try:
        value, end = _scan(text, start)
    except (StopIteration, SystemError):  # SystemError if the module `json` is missing
        raise ValueError("not JSON") from None
    if end < len(text) and text[end:].strip(" \t\r\n"):
        raise ValueError("more than one JSON value")
    return value


def _unknown(value: Any) -> Any:
    """Convert a value that is not JSON but has an obvious JSON form."""
    if hasattr(type(value), "__fspath__"):
        return value.__fspath__()
    if isinstance(value, (set, frozenset)):
        return list(value)
    if hasattr(type(value), "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _no_unknown(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")


def encode(value: Any, unknown: "Callable[[Any], Any]" = _no_unknown) -> str:
    """Return a value as JSON text; raises TypeError, ValueError, RecursionError."""
    return "".join(
        make_encoder({}, unknown, encode_basestring, None, ":", ",", False, False, False)(value, 0)
    )


def _clean(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


class Wire:
    """The connection to the host: reads and writes lines, and handles interrupts."""

    def __init__(self, source: int, sink: int, on_result: "Callable[[dict[str, Any]], None]") -> None:
        """Set the private descriptors, and the function that gets the results of tools."""
        self.source, self.sink = source, sink
        self.inbox: list[dict[str, Any]] = []
        self.running: Any = None
        """The id of the running cell."""
        self.busy = False
        self.missed = False
        self.dirty = False
        """True if something was settled that an event loop about to sleep has not seen."""
        self.closed = False
        self.is_signalled = False
        """True if the host sends a signal with each interrupt: cells then need not ask the system for one."""
        self.ignored = 0
        self.tell_ignored = False
        self._on_result = on_result
        self._interrupted = False
        self._early: set[Any] = set()
        self._pieces: list[bytes] = []
        self._size = 0
        self._held = False
        self._lock = _thread.allocate_lock()
        self._main = _thread.get_ident()
        self.is_child = False
        self._poll = select.poll()
        self._poll.register(source, select.POLLIN)
        self._flags = fcntl.fcntl(source, fcntl.F_GETFL)
        self._armed = self._flags | getattr(posix, "O_ASYNC", getattr(fcntl, "FASYNC", 0))

    # Reading

    def next(self) -> "dict[str, Any] | None":
        """Wait for the next request; None if there will be none."""
        while not self.inbox and not self.closed:
            self.busy = True
            if not self.inbox:  # a last signal may have filled it just now
                self._take()
            self.busy = False
        return self.inbox.pop(0) if self.inbox else None

    def wait(self, box: "list[Any]") -> None:
        """Read on the main thread until `box` is not empty or the cell is interrupted."""
        self.busy = True
        try:
            while not box and not self._interrupted:
                self._take()
        finally:
            self.busy = False
        if self.missed:
            self.poll()
        self.check()

    def poll(self) -> None:
        """Read all available input."""
        while True:
            self.busy, self.missed = True, False
            try:
                while not (self.closed or self.is_child) and self._poll.poll(0):
                    self._take()
            finally:
                self.busy = False
            if not self.missed:
                return

    def check(self) -> None:
        """Raise KeyboardInterrupt if the running cell was interrupted."""
        if self._interrupted and not self._held:
            self._interrupted = False
            raise KeyboardInterrupt

    @property
    def is_interrupted(self) -> bool:
        """True if the running cell must be interrupted."""
        return self._interrupted

    def on_signal(self, number: int, frame: Any) -> None:
        """Handle the signal that announces input."""
        if self.busy:
            self.missed = True
            return
        self.poll()
        self._interrupt(frame)

    def on_sigint(self, number: int, frame: Any) -> None:
        """Handle Ctrl-C: interrupt the running cell, if there is one."""
        if self.running is not None:
            self._interrupted = True
            self._interrupt(frame)

    def _interrupt(self, frame: Any) -> None:
        """Raise here, or in the next step of an event loop whose own code runs and would lose its state."""
        loop = _running_loop() if self._interrupted else None
        if loop is not None and _is_of_loop(frame):
            self.dirty = True
            loop.call_soon_threadsafe(self.check)
        else:
            self.check()

    def begin(self, key: Any) -> None:
        """Allow interrupts of a cell from here on; raises KeyboardInterrupt if one has come already."""
        self._interrupted = key in self._early
        self._early.discard(key)
        self.running = key
        if self.is_signalled:
            if self.missed:
                self.poll()
        else:
            self._arm(on=True)
            self.poll()
        self.check()

    def end(self) -> None:
        """Allow no interrupts from here on."""
        self.running = None
        self._interrupted = False
        if not self.is_signalled:
            self._arm(on=False)

    def _arm(self, *, on: bool) -> None:
        """Turn the signal for new input on or off."""
        if not self.is_child:
            fcntl.fcntl(self.source, fcntl.F_SETFL, self._armed if on else self._flags)

    def _take(self) -> None:
        """Read once, blocking if there is no input, and handle the complete lines."""
        data = posix.read(self.source, _CHUNK)
        if not data:
            self._close()
        elif not self._size and data.find(b"\n") == len(data) - 1:
            self._line(data[:-1])
        else:
            *ends, rest = data.split(b"\n")
            for end in ends:
                self._complete(end)
            self._size += len(rest)
            if self._size <= _MAX_LINE_BYTES:
                self._pieces.append(rest)
            else:
                self._pieces.clear()

    def _complete(self, end: bytes) -> None:
        size = self._size + len(end)
        line = b"".join([*self._pieces, end])
        self._pieces.clear()
        self._size = 0
        if size > _MAX_LINE_BYTES:
            self._ignore(f"a line of {size} bytes")
        elif line.strip():
            self._line(line)

    def _line(self, line: bytes) -> None:
        try:
            frame = decode(line.decode("utf-8"))
            kind = frame["type"]
        except (ValueError, TypeError, LookupError, RecursionError):
            return self._ignore("a line that is no frame")
        if kind == "tool_result":
            self._on_result(frame)
        elif kind == "interrupt":
            key = frame.get("id")
            if key is not None and key == self.running:
                self._interrupted = True
            elif any(one.get("id") == key for one in self.inbox):
                self._early.add(key)
        else:
            self.inbox.append(frame)
        return None

    def _ignore(self, why: str) -> None:
        self.ignored += 1
        if self.tell_ignored:
            _write(2, f"guest: ignored {why} (number {self.ignored})\n".encode())

    def _close(self) -> None:
        """Note that the host has closed its end; the cell continues until the host stops reading, too."""
        self.closed = True
        self._on_result({})
        if self.running is not None:
            _thread.start_new_thread(self._end_with_host, ())

    def _end_with_host(self) -> None:
        watch = select.poll()
        watch.register(self.sink, 0)
        watch.poll()
        posix._exit(1)

    # Writing

    def send(self, text: str) -> None:
        """Send one frame; the process ends if the host no longer reads."""
        data = (text + "\n").encode("utf-8", "replace")
        if self.is_child:
            raise ToolError("only the process that the host started can speak to it, not a forked child")
        ours = _thread.get_ident() == self._main
        held = self._held
        if ours:
            self._held = True  # an interrupt must not cut a line in two
        try:
            with self._lock:
                _write(self.sink, data)
        except OSError:
            posix._exit(1)
        finally:
            if ours:
                self._held = held
        if ours and self._interrupted:
            self.check()


def _write(descriptor: int, data: bytes) -> None:
    done = posix.write(descriptor, data)
    while done < len(data):
        done += posix.write(descriptor, memoryview(data)[done:])


# Output


class Output:
    """The destination of all printed text: the original stderr, or a file that is read after each cell."""

    def __init__(self) -> None:
        """Start with stderr; `real` is our own descriptor for the output."""
        self._file = -1
        self._left_out = 0
        self.end = ""
        """The last printed text, if it is still to be sent."""
        self.real = _private(2)
        self.attach()

    def collect(self) -> None:
        """Collect printed text in a file from now on."""
        if self._file < 0:
            self._file = _private(_nameless_file())
            flags = fcntl.fcntl(self._file, fcntl.F_GETFL)
            fcntl.fcntl(self._file, fcntl.F_SETFL, flags | posix.O_APPEND)
            posix.close(self.real)
            self.real = self._file
            self.attach()

    def attach(self) -> None:
        """Redirect stdout and stderr here, whatever a cell has done to them."""
        posix.dup2(self.real, 1)
        posix.dup2(self.real, 2)
        buffer = io.BufferedWriter(_Bounded(self) if self._file >= 0 else io.FileIO(1, "w", closefd=False))
        kinds: Any = {
            "encoding": "utf-8",
            "errors": "backslashreplace",
            "line_buffering": True,
            "write_through": True,
        }
        # One buffer for both, so that they mix in the order in which they were written.
        self.stdout = sys.stdout = sys.__stdout__ = io.TextIOWrapper(buffer, **kinds)  # type: ignore[misc]
        self.stderr = sys.stderr = sys.__stderr__ = io.TextIOWrapper(buffer, **kinds)  # type: ignore[misc]

    def restore(self) -> None:
        """Undo what an earlier cell did to the descriptors and streams."""
        if self.stdout.closed or self.stderr.closed:
            self.attach()
        else:
            posix.dup2(self.real, 1)
            posix.dup2(self.real, 2)
        sys.stdout, sys.stderr = self.stdout, self.stderr

    def add(self, text: str) -> None:
        """Print text that may wait for the end of the cell, so that it does not wake the host by itself."""
        self.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))

    def end_with(self, text: str) -> None:
        """Print the last text of a cell: unless it is long, it is part of the result and needs no write."""
        if len(text) > _CHUNK:
            self.add(text)
        else:
            self.end = _clean(text)

    def taken(self) -> str:
        """Return the output for a result: text collected since the last one, if any, and the last text."""
        try:
            self.stdout.flush()
        except (OSError, ValueError):
            self.attach()
        end, self.end = self.end, ""
        return end if self._file < 0 else self._kept() + end

    def _kept(self) -> str:
        size = posix.fstat(self._file).st_size
        if not size:
            return ""
        self.shorten()
        half = _MAX_OUTPUT_BYTES // 2
        data = _read_at(self._file, 0, 2 * half)
        if self._left_out:
            data = data[:half] + f"\n[{self._left_out} bytes left out]\n".encode() + data[half:]
        self._left_out = 0
        posix.ftruncate(self._file, 0)
        return data.decode("utf-8", "replace")

    def shorten(self) -> None:
        """Remove the middle of the collected text if it is too long."""
        half = _MAX_OUTPUT_BYTES // 2
        size = posix.fstat(self._file).st_size
        if size > 2 * half:
            kept = _read_at(self._file, 0, half) + _read_at(self._file, size - half, half)
            posix.ftruncate(self._file, 0)
            _write(self._file, kept)
            self._left_out += size - len(kept)


class _Bounded(io.FileIO):
    """Python's own output into our file: keeps the file small however much is printed."""

    def __init__(self, output: Output) -> None:
        super().__init__(1, "w", closefd=False)
        self._output = output
        self._since = 0

    def write(self, data: Any) -> int:
        done = super().write(data)
        self._since += done or 0
        if self._since > 2 * _MAX_OUTPUT_BYTES:
            self._since = 0
            self._output.shorten()
        return done


def _private(descriptor: int) -> int:
    """Return a copy with a high number, unlikely to be used by chance; it is closed in child programs."""
    for lowest in (960, 200, 10):
        try:
            return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
        except OSError:
            continue
    raise OSError("no descriptor left")


def _nameless_file() -> int:
    if hasattr(posix, "memfd_create"):
        return posix.memfd_create("output", posix.MFD_CLOEXEC)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return _private(file.fileno())


def _read_at(descriptor: int, start: int, size: int) -> bytes:
    pieces = []
    while size > 0:
        piece = posix.pread(descriptor, min(size, 1 << 20), start)
        if not piece:
            break
        pieces.append(piece)
        start, size = start + len(piece), size - len(piece)
    return b"".join(pieces)


# Tools


class ToolError(Exception):
    """A tool failed; the text says why."""

    __module__ = "__main__"


async def _nothing() -> None:
    """Do nothing: it exists only for the types of its parts."""


_coroutine = _nothing()
_Coroutine: Any = type(_coroutine)
_Function: Any = type(_nothing)
_Code: Any = type(_nothing.__code__)
_Module: Any = type(sys)
_coroutine.close()

_TYPES = {
    "string": "str",
    "number": "float",
    "integer": "int",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
    "": "any",
}


class Tool:
    """One tool of the host, and the function by which a cell calls it."""

    def __init__(self, spec: "dict[str, Any]", calls: "Calls") -> None:
        """Create the function; raises KeyError or TypeError for an invalid definition."""
        self.name = str(spec["name"])
        self.description = str(spec.get("description") or "")
        self.returns = _type_name(spec.get("returns"))
        params = spec.get("params") or ()
        told: list[dict[str, Any]] = [{"name": one} if isinstance(one, str) else one for one in params]
        for one in told:
            one.setdefault("required", True)
        self.params: list[dict[str, Any]] = sorted(told, key=lambda one: not one["required"])
        self._calls = calls
        self.function = self._function()

    def _function(self) -> Any:
        names = tuple(_identifier(str(one["name"])) for one in self.params)
        own = _identifier(self.name)
        code = _template(len(names)).replace(co_name=own, co_varnames=names, co_filename=_TOOL_FILE)
        if hasattr(code, "co_qualname"):
            code = code.replace(co_qualname=own)
        optional = tuple(None for one in self.params if not one["required"])
        made = _Function(code, {"call": self.call, "__name__": "__main__"}, own, optional)
        kinds = {name: _annotation(_type_name(one.get("type"))) for name, one in zip(names, self.params)}
        made.__annotations__ = {**kinds, "return": _annotation(self.returns)}
        made.__doc__ = self._doc(names)
        return made

    def _doc(self, names: "tuple[str, ...]") -> str:
        lines = [self.description] if self.description else []
        if names:
            told = [
                f"    {name}: {one.get('description') or ''}".rstrip()
                for name, one in zip(names, self.params)
            ]
            lines += ["", "Args:", *told]
        return "\n".join([*lines, "", f"Returns: {self.returns}"]).strip()

    def call(self, *values: Any) -> "PendingCall":
        """Return an awaitable that sends the call."""
        return PendingCall(self._calls, self, values)

    def args(self, values: "tuple[Any, ...]") -> str:
        """Return the arguments as JSON; an optional one that is None is left out."""
        given = {
            str(one["name"]): value
            for one, value in zip(self.params, values)
            if one["required"] or value is not None
        }
        try:
            text = encode(given, _unknown)
            text.encode("utf-8")
        except (TypeError, ValueError, RecursionError):
            raise self._unsendable(given) from None
        if len(text) > _MAX_SENT_BYTES:
            raise ValueError(
                f"{self.name}(): the arguments are {len(text)} characters, more than can be sent"
            )
        return text

    def _unsendable(self, given: "dict[str, Any]") -> Exception:
        for name, value in given.items():
            try:
                encode(value, _unknown).encode("utf-8")
            except RecursionError:
                return ValueError(f"{self.name}(): argument {name!r} is nested too deeply")
            except (TypeError, ValueError) as error:
                if type(value) is _Coroutine:
                    return TypeError(f"{self.name}(): argument {name!r} is a call that was not awaited")
                kind = TypeError if isinstance(error, TypeError) else ValueError
                return kind(f"{self.name}(): argument {name!r} cannot be sent: {error}")
        return TypeError(f"{self.name}(): the arguments cannot be sent")

    def shown(self) -> str:
        """Return the function's signature."""
        params = [
            f"{_identifier(str(one['name']))}: {_type_name(one.get('type'))}"
            + ("" if one["required"] else " = None")
            for one in self.params
        ]
        return f"{_identifier(self.name)}({', '.join(params)}) -> {self.returns}"


def _template(count: int, made: "dict[int, Any]" = {}) -> Any:  # noqa: B006 - kept on purpose
    """Return the code of an async function with `count` parameters; `replace` sets their names."""
    if count not in made:
        names = ", ".join(f"a{number}" for number in range(count))
        space: dict[str, Any] = {}
        exec(f"async def made({names}):\n    return await call({names})", space)
        made[count] = space["made"].__code__
    return made[count]


def _identifier(name: str) -> str:
    plain = "".join(letter if letter.isidentifier() or letter.isdigit() else "_" for letter in name) or "_"
    if not plain.isidentifier():
        plain = f"_{plain}"
    try:
        compile(f"{plain} = 0", "", "exec")
    except SyntaxError:
        return f"{plain}_"
    return plain


def _type_name(kind: Any) -> str:
    text = kind if isinstance(kind, str) else ""
    return _TYPES.get(text, text)


def _annotation(name: str, made: "dict[str, Any]" = {"None": None}) -> Any:  # noqa: B006 - kept on purpose
    """Return the type with a name, or one that looks like it in signatures and help."""
    if name not in made:
        known = _BUILTINS.get(name)
        made[name] = known if isinstance(known, type) else type(name, (), {"__module__": "builtins"})
    return made[name]


class PendingCall:
    """One pending tool call."""

    __slots__ = ("calls", "tool", "values")

    def __init__(self, calls: "Calls", tool: Tool, values: "tuple[Any, ...]") -> None:
        self.calls, self.tool, self.values = calls, tool, values

    def __await__(self) -> "Generator[Any, Any, Any]":
        """Send the call and wait: in the event loop if one runs, else by blocking."""
        calls = self.calls
        args = self.tool.args(self.values)
        loop = None if _thread.get_ident() in calls.blocking else _running_loop()
        if loop is None:
            return calls.result(calls.exchange(self.tool.name, args))
        future = loop.create_future()
        key = calls.send(self.tool.name, args, calls.make_answer(loop, future))
        if loop is not calls.loop:
            loop.call_later(_POKE_S, self._poke, loop, future)
        try:
            frame = yield from future.__await__()
        except GeneratorExit:  # garbage collection, maybe in the middle of a line that we send
            calls.waiting.pop(key, None)
            raise
        except BaseException:
            calls.give_up(key)
            raise
        return calls.result(frame)

    def _poke(self, loop: Any, future: Any) -> None:
        if not future.done():
            self.calls.wake_main()
            loop.call_later(_POKE_S, self._poke, loop, future)


def _is_of_loop(frame: Any) -> bool:
    """True if a frame is an event loop's own code, not code that the loop runs."""
    while frame is not None:
        if frame.f_code.co_filename.endswith(_LOOP_FILES):
            return True
        if frame.f_code.co_filename != _HERE:
            return False
        frame = frame.f_back
    return False


def _running_loop() -> Any:
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()


class Calls:
    """The tool calls that wait for a result."""

    def __init__(self) -> None:
        """Start without a wire; it is set before the first call."""
        self.wire: Any = None
        self.loop: Any = None
        """Our own event loop; None until a cell needs one."""
        self.waiting: dict[str, Callable[[dict[str, Any]], None]] = {}
        self.tells_cancelled = False
        """True if the host wants to know of calls that no code waits for any more."""
        self.blocking: set[int] = set()
        """The threads that must not return to their event loop while they wait."""
        self._last = 0
        self._main = _thread.get_ident()

    def send(self, name: str, args: str, answer: "Callable[[dict[str, Any]], None]") -> str:
        """Send a call and return its id; `answer` gets the result on the main thread."""
        if self.wire.closed:
            raise ToolError("the host is gone, so calls cannot be answered")
        self._last += 1
        key = str(self._last)
        self.waiting[key] = answer
        parts = (
            encode_basestring(name),
            encode_basestring(args),
            encode_basestring(str(self.wire.running or "")),
        )
        try:
            self.wire.send('{"type":"tool_call","id":"%s","name":%s,"args":%s,"exec":%s}' % (key, *parts))
        except BaseException:
            self.waiting.pop(key, None)
            raise
        return key

    def give_up(self, key: str) -> None:
        """Drop a call whose result is no longer needed."""
        is_open = self.waiting.pop(key, None) is not None
        if is_open and self.tells_cancelled and not (self.wire.closed or self.wire.is_child):
            self.wire.send('{"type":"tool_cancel","id":"%s"}' % key)

    def exchange(self, name: str, args: str) -> "dict[str, Any]":
        """Send a call and wait for its result without an event loop."""
        box: list[dict[str, Any]] = []
        if _thread.get_ident() == self._main:
            key = self.send(name, args, box.append)
            try:
                self.wire.wait(box)
            finally:
                self.waiting.pop(key, None)
            return box[0]
        lock = _thread.allocate_lock()
        lock.acquire()

        def answer(frame: "dict[str, Any]") -> None:
            box.append(frame)
            lock.release()

        self.send(name, args, answer)
        while not lock.acquire(timeout=_POKE_S):
            self.wake_main()
        return box[0]

    def wake_main(self) -> None:
        """Make the main thread check for input.

        A signal that comes just before that thread goes to sleep, waiting for this one, does not wake it.
        """
        _signal.pthread_kill(self._main, _NOTICE)

    def make_answer(self, loop: Any, future: Any) -> "Callable[[dict[str, Any]], None]":
        """Return a function that settles a future of an event loop, which may belong to another thread."""

        def settle(frame: "dict[str, Any]") -> None:
            if not future.done():
                future.set_result(frame)

        def answer(frame: "dict[str, Any]") -> None:
            if loop is self.loop:
                self.wire.dirty = True
                return settle(frame)
            try:
                loop.call_soon_threadsafe(settle, frame)
            except RuntimeError:  # that loop is closed: no code waits any more
                return None
            return None

        return answer

    def on_result(self, frame: "dict[str, Any]") -> None:
        """Deliver a result; an empty frame means that there will be no more, and fails all waiting calls."""
        if frame:
            answer = self.waiting.pop(str(frame.get("id")), None)
            if answer is not None:
                answer(frame)
            return
        for key in list(self.waiting):
            self.waiting.pop(key)(
                {"success": False, "result": '"the host is gone, so calls cannot be answered"'}
            )

    def result(self, frame: "dict[str, Any]") -> Any:
        """Return the value of a result; raises ToolError."""
        text = frame.get("result")
        value: Any = text
        if isinstance(text, str):
            try:
                value = decode(text)
            except (ValueError, RecursionError):
                value = text
        if frame.get("success"):
            return value
        raise ToolError(value if isinstance(value, str) else text)


# Awaiting


def is_call(value: Any) -> bool:
    """True if a value is the coroutine of a tool."""
    return type(value) is _Coroutine and value.cr_code.co_filename == _TOOL_FILE


def _awaitable(plain: Any, **more: Any) -> Any:
    """Return a subclass of `plain` whose values can be awaited; `await` gives the plain value."""

    def wait(self: Any) -> "Generator[None, None, Any]":
        return plain(self)
        yield  # type: ignore[unreachable]

    def reduce(self: Any, *version: Any) -> Any:
        return plain, (plain(self),)

    return type(plain.__name__, (plain,), {"__await__": wait, "__reduce_ex__": reduce, **more})


# `gather` keeps its arguments in a dict, so lists and dicts must be hashable here.
_AGAIN = {
    str: _awaitable(str, __slots__=()),
    int: _awaitable(int, __slots__=()),
    float: _awaitable(float, __slots__=()),
    list: _awaitable(list, __hash__=object.__hash__),
    dict: _awaitable(dict, __hash__=object.__hash__),
}


def make_awaitable(value: Any) -> Any:
    """Return a value that code can still await."""
    kind = _AGAIN.get(type(value))
    return value if kind is None else kind(value)


class ReadyValue:
    """An awaitable of a value that is ready; it need not be awaited."""

    __slots__ = ("_value",)

    def __init__(self, value: Any = None) -> None:
        self._value = value

    def __await__(self) -> "Generator[None, None, Any]":
        return self._value
        yield  # type: ignore[unreachable]


class AwaitSupport:
    """The functions that `Rewriter` inserts around tool calls."""

    def __init__(self, calls: Calls) -> None:
        """Set the calls, which record the threads that block."""
        self._calls = calls
        self.run: Any = None
        """Runs a coroutine to its end; set by the cells."""
        self.names = {
            "__cell_settle__": self.settle,
            "__cell_block__": self.block,
            "__cell_now__": self.now,
            "__cell_again__": self.awaitable,
        }

    async def settle(self, value: Any) -> Any:
        """Await the result of a call if it is a tool's coroutine."""
        return make_awaitable(await value) if is_call(value) else value

    def block(self, value: Any) -> Any:
        """Block until the result of a call is there, if it is a tool's coroutine."""
        return make_awaitable(self._wait(value)) if is_call(value) else value

    def now(self, value: Any) -> Any:
        """Do what `await` does, in a cell that needs no event loop."""
        return self._wait(value) if is_call(value) else self.run(value)

    def awaitable(self, value: Any) -> Any:
        """Make None and booleans awaitable, whose types cannot be subclassed."""
        return ReadyValue(value) if value is None or isinstance(value, bool) else value

    def _wait(self, call: Any) -> Any:
        thread = _thread.get_ident()
        self._calls.blocking.add(thread)
        try:
            call.send(None)
        except StopIteration as done:
            return done.value
        finally:
            self._calls.blocking.discard(thread)
        raise RuntimeError("a tool call did not wait")


_COLLECTORS = frozenset(
    "gather create_task ensure_future wait wait_for shield as_completed run run_until_complete "
    "run_coroutine_threadsafe".split()
)
_PASSING = frozenset("list tuple set dict iter map zip enumerate reversed chain".split())
_VIEWS = frozenset("values items copy pop get popleft".split())
_ADDING = frozenset("append add insert extend setdefault appendleft put_nowait update".split())
_FLOW = {
    "IfExp": ("body", "orelse"),
    "BoolOp": ("values",),
    "BinOp": ("left", "right"),
    "NamedExpr": ("value",),
    "Starred": ("value",),
    "keyword": ("value",),
    "Subscript": ("value",),
    "Lambda": ("body",),
    "List": ("elts",),
    "Tuple": ("elts",),
    "Set": ("elts",),
    "Dict": ("values",),
    "ListComp": ("elt",),
    "SetComp": ("elt",),
    "GeneratorExp": ("elt",),
    "DictComp": ("value",),
}
_SCOPES = ("FunctionDef", "AsyncFunctionDef", "Lambda")
_COMPREHENSIONS = ("ListComp", "SetComp", "DictComp", "GeneratorExp")


def _kind(node: Any) -> str:
    return type(node).__name__


def _children(node: Any) -> "Iterator[Any]":
    for field in node._fields:
        value = getattr(node, field, None)
        if hasattr(value, "_fields"):
            yield value
        elif type(value) is list:
            yield from (one for one in value if hasattr(one, "_fields"))


def _walk(nodes: "Iterable[Any]") -> "Iterator[Any]":
    """Yield the nodes of a scope; of an inner function only the node itself."""
    todo = list(nodes)
    while todo:
        node = todo.pop()
        yield node
        if _kind(node) not in _SCOPES:
            todo.extend(_children(node))


def _called(node: Any) -> str:
    """Return the last part of the called name."""
    func = node.func
    return func.id if _kind(func) == "Name" else getattr(func, "attr", "")


def _is_asyncio(node: Any) -> bool:
    return _kind(node) == "Attribute" and _kind(node.value) == "Name" and node.value.id == "asyncio"


def _is_collector(node: Any) -> bool:
    name = _called(node)
    return name in _COLLECTORS and (name != "run" or _kind(node.func) == "Name" or _is_asyncio(node.func))


def _collected(call: Any) -> "list[Any]":
    return list(call.args) if _called(call) == "gather" else list(call.args[:1])


def _keys(node: Any) -> "set[str]":
    """Return the names whose values, or whose items, an expression passes on."""
    if _kind(node) == "Name":
        return {node.id}
    if _kind(node) == "Attribute":
        return {f"{node.value.id}.{node.attr}"} if _kind(node.value) == "Name" else set()
    found: set[str] = set()
    if _kind(node) == "Call":
        if _is_collector(node) or _called(node) in _PASSING:
            found.update(*map(_keys, _collected(node) if _is_collector(node) else node.args))
        elif _kind(node.func) == "Attribute" and node.func.attr in _VIEWS:
            found |= _keys(node.func.value)
        return found
    for field in _FLOW.get(_kind(node), ()):
        value = getattr(node, field)
        found.update(*map(_keys, value if type(value) is list else [value]))
    return found


def _local_names(function: Any) -> "set[str]":
    args = function.args
    names = {
        one.arg for one in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg] if one
    }
    body = function.body if type(function.body) is list else [function.body]
    return names | {one.id for one in _walk(body) if _kind(one) == "Name" and _kind(one.ctx) == "Store"}


def awaited_names(nodes: "Iterable[Any]") -> "set[str]":
    """Return the names in a scope that hold calls to be awaited later, or collections of them."""
    found: set[str] = set()
    edges: list[tuple[set[str], set[str]]] = []
    for node in _walk(nodes):
        if _kind(node) == "Await":
            found |= _keys(node.value)
        elif _kind(node) == "Call" and _is_collector(node):
            found.update(*map(_keys, _collected(node)))
        elif _kind(node) in _SCOPES:
            body = node.body if type(node.body) is list else [node.body]
            found |= awaited_names(body) - _local_names(node)
        elif _kind(node) == "Assign":
            edges.append((set().union(*map(_keys, node.targets)), _keys(node.value)))
        elif _kind(node) in ("AnnAssign", "NamedExpr") and node.value is not None:
            edges.append((_keys(node.target), _keys(node.value)))
        elif _kind(node) in ("For", "comprehension"):
            edges.append((_keys(node.target), _keys(node.iter)))
    while True:
        size = len(found)
        for target, source in edges:
            if target & found:
                found |= source
        if len(found) == size:
            return found


class Rewriter:
    """Rewrites tool calls that a cell does not await.

    | where | a call becomes |
    |---|---|
    | awaited, passed to `gather` and the like, or stored in a name that is | itself |
    | in an async def, or in a cell that runs in the event loop | `await __cell_settle__(call)` |
    | anywhere else | `__cell_block__(call)` |

    In a cell that needs no event loop, `await call` becomes `__cell_now__(call)`.
    """

    def __init__(self, tools: "set[str]", blocking: "set[str]", *, in_loop: bool) -> None:
        """Set the names of tools, and of functions whose tool calls were made to block."""
        self._tools, self._blocking = tools, blocking
        self._may_await = in_loop
        self._inline = not in_loop
        self._kept: set[str] = set()
        self._inside: list[str] = []

    def cell(self, body: "list[Any]") -> "list[Any]":
        """Rewrite the statements of a cell and return them."""
        self._kept = awaited_names(body)
        return [self.visit(one) for one in body]

    def visit(self, node: Any, *, spared: bool = False) -> Any:
        """Return the rewritten node; if `spared`, a tool call stays unchanged."""
        own = getattr(self, "_" + _kind(node).lower(), None)
        if own is not None:
            return own(node, spared)
        if _kind(node) in _COMPREHENSIONS:
            return self._collection(node, spared)
        return self._generic(node, spared)

    def _generic(self, node: Any, spared: bool, skip: "tuple[str, ...]" = ()) -> Any:
        flow = _FLOW.get(_kind(node), ()) if spared else ()
        for field in node._fields:
            if field not in skip:
                self._field(node, field, spared=field in flow)
        return node

    def _field(self, node: Any, field: str, *, spared: bool = False) -> None:
        value = getattr(node, field, None)
        if hasattr(value, "_fields"):
            setattr(node, field, self.visit(value, spared=spared))
        elif type(value) is list:
            value[:] = [self.visit(one, spared=spared) if hasattr(one, "_fields") else one for one in value]

    def _call(self, node: Any, spared: bool) -> Any:
        name, is_collector = _called(node), _is_collector(node)
        if self._may_await and name == "run" and _is_asyncio(node.func) and len(node.args) == 1:
            return _like(node, _ast.Await, value=self.visit(node.args[0], spared=True))
        adds = name in _ADDING and _kind(node.func) == "Attribute" and _keys(node.func.value) & self._kept
        passed = (
            node.args if adds or (spared and name in _PASSING) else _collected(node) if is_collector else ()
        )
        node.func = self.visit(node.func)
        node.args = [self.visit(one, spared=one in passed) for one in node.args]
        self._field(node, "keywords")
        if _kind(node.func) == "Name" and name in self._tools:
            if spared:
                return node
            if self._may_await:
                return _like(node, _ast.Await, value=_wrapped("__cell_settle__", node))
            self._blocking.update(self._inside[-1:])
            return _wrapped("__cell_block__", node)
        return _wrapped("__cell_again__", node) if spared and name in self._blocking else node

    def _await(self, node: Any, spared: bool) -> Any:
        node.value = self.visit(node.value, spared=True)
        return _wrapped("__cell_now__", node.value, node) if self._inline else node

    def _assign(self, node: Any, spared: bool) -> Any:
        target, value = node.targets[0], node.value
        if _kind(value) == "Lambda" and _kind(target) == "Name":
            return self._named(target.id, lambda: self._generic(node, spared))
        pairs = _kind(target) == "Tuple" and _kind(value) == "Tuple"
        if pairs and len(target.elts) == len(value.elts) and len(node.targets) == 1:
            kept = [bool(_target_keys(one) & self._kept) for one in target.elts]
            value.elts = [self.visit(one, spared=is_kept) for one, is_kept in zip(value.elts, kept)]
            return node
        kept_any = any(_target_keys(one) & self._kept for one in node.targets)
        node.value = self.visit(value, spared=kept_any)
        self._field(node, "targets")
        return node

    def _annassign(self, node: Any, spared: bool) -> Any:
        self._generic(node, spared, ("value",))
        self._field(node, "value", spared=bool(_target_keys(node.target) & self._kept))
        return node

    _augassign = _namedexpr = _annassign

    def _functiondef(self, node: Any, spared: bool) -> Any:
        return self._scope(node, may_await=False)

    def _asyncfunctiondef(self, node: Any, spared: bool) -> Any:
        return self._scope(node, may_await=True)

    def _lambda(self, node: Any, spared: bool) -> Any:
        return self._scope(node, may_await=False, spared=spared)

    def _scope(self, node: Any, *, may_await: bool, spared: bool = False) -> Any:
        """Visit a function; its head (defaults, decorators) belongs to the outer scope."""
        self._generic(node, False, ("body",))
        saved = self._may_await, self._inline, self._kept
        body = node.body if type(node.body) is list else [node.body]
        self._may_await, self._inline = may_await, False
        self._kept = awaited_names(body) | (self._kept - _local_names(node))
        if _kind(node) == "Lambda":
            self._field(node, "body", spared=spared)
        else:
            self._named(node.name, lambda: self._field(node, "body"))
        self._may_await, self._inline, self._kept = saved
        return node

    def _named(self, name: str, visit: "Callable[[], Any]") -> Any:
        self._inside.append(name)
        done = visit()
        self._inside.pop()
        return done

    def _classdef(self, node: Any, spared: bool) -> Any:
        self._generic(node, spared, ("body",))
        self._blocked(lambda: self._field(node, "body"))
        return node

    def _collection(self, node: Any, spared: bool) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        outer, first.iter = first.iter, _ast.Constant(value=None)
        self._blocked(lambda: self._generic(node, spared))
        first.iter = outer
        return node

    def _blocked(self, visit: "Callable[[], Any]") -> None:
        saved, self._may_await = self._may_await, False
        visit()
        self._may_await = saved


def _target_keys(node: Any) -> "set[str]":
    return _keys(node.value if _kind(node) == "Subscript" else node)


def _like(node: Any, kind: Any, **fields: Any) -> Any:
    made = kind(**fields)
    for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(made, name, getattr(node, name))
    return made


def _wrapped(name: str, value: Any, place: Any = None) -> Any:
    place = place or value
    return _like(
        place, _ast.Call, func=_like(place, _ast.Name, id=name, ctx=_ast.Load()), args=[value], keywords=[]
    )


def needs_loop(body: "Iterable[Any]", tools: "set[str]") -> bool:
    """True if a cell must run in the event loop: it awaits more than tools, or uses asyncio."""
    return any(_wants_loop(node, tools) for node in _walk(body))


def _wants_loop(node: Any, tools: "set[str]") -> bool:
    kind = _kind(node)
    if kind == "Await":
        call = node.value
        return not (_kind(call) == "Call" and _kind(call.func) == "Name" and call.func.id in tools)
    if kind == "comprehension":
        return bool(node.is_async)
    if kind == "GeneratorExp":
        return any(_kind(one) == "Await" for one in _walk([node.elt]))
    if kind == "Call":
        return _kind(node.func) == "Name" and node.func.id in _COLLECTORS
    if kind == "Name":
        return node.id in tools and _kind(node.ctx) == "Store"
    if kind in ("FunctionDef", "AsyncFunctionDef"):
        return node.name in tools
    return kind in ("AsyncFor", "AsyncWith") or _is_asyncio(node)


# Cells


class Exit:
    """`exit` and `quit`: end the cell."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{self._name}() ends this cell; variables are kept"

    def __call__(self, code: Any = None) -> None:
        """End the cell."""
        raise SystemExit(code)


def _no_input(prompt: Any = "") -> str:
    """Raise EOFError: there is no input for a cell."""
    raise EOFError("input() does not work in a cell; put the value into the code")


class Cells:
    """Runs cells in one namespace."""

    def __init__(self, wire: Wire, calls: Calls, output: Output) -> None:
        """Create the namespace; it is the module `__main__` for all code that runs here."""
        self.mode = "strict"
        self.response = ""
        self.tools: dict[str, Tool] = {}
        self.sources: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        """The source of each function and class that a cell defined, in the order of definition."""
        self._wire, self._calls, self._output = wire, calls, output
        self._awaiting = AwaitSupport(calls)
        self._awaiting.run = self._run_in_loop
        self._blocking: set[str] = set()
        self._last = 0
        self._lazy: list[str] = []
        self._words: list[str] = []
        """A cell that contains none of these words calls no tool and needs no event loop."""
        self._is_published = False
        self._selector_fd = -1
        self._notice, self._sigint = wire.on_signal, wire.on_sigint
        self._recursion = sys.getrecursionlimit()
        self._modules, self._finders, self._path = dict(sys.modules), list(sys.meta_path), list(sys.path)
        self._builtins: dict[str, Any] = vars(builtins)
        self._module = sys.modules["__main__"] = _Module("__main__")
        self.space: dict[str, Any] = vars(self._module)
        self.initial: dict[str, Any] = {}

    def begin(self, tools: "list[Tool]") -> None:
        """Put the tools into the namespace and remove the previous ones."""
        for name, tool in self.tools.items():
            if self.space.get(name) is tool.function:
                del self.space[name]
        self.tools = {tool.function.__name__: tool for tool in tools}
        self.initial = {
            "__name__": "__main__",
            "__builtins__": builtins,
            "__doc__": None,
            "message": self.message,
            "list_tools": self.list_tools,
            "ToolError": ToolError,
            "exit": Exit("exit"),
            "quit": Exit("quit"),
            "help": self.help,
            **{name: tool.function for name, tool in self.tools.items()},
        }
        self._words = ["await", "async", *_COLLECTORS, *self.tools]
        self._lazy = [name for name in ("asyncio", "json") if name not in self.tools]
        self.space.update(self.initial)

    def forget(self) -> None:
        """Restore the state after `begin`."""
        self.put_back()
        self._builtins.clear()
        self._builtins.update(_BUILTINS)
        for task in self._tasks():
            task.cancel()
        if self._calls.loop is not None:
            self._run_in_loop(self._pause(3))
        self.space.clear()
        self.sources.clear()
        self.definitions.clear()
        self._blocking.clear()
        self.begin(list(self.tools.values()))

    # Functions for cells

    def message(self, text: Any, kind: str = "progress") -> ReadyValue:
        """Send the user a message at once; kind "final" makes it the answer. Needs no await."""
        if self.mode == "strict" and kind not in ("progress", "final"):
            raise ValueError(f'message(): kind must be "progress" or "final", not {kind!r}')
        shown = _clean(str(text))
        if len(shown) > _MAX_SENT_BYTES:
            raise ValueError(f"message(): {len(shown)} characters are more than can be sent")
        parts = (shown, _clean(str(kind)), str(self._wire.running or ""))
        self._wire.send(
            '{"type":"message","text":%s,"kind":%s,"exec":%s}' % tuple(map(encode_basestring, parts))
        )
        if kind == "final":
            self.response = shown
        return ReadyValue()

    def list_tools(self) -> None:
        """Print the tools and their signatures."""
        lines = ["Available tools:"]
        for tool in self.tools.values():
            lines.append(f"  {tool.shown()}")
            lines += [f"      {line}" for line in tool.description.splitlines()]
        self._output.stdout.write("\n".join(lines) + "\n")

    def help(self, *args: Any) -> None:
        """Show the documentation of an object; without one, that of the tools."""
        if not args:
            self.list_tools()
            return
        import pydoc

        pydoc.help(*args)

    # Running

    def run(self, key: Any, source: str) -> "str | None":
        """Run a cell and return the error that ended it, if any."""
        self._last += 1
        self.response = ""
        name = f"<cell {self._last}>"
        error = None
        try:
            try:
                self._wire.begin(key)
                self._remember(name, source)
                if self.mode == "strict":
                    self._show(self._execute(*self._compile(source, name)), self._output.end_with)
                else:
                    self._run_loosely(source, name)
            except BaseException as failure:
                error = self._describe(failure)
            finally:
                self._wire.end()
        except KeyboardInterrupt:
            error = "KeyboardInterrupt"
        if self._wire.is_child:
            self._end_child(error)
        self._clean_up(source)
        return error

    def define(self, source: str) -> None:
        """Run a definition from a snapshot."""
        self._last += 1
        name = f"<cell {self._last}>"
        self._remember(name, source)
        self._execute(*self._compile(source, name))

    def put_back(self) -> None:
        """Undo what a cell did to things the next one needs; done while the host reads the result."""
        self._output.restore()
        if _signal.getsignal(_NOTICE) is not self._notice:
            _signal.signal(_NOTICE, self._notice)
        if self._wire.is_signalled and _signal.getsignal(_signal.SIGTERM) is not self._notice:
            _signal.signal(_signal.SIGTERM, self._notice)
        if _signal.getsignal(_signal.SIGINT) is not self._sigint:
            _signal.signal(_signal.SIGINT, self._sigint)
        if "signal" in sys.modules:
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_NOTICE, _signal.SIGINT, _signal.SIGTERM))
        if self._builtins.get("input") is not _no_input:
            self._builtins["input"] = _no_input
        self.space["__builtins__"] = builtins
        if "sys" not in sys.modules:
            sys.modules.update(self._modules)
        sys.modules["__main__"] = self._module
        if not (sys.meta_path and sys.path):
            sys.meta_path[:], sys.path[:] = self._finders, self._path

    def _clean_up(self, source: str) -> None:
        if "builtins" in source:
            for name, value in _BUILTINS.items():
                if callable(value) and not callable(self._builtins.get(name)):
                    self._builtins[name] = value  # the standard library would not work without it
        if sys.getrecursionlimit() < self._recursion:
            sys.setrecursionlimit(self._recursion)
        if sys.gettrace() is not None:
            sys.settrace(None)
        if sys.getprofile() is not None:
            sys.setprofile(None)

    def _end_child(self, error: "str | None") -> None:
        """End a forked child that has reached the end of the cell."""
        try:
            if error:
                self._output.stderr.write(error + "\n")
            self._output.add(self._output.end)
            self._output.stdout.flush()
        finally:
            posix._exit(1 if error else 0)

    def _remember(self, name: str, source: str) -> None:
        self.sources[name] = source
        self.sources.pop(f"<cell {self._last - _MAX_SOURCES}>", None)
        for module in self._lazy:
            if module in source and module not in self.space:
                self.space[module] = __import__(module)
        if "linecache" in sys.modules or "inspect" in source:
            self._publish({name: source} if self._is_published else self.sources)
            self._is_published = True

    def _publish(self, sources: "dict[str, str]") -> None:
        """Give `linecache` the lines of cells, for tracebacks and `inspect`."""
        import linecache

        cache = getattr(linecache, "cache", {})
        for name, source in sources.items():
            cache[name] = (len(source), None, [f"{line}\n" for line in source.splitlines()], name)

    def _compile(self, source: str, name: str) -> "tuple[list[Any], bool, bool]":
        """Return code objects, whether the last one is an expression, and if they need the event loop."""
        busy = bool(self._tasks())
        code = None if busy else self._expression(source, name)
        if code is not None:
            return [code], True, False
        body, in_loop = self._parse(source, name, busy=busy)
        is_value = bool(body) and _kind(body[-1]) == "Expr"
        codes = []
        if is_value:
            last = _ast.Expression(body=body.pop().value)
            codes.append(compile(last, name, "eval", _TOP_AWAIT, True))
        if body:
            tree = _ast.Module(body=body, type_ignores=[])
            codes.insert(0, compile(tree, name, "exec", _TOP_AWAIT, True))
        return codes, is_value, in_loop or any(code.co_flags & _COROUTINE for code in codes)

    def _expression(self, source: str, name: str) -> Any:
        """Compile the most common small cell, one expression without tools, without building a tree."""
        if "\n" in source or source[:1] in " \t\f" or len(source) > 200 or "await" in source:
            return None
        try:
            code = compile(source, name, "eval", 0, True)
        except (SyntaxError, ValueError):
            return None
        names = code.co_names
        if "asyncio" in names or not self.tools.keys().isdisjoint(names):
            return None
        return None if _Code in map(type, code.co_consts) else code

    def _parse(self, source: str, name: str, *, busy: bool) -> "tuple[list[Any], bool]":
        global _ast
        if _ast is None:
            import _ast
        body = compile(source, name, "exec", _ONLY_AST | _TOP_AWAIT, True).body
        self._note_definitions(source, body)
        if not (busy or any(word in source for word in self._words)):
            return body, False
        tools = {one for one, tool in self.tools.items() if self.space.get(one) is tool.function}
        in_loop = busy or needs_loop(body, tools)
        self._builtins.update(self._awaiting.names)
        return Rewriter(set(self.tools), self._blocking, in_loop=in_loop).cell(body), in_loop

    def _note_definitions(self, source: str, body: "list[Any]") -> None:
        lines: list[str] = []
        for node in body:
            name = getattr(node, "name", None)
            if _kind(node) == "Assign" and _kind(node.value) == "Lambda" and _kind(node.targets[0]) == "Name":
                name = node.targets[0].id
            if name is not None:
                lines = lines or source.splitlines(True)
                first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
                self.definitions.pop(name, None)
                self.definitions[name] = "".join(lines[first - 1 : node.end_lineno])

    def _execute(self, codes: "list[Any]", is_value: bool, in_loop: bool) -> Any:
        value = None
        if in_loop:
            value = self._run_in_loop(self._drive(codes))
        else:
            for code in codes:
                value = eval(code, self.space)
        if not is_value:
            return None
        return self._awaiting.now(value) if is_call(value) else value

    async def _drive(self, codes: "list[Any]") -> Any:
        await self._pause(3)  # timers and results that are due come before the cell
        value: Any = None
        for code in codes:
            value = eval(code, self.space)
            if code.co_flags & _COROUTINE:
                value = await value
        if is_call(value):
            value = await value
        await self._pause(1)  # a task created by the last line starts
        return value

    async def _pause(self, times: int) -> None:
        asyncio = sys.modules["asyncio"]
        for _ in range(times):
            await asyncio.sleep(0)

    def _run_loosely(self, source: str, name: str) -> None:
        """Run each statement separately, echo every expression, and continue after errors."""
        try:
            body, in_loop = self._parse(source, name, busy=bool(self._tasks()))
        except (SyntaxError, ValueError) as failure:
            self._output.stdout.write(f"{self._describe(failure)}\n")
            return
        sys.displayhook = self._echo
        for node in body:
            tree = _ast.Interactive(body=[node])
            try:
                self._execute([compile(tree, name, "single", _TOP_AWAIT, True)], False, in_loop)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as failure:
                self._output.stdout.write(f"{self._describe(failure)}\n")

    def _echo(self, value: Any) -> None:
        self._show(value, self._output.add)

    def _show(self, value: Any, add: "Callable[[str], None]") -> None:
        if value is not None and type(value) is not ReadyValue:
            add(f"{value!r}\n")
            self._builtins["_"] = value

    # The event loop

    def _tasks(self) -> "list[Any]":
        loop = self._calls.loop
        if loop is None or loop.is_closed():
            return []
        return [task for task in sys.modules["asyncio"].all_tasks(loop) if not task.done()]

    def warm(self) -> None:
        """Import what most cells need sooner or later."""
        import _ast as loaded
        import traceback  # noqa: F401

        globals()["_ast"] = loaded
        self._loop()

    def _loop(self) -> Any:
        loop = self._calls.loop
        if loop is None or loop.is_closed() or not _is_open(self._selector_fd):
            loop, self._selector_fd = _make_loop(self._wire)
            self._calls.loop = loop
        return loop

    def _run_in_loop(self, awaitable: Any) -> Any:
        """Run an awaitable in our event loop until it is done; an interrupt cancels it."""
        loop = self._loop()
        asyncio: Any = sys.modules["asyncio"]

        async def carry() -> Any:
            return await awaitable

        task = loop.create_task(carry())
        try:
            return loop.run_until_complete(task)
        except (KeyboardInterrupt, SystemExit) as failure:
            if task.done():
                raise
            task.cancel()
            loop.run_until_complete(asyncio.wait([task]))
            where = failure if task.cancelled() is False else _cancelled_at(task)
            raise failure.with_traceback(where.__traceback__) from None

    # Errors

    def _describe(self, error: BaseException) -> "str | None":
        """Return an error as a traceback without our own frames; None for a plain `exit()`."""
        if isinstance(error, SystemExit):
            return None if error.code in (None, 0) else _clean(f"SystemExit: {error.code}")
        try:
            text = self._traceback(error)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # a cell has broken what formats errors
            text = self._plain_traceback(error)
        if len(text) > _MAX_ERROR:
            half = _MAX_ERROR // 2
            text = f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
        return _clean(text)

    def _plain_traceback(self, error: BaseException) -> str:
        lines, step = ["Traceback (most recent call last):"], error.__traceback__
        while step is not None and len(lines) < _MAX_FRAMES:
            code = step.tb_frame.f_code
            if not _is_hidden(code.co_filename):
                lines.append(f'  File "{code.co_filename}", line {step.tb_lineno}, in {code.co_name}')
            step = step.tb_next
        why = _why(error)
        return "\n".join([*lines, type(error).__name__ + (f": {why}" if why != type(error).__name__ else "")])

    def _traceback(self, error: BaseException) -> str:
        import traceback

        self._publish(self.sources)
        if isinstance(error, SyntaxError) and error.text is None and error.filename in self.sources:
            lines = self.sources[error.filename].splitlines()
            error.text = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else None
        depth, step = 0, error.__traceback__
        while step is not None:
            depth, step = depth + 1, step.tb_next
        limit = -_MAX_FRAMES if depth > 2 * _MAX_FRAMES else None
        shown = traceback.TracebackException(type(error), error, error.__traceback__, limit=limit)
        _hide_our_frames(shown)
        is_bare = not shown.stack and shown.__cause__ is None and shown.__context__ is None
        return "".join(shown.format_exception_only() if is_bare else shown.format()).rstrip("\n")


def _is_hidden(name: str) -> bool:
    return name in (_HERE, _TOOL_FILE) or name.endswith(_LOOP_FILES)


def _hide_our_frames(shown: Any) -> None:
    shown.stack[:] = [frame for frame in shown.stack if not _is_hidden(frame.filename)]
    for other in (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())):
        if other is not None:
            _hide_our_frames(other)


def _cancelled_at(task: Any) -> BaseException:
    """Return the exception that cancelled a task: its traceback shows what the task was waiting for."""
    try:
        task.result()
    except BaseException as error:
        return error
    return KeyboardInterrupt()


def _is_open(descriptor: int) -> bool:
    try:
        posix.fstat(descriptor)
    except OSError:
        return False
    return True


def _make_loop(wire: Wire) -> "tuple[Any, int]":
    """Return an event loop that watches the wire, and the descriptor it waits on.

    While the loop runs a cell's code, the signal announces new input.
    """
    import asyncio
    import selectors

    class Selector(selectors.DefaultSelector):
        def select(self, timeout: Any = None) -> Any:
            wire.busy = True
            if wire.dirty:
                timeout, wire.dirty = 0, False
            try:
                return super().select(timeout)
            finally:
                wire.busy = False
                if wire.missed:
                    read()

    def read() -> None:
        wire.poll()
        if wire.is_interrupted:
            loop.call_soon(wire.check)
        if wire.closed:
            loop.remove_reader(wire.source)

    selector = Selector()
    loop = asyncio.SelectorEventLoop(selector)
    asyncio.set_event_loop(loop)
    if not wire.closed:
        loop.add_reader(wire.source, read)
    return loop, selector.fileno()


# Snapshots


class SnapshotEntry:
    """One entry of a snapshot that is being made."""

    __slots__ = ("kind", "name", "needs", "size", "text")

    def __init__(self, kind: str, name: str, text: str, needs: "Iterable[str]" = ()) -> None:
        self.kind, self.name, self.text, self.needs = kind, name, text, set(needs)
        self.size = len(name.encode("utf-8")) + len(text.encode("utf-8")) + 4


class Snapshots:
    """Saves what the cells have created, and restores it.

    | in the data | codec | content |
    |---|---|---|
    | `vars` | both | values that JSON can hold |
    | `files`, `binary` | both | the scratch folder: text files, and base64 of the others |
    | `imports` | rich | modules, and names imported from them: `["os", ""]`, `["os", "getcwd"]` |
    | `tool_functions` | rich | the source of functions and classes, in order |
    | `pickles` | rich | other values; another variable inside one is stored only as a reference to its name |
    """

    def __init__(self, cells: Cells, scratch: "Scratch") -> None:
        """Set the cells and the scratch folder to save."""
        self._cells, self._scratch = cells, scratch
        self._max_bytes = 0
        self._dropped: list[tuple[str, str]] = []
        self._known: dict[int, str] = {}
        """The variables saved so far, by identity."""

    def take(self, codec: str, max_bytes: int) -> "tuple[str, list[tuple[str, str]]]":
        """Return the data, and the names of what is missing from it, each with the reason."""
        self._max_bytes = max_bytes
        self._dropped = []
        self._known = {}
        kept = [one for name in list(self._cells.space) for one in self._keep(name, codec)]
        kept += self._keep_files(max_bytes)
        self._shrink(kept, max_bytes)
        order = {name: number for number, name in enumerate(self._cells.definitions)}
        kept.sort(key=lambda one: order.get(one.name, 0) if one.kind == "definitions" else 0)
        kinds = ["vars", "files", "binary"] + (
            ["imports", "definitions", "pickles"] if codec == "rich" else []
        )
        parts = [f'"{kind}":{_members(one for one in kept if one.kind == kind)}' for kind in kinds]
        return f"{{{','.join(parts)}}}", self._dropped

    def _shrink(self, kept: "list[SnapshotEntry]", max_bytes: int) -> None:
        """Remove the largest entries until the rest fits, and entries that depend on removed ones."""
        total = 100 + sum(one.size for one in kept)
        gone: set[str] = set()
        for one in sorted(kept, key=lambda one: (one.kind in ("files", "binary"), -one.size)):
            if total <= max_bytes:
                break
            total -= one.size
            gone.add(one.name)
            kept.remove(one)
            name = f"file {one.name}" if one.kind in ("files", "binary") else one.name
            self._dropped.append((name, f"{one.size} bytes: the snapshot may have no more than {max_bytes}"))
        for one in [one for one in kept if one.needs & gone]:
            kept.remove(one)
            self._dropped.append((one.name, f"it holds {', '.join(sorted(one.needs & gone))}"))

    def _pickled(self, name: str, value: Any) -> SnapshotEntry:
        import base64
        import pickle

        cells, known, needs = self._cells, self._known, set()
        max_bytes = self._max_bytes

        class File(io.BytesIO):
            def write(self, data: Any) -> int:
                if self.tell() + len(data) > 4 * max_bytes:  # smaller ones are left to `_shrink`
                    raise _too_large(max_bytes)
                return super().write(data)

        class Pickler(pickle.Pickler):
            def persistent_id(self, obj: Any) -> Any:
                other = known.get(id(obj))
                if other is not None:
                    needs.add(other)
                return other

            def reducer_override(self, obj: Any) -> Any:
                if isinstance(obj, (type, _Function)) and obj.__module__ == "__main__":
                    own = obj.__qualname__.split(".")[0]
                    if own not in cells.definitions and own not in cells.initial:
                        raise pickle.PicklingError(f"the source of {own} is not known")
                return NotImplemented

        file = File()
        Pickler(file, 5).dump(value)
        return SnapshotEntry("pickles", name, f'"{base64.b64encode(file.getvalue()).decode()}"', needs)

    def _keep(self, name: Any, codec: str) -> "list[SnapshotEntry]":
        """Return the entry for a name, or nothing."""
        if type(name) is not str or name == "_" or name.startswith("__"):
            return []
        if codec == "json" and name.startswith("_"):
            return []
        value = self._cells.space.get(name)
        if name in self._cells.initial and self._cells.initial[name] is value:
            return []
        if name in ("asyncio", "json") and type(value) is _Module:
            return []
        try:
            return [self._kept_rich(name, value) if codec == "rich" else self._kept_json(name, value)]
        except (KeyboardInterrupt, SystemExit):
            raise
        except RecursionError:
            self._dropped.append((_clean(name), "it is nested too deeply"))
        except BaseException as error:
            self._dropped.append((_clean(name), _why(error)))
        return []

    def _kept_json(self, name: str, value: Any) -> SnapshotEntry:
        if type(value) is _Module:
            raise TypeError("a module")
        if callable(value):
            raise TypeError("a class" if isinstance(value, type) else "a function or another thing to call")
        if _is_larger(value, self._max_bytes):
            raise _too_large(self._max_bytes)
        return SnapshotEntry("vars", name, encode(value))

    def _kept_rich(self, name: str, value: Any) -> SnapshotEntry:
        if type(value) is _Module:
            return SnapshotEntry("imports", name, encode([value.__name__, ""]))
        if callable(value):
            module, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
            source = self._cells.definitions.get(name)
            if module == "__main__" and source is not None:
                return SnapshotEntry("definitions", name, encode_basestring(source))
            if (
                module != "__main__"
                and module in sys.modules
                and type(own) is str
                and getattr(sys.modules[module], own, None) is value
            ):
                return SnapshotEntry("imports", name, encode([module, own]))
        kept = SnapshotEntry("vars", name, encode(value)) if _is_plain(value) else self._pickled(name, value)
        if type(value) not in (str, int, float, bool, bytes, tuple, type(None)):
            self._known[id(value)] = name
        return kept

    def _keep_files(self, max_bytes: int) -> "list[SnapshotEntry]":
        kept = []
        for number, path in enumerate(self._scratch.paths()):
            if number >= _MAX_FILES:
                self._dropped.append((f"file {_clean(path)}", f"more than {_MAX_FILES} files"))
                continue
            try:
                data = self._scratch.read(path, max_bytes)
                path.encode("utf-8")
            except (OSError, ValueError) as error:
                self._dropped.append((f"file {_clean(path)}", _why(error)))
                continue
            try:
                kind, text = "files", encode_basestring(data.decode("utf-8"))
            except UnicodeDecodeError:
                import base64

                kind, text = "binary", f'"{base64.b64encode(data).decode()}"'
            kept.append(SnapshotEntry(kind, path, text))
        return kept

    def restore(self, text: str, codec: str) -> "str | None":
        """Restore a snapshot; return a text about what could not be restored, None if all was.

        Raises ValueError, before anything has changed, for data that is not a snapshot.
        """
        data = decode(text)
        if not isinstance(data, dict):
            raise ValueError("a snapshot is an object")
        if not isinstance(data.get("vars"), dict):
            data = {"vars": data}
        files = {**self._texts(data, "files"), **self._binaries(data)}
        for name in data["vars"]:
            if name.startswith("__"):
                raise ValueError(f"a snapshot may not set {name}")
        if "files" in data or "binary" in data:
            self._scratch.replace(files)
        self._cells.space.update(data["vars"])
        failed = self._restore_rich(data) if codec == "rich" else []
        return "\n".join(["not restored:", *failed]) if failed else None

    def _texts(self, data: "dict[str, Any]", kind: str) -> "dict[str, bytes]":
        found = data.get(kind, {})
        if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
            raise ValueError(f'"{kind}" of a snapshot must hold texts')
        return {path: text.encode("utf-8", "surrogatepass") for path, text in found.items()}

    def _binaries(self, data: "dict[str, Any]") -> "dict[str, bytes]":
        found = self._texts(data, "binary")
        if not found:
            return {}
        import base64

        return {path: base64.b64decode(text, validate=True) for path, text in found.items()}

    def _restore_rich(self, data: "dict[str, Any]") -> "list[str]":
        """Restore what JSON cannot hold; what fails is tried again as long as something else succeeds."""
        space, cells = self._cells.space, self._cells
        pickles = data.get("pickles") or {}
        acts: list[tuple[str, Callable[[], Any]]] = []
        for name, (module, own) in (data.get("imports") or {}).items():
            acts.append((name, lambda name=name, one=(module, own): space.update({name: _imported(*one)})))  # type: ignore[misc]
        for name, source in (data.get("definitions") or {}).items():
            acts.append((name, lambda source=source: cells.define(source)))  # type: ignore[misc]
        for name, text in pickles.items():
            acts.append((name, lambda name=name, text=text: space.update({name: self._unpickled(text)})))  # type: ignore[misc]
        while True:
            failed, left = [], []
            for name, act in acts:
                try:
                    act()
                except KeyboardInterrupt:
                    raise
                except BaseException as error:
                    failed.append(f"{name}: {_why(error)}")
                    left.append((name, act))
            if not left or len(left) == len(acts):
                return failed
            acts = left

    def _unpickled(self, text: str) -> Any:
        import base64
        import pickle

        space = self._cells.space

        class Unpickler(pickle.Unpickler):
            def persistent_load(self, pid: Any) -> Any:
                return space[pid]

        return Unpickler(io.BytesIO(base64.b64decode(text))).load()


def _members(kept: "Iterable[SnapshotEntry]") -> str:
    return f"{{{','.join(f'{encode_basestring(one.name)}:{one.text}' for one in kept)}}}"


def _imported(module: str, own: str) -> Any:
    __import__(module)
    return getattr(sys.modules[module], own) if own else sys.modules[module]


def _why(error: BaseException) -> str:
    try:
        return _clean(str(error))[:200] or type(error).__name__
    except BaseException:
        return type(error).__name__


def _too_large(max_bytes: int) -> ValueError:
    return ValueError(f"larger than {max_bytes} bytes: the snapshot may have no more")


def _is_larger(value: Any, max_bytes: int) -> bool:
    """True if a value's JSON is certainly longer: to write it would take seconds, and as much memory."""
    todo, least = [value], 0
    for _ in range(_MAX_LOOKED_AT):
        if not todo or least > max_bytes:
            break
        one = todo.pop()
        if type(one) in (list, tuple, dict):
            least += 2 * len(one)
            if least <= max_bytes:
                inner = one.values() if type(one) is dict else one
                todo += [each for each in inner if type(each) in (list, tuple, dict)]
    return least > max_bytes


def _is_plain(value: Any) -> bool:
    """True if JSON gives back exactly this value; False for circular or very large values."""
    todo, seen = [value], 0
    while todo and seen < _MAX_NODES:
        one = todo.pop()
        kind, seen = type(one), seen + 1
        if kind in (list, _AGAIN[list]):
            todo.extend(one)
        elif kind in (dict, _AGAIN[dict]):
            if not all(type(key) is str for key in one):
                return False
            todo.extend(one)
            todo.extend(one.values())
        elif kind in (str, _AGAIN[str]):
            if not one.isascii() and one.encode("utf-8", "ignore").decode("utf-8") != one:
                return False
        elif kind is float:
            if one != one or one in (float("inf"), float("-inf")):
                return False
        elif one is not None and kind not in (int, bool, _AGAIN[int], _AGAIN[float]):
            return False
    return not todo


class Scratch:
    """The folder for files that snapshots include: `SCRATCH_DIR`, or one that we create."""

    def __init__(self) -> None:
        """Create the folder if possible."""
        given = posix.environ.get(b"SCRATCH_DIR")
        self._is_ours = not given
        if given:
            self.path = given.decode("utf-8", "surrogateescape")
            _make_folder(self.path)
            return
        parent = posix.environ.get(b"TMPDIR", b"/tmp").decode("utf-8", "surrogateescape")
        for number in range(100):
            self.path = f"{parent}/scratch-{posix.getpid()}-{number}"
            if _make_folder(self.path):
                break
        posix.environ[b"SCRATCH_DIR"] = self.path.encode("utf-8", "surrogateescape")
        posix.putenv(b"SCRATCH_DIR", self.path.encode("utf-8", "surrogateescape"))
        if "os" in sys.modules:
            sys.modules["os"].environ["SCRATCH_DIR"] = self.path

    def paths(self) -> "Iterator[str]":
        """Yield the paths of the regular files in it; links are not followed."""
        todo = [""]
        while todo:
            folder = todo.pop()
            try:
                entries = sorted(posix.scandir(f"{self.path}/{folder}"), key=lambda one: one.name)
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(f"{folder}{entry.name}/")
                elif entry.is_file(follow_symlinks=False):
                    yield folder + entry.name

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return the bytes of a file; raises OSError, or ValueError if it is too large."""
        descriptor = posix.open(f"{self.path}/{path}", posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_NONBLOCK)
        try:
            size = posix.fstat(descriptor).st_size
            if size > max_bytes:
                raise ValueError(f"{size} bytes: the snapshot may have no more than {max_bytes}")
            return _read_at(descriptor, 0, size)
        finally:
            posix.close(descriptor)

    def replace(self, files: "dict[str, bytes]") -> None:
        """Empty the folder and write files; raises ValueError before that if a path leads out of it."""
        for path in files:
            parts = path.split("/")
            if "\0" in path or path.startswith("/") or any(part in ("", ".", "..") for part in parts):
                raise ValueError(f"a snapshot may not write the file {path!r}")
        self.empty()
        for path, data in files.items():
            folder, _, _ = path.rpartition("/")
            done = self.path
            for part in folder.split("/") if folder else ():
                done = f"{done}/{part}"
                _make_folder(done)
            flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW
            descriptor = posix.open(f"{self.path}/{path}", flags, 0o600)
            try:
                _write(descriptor, data)
            finally:
                posix.close(descriptor)

    def empty(self) -> None:
        """Remove everything in it."""
        _empty(self.path)

    def close(self) -> None:
        """Remove it if we created it."""
        if self._is_ours:
            self.empty()
            try:
                posix.rmdir(self.path)
            except OSError:
                return


def _make_folder(path: str) -> bool:
    try:
        posix.mkdir(path, 0o700)
    except OSError:
        return False
    return True


def _empty(path: str) -> None:
    try:
        entries = list(posix.scandir(path))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                _empty(entry.path)
                posix.rmdir(entry.path)
            else:
                posix.unlink(entry.path)
        except OSError:
            continue


# The guest


class SiteFinder:
    """Finds modules outside the standard library: runs `site`, which is slow, when one is first needed."""

    _NEVER = frozenset(
        {"org", "java", "nt", "msvcrt", "vms_lib", "_winapi", "winreg", "sitecustomize", "usercustomize"}
    )

    def __init__(self) -> None:
        self._is_done = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Run `site` on first use, then search again."""
        if self._is_done or path is not None or name in self._NEVER:
            return None
        if name in getattr(sys, "stdlib_module_names", ()):
            return None
        self._is_done = True
        before = list(sys.path)
        import site

        site.main()
        sys.path[:] = before + [one for one in sys.path if one not in before and one != posix.getcwd()]
        for finder in sys.meta_path:
            found = None if finder is self else finder.find_spec(name, path, target)
            if found is not None:
                return found
        return None


class Guest:
    """Handles the host's requests, one after the other."""

    def __init__(self) -> None:
        """Move our descriptors out of the cells' way."""
        source, sink = _private(0), _private(1)
        nothing = posix.open("/dev/null", posix.O_RDWR)
        posix.dup2(nothing, 0)
        posix.close(nothing)
        self._calls = Calls()
        self._wire = self._calls.wire = Wire(source, sink, self._calls.on_result)
        self._output = Output()
        self._cells = Cells(self._wire, self._calls, self._output)
        self._scratch = Scratch()
        self._snapshots = Snapshots(self._cells, self._scratch)
        self._is_begun = False
        self._start = (posix.getcwd(), dict(posix.environ))
        self._path = list(sys.path)
        self._spare_descriptors()
        posix.register_at_fork(before=self._before_fork, after_in_child=lambda: self._leave(source, sink))
        _signal.signal(_NOTICE, self._wire.on_signal)
        _signal.signal(_signal.SIGINT, self._wire.on_sigint)
        _send_notices(source)

    def serve(self) -> None:
        """Serve requests until the host sends `shutdown` or closes its end."""
        orders = {
            "init": self._init,
            "exec": self._exec,
            "snapshot": self._snapshot,
            "restore": self._restore,
            "reset": self._reset,
        }
        while True:
            frame = self._wire.next()
            kind = "shutdown" if frame is None else frame["type"]
            if kind == "shutdown":
                break
            act = orders.get(kind) if type(kind) is str else None
            if act is not None and frame is not None:
                act(frame)
        self._end()

    def _exec(self, frame: "dict[str, Any]") -> None:
        key, code = frame.get("id"), frame.get("code")
        error: str | None = "exec needs a code that is text"
        if isinstance(code, str):
            error = self._cells.run(key, code)
        self._answer(key, error, self._cells.response)
        self._cells.put_back()

    def _answer(self, key: Any, error: "str | None", response: str = "") -> None:
        number = encode_basestring(key) if type(key) is str else encode(key)
        output, said = encode_basestring(self._output.taken()), encode_basestring(response)
        told = "null" if error is None else encode_basestring(error)
        self._wire.send(
            f'{{"type":"exec_result","id":{number},"output":{output},"response":{said},"error":{told}}}'
        )

    def _init(self, frame: "dict[str, Any]") -> None:
        """Start; a later `init` replaces the tools."""
        try:
            specs = decode(frame["tools"]) if frame.get("tools") else []
            tools = [Tool(one, self._calls) for one in specs]
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            _write(2, f"guest: the tools cannot be read: {error!r}\n".encode("utf-8", "replace"))
            tools = []
        if not self._is_begun:
            self._is_begun = True
            self._wire.is_signalled = frame.get("signals") is True
            self._calls.tells_cancelled = frame.get("cancels") is True
            self._wire.tell_ignored = frame.get("output") == "stream"
            if not self._wire.tell_ignored:
                self._output.collect()
        self._cells.mode = "kaml" if frame.get("mode") == "kaml" else "strict"
        self._cells.begin(tools)
        self._cells.put_back()
        if frame.get("warm"):
            self._cells.warm()
        version = "%d.%d.%d" % sys.version_info[:3]
        self._wire.send(
            f'{{"type":"ready","protocol":{PROTOCOL},"capabilities":{CAPABILITIES},"python":"{version}"}}'
        )

    def _snapshot(self, frame: "dict[str, Any]") -> None:
        key, codec = frame.get("id"), "rich" if frame.get("codec") == "rich" else "json"
        limit = frame.get("max_bytes")
        limit = limit if type(limit) is int else _MAX_SNAPSHOT_BYTES
        data = '{"vars":{},"files":{},"binary":{}}'
        dropped: list[tuple[str, str]] = []
        try:
            try:
                self._wire.begin(key)
                data, dropped = self._snapshots.take(codec, limit)
            finally:
                self._wire.end()
        except BaseException as error:
            dropped = [("everything", _why(error))]
        named = encode([{"name": name, "why": why} for name, why in dropped[:_MAX_FILES]])
        parts = (encode(key), encode_basestring(data), named, codec)
        self._wire.send('{"type":"snapshot_result","id":%s,"data":%s,"dropped":%s,"codec":"%s"}' % parts)

    def _restore(self, frame: "dict[str, Any]") -> None:
        key, data = frame.get("id"), frame.get("data")
        try:
            try:
                self._wire.begin(key)
                codec = "rich" if frame.get("codec") == "rich" else "json"
                error = self._snapshots.restore(data if isinstance(data, str) else "", codec)
            finally:
                self._wire.end()
        except BaseException as failure:
            error = f"not restored: {_why(failure)}"
        self._answer(key, error and _clean(error))

    def _reset(self, frame: "dict[str, Any]") -> None:
        """Restore the state after `init`."""
        self._cells.forget()
        self._scratch.empty()
        sys.path[:] = self._path
        folder, environ = self._start
        posix.chdir(folder)
        if "os" in sys.modules:
            os: Any = sys.modules["os"]
            os.environb.clear()
            os.environb.update(environ)
        import gc

        gc.collect()
        self._output.taken()
        self._wire.send(
            '{"type":"reset_result","id":%s,"threads":%d}' % (encode(frame.get("id")), _thread._count())
        )

    def _spare_descriptors(self) -> None:
        """Make `os.closerange`, which programs use to close unknown descriptors, skip ours."""
        close_range = posix.closerange

        def closerange(fd_low: int, fd_high: int, /) -> None:
            ours = () if self._wire.is_child else (self._wire.source, self._wire.sink, self._output.real)
            for one in sorted(ours):
                if fd_low <= one < fd_high:
                    close_range(fd_low, one)
                    fd_low = one + 1
            close_range(fd_low, fd_high)

        for name in ("posix", "os"):
            if name in sys.modules:
                sys.modules[name].closerange = closerange  # type: ignore[attr-defined]

    def _before_fork(self) -> None:
        try:
            self._output.stdout.flush()
        except (OSError, ValueError):
            return

    def _leave(self, *ours: int) -> None:
        """Close the wire in a forked child."""
        self._wire.is_child = True
        for one in ours:
            try:
                posix.close(one)
            except OSError:
                continue

    def _end(self) -> None:
        """End the process without waiting for threads that cells have left behind."""
        atexit: Any = sys.modules.get("atexit")
        if atexit is not None:
            atexit._run_exitfuncs()
        self._before_fork()
        self._scratch.close()
        posix._exit(0)


def _send_notices(descriptor: int) -> None:
    """Have the system send our signal to the main thread when there is input."""
    if sys.platform != "linux":
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, posix.getpid())
        return
    owner = (0).to_bytes(4, sys.byteorder) + _thread.get_native_id().to_bytes(4, sys.byteorder)
    fcntl.fcntl(descriptor, _SET_OWNER_THREAD, owner)
    fcntl.fcntl(descriptor, _SET_SIGNAL, _NOTICE)


def main() -> None:
    """Serve the host on stdin and stdout."""
    first = sys.path[0] if sys.path else None
    if first == "" or first == _HERE.rpartition("/")[0]:
        del sys.path[0]
    places = [number for number, one in enumerate(sys.path) if "-packages" in one]
    sys.path.insert(places[0] if places else len(sys.path), "")
    sys.meta_path.append(SiteFinder())
    sys.argv[:] = [""]
    Guest().serve()


if __name__ == "__main__":
    main()
