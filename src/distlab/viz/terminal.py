"""A run in characters, for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

from distlab.records.events import RAISED, RETURNED, RankRecord
from distlab.records.pairing import Pairs, either
from distlab.records.wording import call_text, collective_text, duration, payload_text, value_text
from distlab.viz.layout import closing, lay_out

_LEGEND = "S send, R recv, C collective, ─ computing, ░ waiting, ? not finished, ■ end, ✕ raised"
_LISTED = 20  # messages and collectives listed, of each
_END = {RETURNED: "■", RAISED: "✕"}


def draw(
    records: Sequence[RankRecord], pairs: Pairs, width: int, title: str | None, summary: str
) -> str:
    """Rows of ranks, time to the right; then messages and collectives in their order."""
    laid = lay_out(records, pairs, 8.0 * width)
    left = laid.scale(laid.scale.begin)
    columns = max(10, width - 10)
    per_column = max(laid.scale.width, 1.0) / (columns - 1)

    def column(x: float) -> int:
        return min(columns - 1, max(0, int((x - left) / per_column)))

    lines = [title] if title else []
    lines += _wrapped(summary, width)
    lines.append("")
    for record in records:
        cells = [" "] * columns
        if record.begin:
            end = laid.scale(closing(record, laid.horizon))
            for i in range(column(laid.scale(record.begin)), column(end) + 1):
                cells[i] = "─"
        for span in laid.waits[record.rank]:
            open_ = any(not e.done for e in span.items)
            for i in range(column(span.x0), column(span.x1) + 1):
                cells[i] = "?" if open_ else "░"
        for event in record.events:
            letter = {"send": "S", "recv": "R"}.get(event.op, "C" if event.is_collective else "")
            if letter:
                cells[column(laid.scale(event.begin))] = letter
        if record.end:
            cells[column(laid.scale(record.end))] = _END.get(record.progress, "?")
        lines.append(f"rank {record.rank:<3} " + "".join(cells).rstrip())
    lines += _wrapped(_LEGEND, width)
    lines += _messages(pairs, laid.start) + _collectives(records, pairs, laid.start)
    return "\n".join(lines)


def _messages(pairs: Pairs, start: float) -> list[str]:
    lines = ["", "messages"] if pairs.messages else []
    for send, receive in pairs.messages[:_LISTED]:
        one = either(send, receive)
        src = send.rank if send else one.peer
        dst = one.peer if send else one.rank
        what = " ".join(t for t in (value_text(one), payload_text(one)) if t)
        if send is None:
            fate = f"nothing sent; {call_text(one)} at {one.place}"
        elif receive is None:
            fate = f"never received; {call_text(one)} at {one.place}"
        else:
            until = duration(receive.end - start) if receive.done else "not finished"
            fate = f"{duration(send.begin - start)} → {until}  {send.place} → {receive.place}"
        lines.append(f"  {'any' if src is None else src} → {dst}  {what}  {fate}")
    return lines + _more(len(pairs.messages))


def _collectives(records: Sequence[RankRecord], pairs: Pairs, start: float) -> list[str]:
    lines = ["", "collectives"] if pairs.collectives else []
    for call in pairs.collectives[:_LISTED]:
        ends = [e.end for e in call.calls.values() if e.done]
        until = duration(max(ends) - start) if call.done else "not finished"
        what = "  ".join(t for t in (payload_text(call.first), call.first.place) if t)
        lines.append(
            f"  {collective_text(call, len(records))}  {what}"
            f"  {duration(call.begin - start)} → {until}"
        )
    return lines + _more(len(pairs.collectives))


def _more(count: int) -> list[str]:
    return [f"  … and {count - _LISTED} more"] if count > _LISTED else []


def _wrapped(content: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(content, width)
