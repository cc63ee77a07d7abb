"""Unified diffs as text, for previews.

```
--- P                    three lines of context; counts are always written; changes with
+++ P                    at most six unchanged lines between them share a hunk;
@@ -2,7 +2,7 @@          no marker for a missing newline at the end
```

Lines are matched with a table of longest common subsequences; the way it breaks ties decides how the
diff looks. The table grows with the product of both sides, so it is used only while it stays small. A
larger region is first divided at the lines that occur once on each side, which needs no table; a part
that is still too large is shown as replaced. Of long texts, only the part between their common start and
end is compared. When even that part has too many lines, some of its lines are shown without comparison.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

CONTEXT_LINES = 3
MAX_CELLS = 1_000_000  # 0.2 s and 1 MB
MAX_NEW_LINES = 1000
MAX_LINES = 400_000  # both sides together, 0.5 s
_LONG = 200_000  # characters, both texts together
_CHUNK = 1 << 16


class Region(Struct, frozen=True, gc=False):
    """Lines `top:bottom` of the old text against lines `left:right` of the new one."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def cells(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)


def unified_diff(old: str, new: str, path: str) -> str:
    """Return the diff between an existing file and its new text; empty when no line differs."""
    if not old:
        return new_file_diff(new, path)
    skipped = 0
    if len(old) + len(new) > _LONG:
        start, cut = _around_change(old, new)
        skipped = old.count("\n", 0, start)
        old, new = old[start : len(old) - cut], new[start : len(new) - cut]
    old_lines, new_lines = _split(old), _split(new)
    if old_lines == new_lines:
        return ""
    pieces = [f"--- {path}\n+++ {path}\n"]
    if len(old_lines) + len(new_lines) > MAX_LINES:
        pieces.extend(_format_coarsely(old_lines, new_lines, skipped))
        return "".join(pieces)
    for hunk in _hunks(changed_regions(old_lines, new_lines)):
        pieces.extend(_format_hunk(hunk, old_lines, new_lines, skipped))
    return "".join(pieces)


def new_file_diff(content: str, path: str, max_lines: int = MAX_NEW_LINES) -> str:
    """Return the diff of a file that does not exist yet; of a long one, only its start and end."""
    lines = _split(content)
    total = len(lines)
    if not total:
        return ""
    header = f"--- /dev/null\n+++ {path}\n"
    if total <= max_lines:
        return f"{header}@@ -0,0 +1,{total} @@\n{_marked('+', lines)}"
    head = max_lines * 2 // 3
    tail = max_lines - head
    return (
        f"{header}@@ -0,0 +1,{head} @@ (showing {head} of {total} lines)\n{_marked('+', lines[:head])}"
        f"@@ ... {total - max_lines} lines omitted ... @@\n"
        f"@@ -0,0 +{total - tail + 1},{tail} @@\n{_marked('+', lines[total - tail :])}"
    )


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _marked(mark: str, lines: Sequence[str]) -> str:
    return "".join(f"{mark}{line}\n" for line in lines)


def _hunks(changes: Sequence[Region]) -> Iterator[list[Region]]:
    hunk: list[Region] = []
    for change in changes:
        if hunk and change.top - hunk[-1].bottom > 2 * CONTEXT_LINES:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _format_hunk(
    hunk: Sequence[Region], old: Sequence[str], new: Sequence[str], skipped: int
) -> Iterator[str]:
    before = min(CONTEXT_LINES, hunk[0].top)
    after = min(CONTEXT_LINES, len(old) - hunk[-1].bottom)
    top, bottom = hunk[0].top - before, hunk[-1].bottom + after
    left, right = hunk[0].left - before, hunk[-1].right + after
    yield f"@@ -{skipped + top + 1},{bottom - top} +{skipped + left + 1},{right - left} @@\n"
    for change in hunk:
        yield _marked(" ", old[top : change.top])
        yield _marked("-", old[change.top : change.bottom])
        yield _marked("+", new[change.left : change.right])
        top = change.bottom
    yield _marked(" ", old[top:bottom])


def _format_coarsely(old: Sequence[str], new: Sequence[str], skipped: int) -> Iterator[str]:
    yield f"@@ -{skipped + 1},{len(old)} +{skipped + 1},{len(new)} @@ (too many lines to be compared)\n"
    for mark, lines in (("-", old), ("+", new)):
        omitted = len(lines) - MAX_NEW_LINES
        if omitted <= 0:
            yield _marked(mark, lines)
            continue
        head = MAX_NEW_LINES * 2 // 3
        yield _marked(mark, lines[:head])
        yield f"@@ ... {omitted} lines omitted ... @@\n"
        yield _marked(mark, lines[head + omitted :])


# ---------------------------------------------------------------------------- changed regions


def _around_change(old: str, new: str) -> tuple[int, int]:
    """Return how many equal characters come before and after all changes and their context lines."""
    size = min(len(old), len(new))
    same = _same_length(size, lambda start, end: old[start:end] == new[start:end])
    start = old.rfind("\n", 0, same) + 1
    for _ in range(CONTEXT_LINES):
        start = old.rfind("\n", 0, max(0, start - 1)) + 1
    old_size, new_size = len(old), len(new)
    ending = _same_length(
        size - same,
        lambda start, end: old[old_size - end : old_size - start] == new[new_size - end : new_size - start],
    )
    end = old_size - ending
    for _ in range(CONTEXT_LINES + 1):
        end = old.find("\n", end) + 1
        if not end:
            return start, 0
    return start, old_size - end


def _same_length(size: int, is_same: Callable[[int, int], bool]) -> int:
    """Return the length of the equal part of two texts, found by comparing pieces of them."""
    known, step = 0, _CHUNK
    while step:
        while known + step <= size and is_same(known, known + step):
            known += step
        step //= 2
    return known


def changed_regions(old: list[str], new: list[str], *, max_cells: int = MAX_CELLS) -> list[Region]:
    """Return the differing regions in order; at least one common line separates any two."""
    whole = _without_same_end(Region(0, len(old), 0, len(new)), old, new)
    if whole.cells > max_cells:
        whole = _without_same_start(whole, old, new)
    if whole.cells <= max_cells:
        return list(_by_table(whole, old, new))
    return list(_by_anchors(whole, old, new, max_cells))


def _without_same_end(region: Region, old: list[str], new: list[str]) -> Region:
    bottom, right = region.bottom, region.right
    while bottom > region.top and right > region.left and old[bottom - 1] == new[right - 1]:
        bottom -= 1
        right -= 1
    return Region(region.top, bottom, region.left, right)


def _without_same_start(region: Region, old: list[str], new: list[str]) -> Region:
    top, left = region.top, region.left
    while top < region.bottom and left < region.right and old[top] == new[left]:
        top += 1
        left += 1
    return Region(top, region.bottom, left, region.right)


def _by_anchors(region: Region, old: list[str], new: list[str], cells_left: int) -> Iterator[Region]:
    """Divide a region at lines that are unique on both sides, and compare the parts between them."""
    top, left = region.top, region.left
    for row, column in [*_anchors(region, old, new), (region.bottom, region.right)]:
        gap = _without_same_end(Region(top, row, left, column), old, new)
        gap = _without_same_start(gap, old, new)
        top, left = row + 1, column + 1
        if gap.cells > cells_left:
            yield gap
            continue
        cells_left -= gap.cells
        yield from _by_table(gap, old, new)


def _anchors(region: Region, old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest chain, in order on both sides, of lines that occur once on each side."""
    old_counts = Counter(old[region.top : region.bottom])
    new_counts = Counter(new[region.left : region.right])
    columns = {
        new[column]: column for column in range(region.left, region.right) if new_counts[new[column]] == 1
    }
    pairs = [
        (row, columns[old[row]])
        for row in range(region.top, region.bottom)
        if old[row] in columns and old_counts[old[row]] == 1
    ]
    ends: list[int] = []  # for each length, the lowest column that ends a chain
    last: list[int] = []  # the pair that column belongs to
    previous: list[int] = []
    for index, (_, column) in enumerate(pairs):
        length = bisect_left(ends, column)
        previous.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [column]
        last[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _by_table(region: Region, old: list[str], new: list[str]) -> Iterator[Region]:
    """Compare with a table of longest common subsequences; on a tie, added lines follow removed ones."""
    numbers: dict[str, int] = {}
    rows = [numbers.setdefault(line, len(numbers)) for line in old[region.top : region.bottom]]
    columns = [numbers.setdefault(line, len(numbers)) for line in new[region.left : region.right]]
    removed = _fill_table(rows, columns)
    changes: list[Region] = []
    row = bottom = len(rows)
    column = right = len(columns)
    while row or column:
        if row and column and rows[row - 1] == columns[column - 1]:
            changes.append(Region(row, bottom, column, right))
            row = bottom = row - 1
            column = right = column - 1
        elif not column or (row and removed[row - 1][column - 1]):
            row -= 1
        else:
            column -= 1
    changes.append(Region(0, bottom, 0, right))
    for change in reversed(changes):
        if change.bottom > change.top or change.right > change.left:
            yield Region(
                change.top + region.top,
                change.bottom + region.top,
                change.left + region.left,
                change.right + region.left,
            )


def _fill_table(rows: Sequence[int], columns: Sequence[int]) -> list[bytearray]:
    """Return, per row and column, 1 if dropping the row keeps more common lines than dropping the column."""
    removed = []
    above = [0] * (len(columns) + 1)
    for row in rows:
        marks = bytearray(len(columns))
        here = [0]
        best = 0
        for index, column in enumerate(columns):
            if row == column:
                best = above[index] + 1
            elif above[index + 1] > best:
                best = above[index + 1]
                marks[index] = 1
            here.append(best)
        removed.append(marks)
        above = here
    return removed
