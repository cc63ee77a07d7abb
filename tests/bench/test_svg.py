"""Charts are well-formed, in order, and readable on light and dark pages."""

from xml.etree import ElementTree

from report.svg import OTHERS, OURS, bars, line

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawn: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(drawn).iter(f"{SVG}text")]


def test_bars_stand_in_order_and_ours_has_its_colour():
    drawn = bars("start & end", "ms", [("other <1>", 40.0), ("Bridle", 10.0)], mine="Bridle")

    assert texts(drawn) == ["start & end, ms: less is better", "Bridle", "10.0", "other <1>", "40.0"]
    rects = list(ElementTree.fromstring(drawn).iter(f"{SVG}rect"))
    assert [rect.get("fill") for rect in rects] == [OURS, OTHERS]
    short, long = (float(rect.get("width") or 0) for rect in rects)
    assert abs(long / short - 4) < 0.01


def test_bars_of_nothing_can_be_drawn():
    assert texts(bars("nothing", "MB", [("Bridle", 0.0)], mine="Bridle"))[-1] == "0"


def test_a_line_is_straight_where_a_power_is_drawn():
    drawn = line("a turn", "messages", "ms", [(10, 1.0), (100, 10.0), (1_000, 100.0)])

    [polyline] = ElementTree.fromstring(drawn).iter(f"{SVG}polyline")
    places = [tuple(map(float, pair.split(","))) for pair in (polyline.get("points") or "").split()]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert abs((y1 - y0) / (x1 - x0) - (y2 - y1) / (x2 - x1)) < 0.01
    assert x0 < x1 < x2
    assert y0 > y1 > y2


def test_a_line_says_its_sizes_and_costs():
    drawn = line("a turn", "messages", "ms", [(10, 2.0), (1_000, 2.0)])

    assert texts(drawn) == ["a turn, ms", "1", "10", "2.00", "10", "2.00", "1,000", "messages"]
