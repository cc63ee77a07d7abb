"""Which kinds of sandbox work on this machine."""

from pathlib import Path

from bridle.sandbox.probe import find_status


def test_without_bubblewrap_the_next_best_is_used_and_said(tmp_path: Path):
    status = find_status(places=(str(tmp_path),))

    assert status.kind in ("landlock", "none")
    assert status.why.startswith("bubblewrap is not installed (install bubblewrap: ")


def test_a_bubblewrap_that_does_not_work_is_not_used(tmp_path: Path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    program.chmod(0o755)

    status = find_status(places=(str(tmp_path),))

    assert status.kind in ("landlock", "none")
    assert status.why.startswith("bubblewrap does not work: no namespaces")


def test_a_mount_that_vanishes_while_bubblewrap_starts_does_not_count(tmp_path: Path):
    program = tmp_path / "bwrap"
    program.write_text(
        "#!/bin/sh\n"
        f"[ -e {tmp_path}/tried ] && exit 0\n"
        f"touch {tmp_path}/tried\n"
        'echo "bwrap: Can\'t bind mount /oldroot/ on /newroot/: Unable to apply mount flags" >&2; exit 1\n'
    )
    program.chmod(0o755)

    assert find_status(places=(str(tmp_path),)).kind == "bubblewrap"


def test_one_that_works_is_tried_once_and_another_in_its_place_again(tmp_path: Path):
    program, tried = tmp_path / "bwrap", tmp_path / "tried"
    program.write_text(f"#!/bin/sh\necho x >> {tried}\n")
    program.chmod(0o755)
    kinds = [find_status(places=(str(tmp_path),)).kind for _ in range(3)]
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    other.chmod(0o755)
    other.rename(program)

    assert (kinds, tried.read_text()) == (["bubblewrap"] * 3, "x\n")
    assert find_status(places=(str(tmp_path),)).why.startswith("bubblewrap does not work: no namespaces")


def test_one_that_does_not_work_is_tried_again(tmp_path: Path):
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n[ -e {tmp_path}/allowed ]\n")
    program.chmod(0o755)

    before = {find_status(places=(str(tmp_path),)).kind for _ in range(3)}
    (tmp_path / "allowed").touch()

    assert "bubblewrap" not in before
    assert find_status(places=(str(tmp_path),)).kind == "bubblewrap"
