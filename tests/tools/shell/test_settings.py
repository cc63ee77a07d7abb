"""Commands get no secrets and no sockets."""

from bridle.tools.shell.settings import FORCED, command_environment


def test_what_a_command_gets():
    environ = {
        "AWS_REGION": "r",
        "BASH_ENV": "x",
        "BASH_FUNC_f%%": "() { :; }",
        "CDPATH": "/",
        "DATABASE_URL": "postgres://me:pw@db/x",
        "DBUS_SESSION_BUS_ADDRESS": "x",
        "DISPLAY": ":0",
        "EDITOR": "vi",
        "HOME": "/home/me",
        "KEPT_TOKEN": "t",
        "LANG": "de_DE.UTF-8",
        "MY_API_KEY": "k",
        "OLDPWD": "/",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=k",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "x-key=k",
        "PATH": "/bin",
        "PLAIN_URL": "postgres://db/x",
        "SSH_AUTH_SOCK": "/s",
        "VENDOR": "v",
        "XDG_RUNTIME_DIR": "/run/x",
    }

    found = command_environment(environ, secret=("VENDOR",), kept=("KEPT_*",))

    assert found == FORCED | {
        "HOME": "/home/me",
        "KEPT_TOKEN": "t",
        "LANG": "de_DE.UTF-8",
        "PATH": "/bin",
        "PLAIN_URL": "postgres://db/x",
    }


def test_an_empty_environment_is_enough():
    assert command_environment({}) == FORCED | {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}
