"""Codes that work once, and cookies that are recognised."""

from starlette.datastructures import Headers

from bridle.surfaces.web.login import CODE_S, COOKIE_S, MAX_CODES, Logins

TOKEN = "the token of a daemon"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = 1_000_000.0

    def __call__(self) -> float:
        return self.at


def logins(token: str = TOKEN, clock: Clock | None = None) -> Logins:
    clock = clock or Clock()
    return Logins(token, now=clock, passed=clock)


def sent(*cookies: str) -> Headers:
    """Make the headers of a browser that was given cookies."""
    return Headers({"cookie": "; ".join(cookie.partition(";")[0] for cookie in cookies)})


def test_a_code_works_once():
    here = logins()
    first, second = here.new_code(), here.new_code()

    assert first != second
    assert len(first) == 43, "256 bits"
    assert [here.take_code(first), here.take_code(first), here.take_code(second)] == [True, False, True]


def test_a_code_works_for_five_minutes():
    clock = Clock()
    here = logins(clock=clock)
    early, late = here.new_code(), here.new_code()

    clock.at += CODE_S - 1
    assert here.take_code(early)
    clock.at += 1
    assert not here.take_code(late)


def test_of_many_codes_the_oldest_stop_to_work():
    here = logins()
    codes = [here.new_code() for _ in range(MAX_CODES + 2)]

    assert [here.take_code(code) for code in codes] == [False] * 2 + [True] * MAX_CODES


def test_what_is_no_code_is_not_taken():
    here = logins()
    here.new_code()

    assert [here.take_code(code) for code in ("", "x", "é", "\udcff", "\0", "A" * 43)] == [False] * 6


def test_a_cookie_is_for_this_page_alone():
    here = logins()

    value, *attributes = here.new_cookie().split("; ")
    assert value.startswith(f"{here.cookie}=")
    assert attributes == ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=604800"]
    assert here.no_cookie() == f"{here.cookie}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0"


def test_a_cookie_outlives_the_daemon_and_dies_with_the_token():
    clock = Clock()
    cookie = logins(clock=clock).new_cookie()
    again, other = logins(clock=clock), logins("another token", clock)

    assert again.of(sent(cookie)) == "good"
    assert other.of(sent(cookie)) == "none"
    stolen = cookie.replace(again.cookie, other.cookie)
    assert other.of(sent(stolen)) == "wrong"


def test_a_cookie_ends_after_a_week_though_the_browser_keeps_it():
    clock = Clock()
    here = logins(clock=clock)
    cookie = here.new_cookie()

    clock.at += COOKIE_S - 1
    assert here.of(sent(cookie)) == "good"
    clock.at += 1
    assert here.of(sent(cookie)) == "expired"
    assert here.of(sent(cookie.replace("=1", "=2", 1))) == "wrong", "its end is signed"


def test_a_login_that_was_ended_is_over_and_others_are_not():
    clock = Clock()
    here = logins(clock=clock)
    mine, other = here.new_cookie(), here.new_cookie()

    here.end(sent(f"{here.cookie}=1.00"))
    assert [here.of(sent(cookie)) for cookie in (mine, other)] == ["good", "good"], "a wrong one ends nothing"
    here.end(sent(mine))
    assert [here.of(sent(cookie)) for cookie in (mine, other)] == ["expired", "good"]
    assert logins(clock=clock).of(sent(mine)) == "good", "a new daemon knows nothing of it"


def test_cookies_of_others_change_nothing():
    here = logins()
    cookie = here.new_cookie()
    wrong = f"{here.cookie}=1.00"

    assert here.of(Headers({})) == "none"
    assert here.of(sent("other=1", cookie, "more=2")) == "good"
    assert here.of(sent(wrong, cookie)) == "good", "a page at another port has set one of the same name"
    assert here.of(sent(wrong, "x=1")) == "wrong"
    assert here.of(sent(*[wrong] * 100, cookie)) == "wrong", "only some are looked at"


def test_what_is_no_cookie_of_ours_is_wrong():
    here = logins()
    signature = here.new_cookie().partition(";")[0].partition(".")[2]
    values = ["", ".", "1", f".{signature}", f"x.{signature}", f"-1.{signature}", "²." + signature]
    values += [f"{'9' * 5000}.{signature}", f"1e9.{signature}", "é.é", f"1.{signature} "]

    assert {here.of(Headers({"cookie": f"{here.cookie}={value}"})) for value in values} == {"wrong"}
