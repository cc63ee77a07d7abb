import io
import logging

from bridle.surfaces.cli.output.log import LogFormatter, escape_last_resort, stderr_handler


def test_what_is_logged_before_logging_is_set_up_is_clean():
    escape_last_resort()

    assert logging.lastResort is not None
    assert isinstance(logging.lastResort.formatter, LogFormatter)


def test_a_handler_writes_names_made_visible():
    handler = stderr_handler("%(name)s: %(message)s")
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(written := io.StringIO())

    handler.handle(logging.makeLogRecord({"name": "a", "msg": "server \x1b[2J"}))

    assert written.getvalue() == "a: server \\x1b[2J\n"
