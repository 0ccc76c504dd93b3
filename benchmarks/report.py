"""What the rounds add up to, as values, as a table and as JSON."""
import statistics
from dataclasses import asdict

COLUMNS = ["row", "figure", "ours", "other", "against", "value", "spread", "goal", "met", "instructions"]


def judge(goal, rounds, instructions):
    """One row of the table. `rounds`: for each, the figures of every side, or why there are none."""
    row = {"row": goal.row, "figure": goal.figure, "against": goal.against or "", "goal": goal.bound(), "met": False}
    try:
        ours = [sides["ours"][goal.name] for sides in rounds]
        if goal.against:
            other = [sides[goal.against][goal.name] for sides in rounds]
            values = [mine / theirs for mine, theirs in zip(ours, other)]
            row["other"] = statistics.median(other)
        else:
            values = [mine / goal.unit for mine in ours]
    except (KeyError, TypeError):
        return {**row, "not_run": next((side for sides in rounds for side in sides.values() if isinstance(side, str)),
                                       "no figure")}
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    value = statistics.median(values)
    row.update(ours=statistics.median(ours) / goal.unit, value=value, quartiles=[quartiles[0], quartiles[2]],
               rounds=len(values), met=goal.is_met(value))
    counted = [instructions.get(side) for side in ("ours", goal.against)]
    if all(counted):
        row["instructions"] = counted[0] / counted[1]
    return row


def number(value):
    if value is None:
        return ""
    if abs(value) >= 1e9:
        return f"{value / 1e9:.2f} G"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.1f} M"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(row):
    shown = dict.fromkeys(COLUMNS, "")
    shown.update(row=row["row"], figure=row["figure"], against=row["against"], goal=row["goal"],
                 met="yes" if row["met"] else "no")
    if "not_run" in row:
        shown["value"] = "not run: " + row["not_run"]
    else:
        low, high = row["quartiles"]
        shown.update(ours=number(row["ours"]), other=number(row.get("other")), value=f"{row['value']:.2f}",
                     spread=f"{low:.2f}..{high:.2f}")
        if "instructions" in row:
            shown["instructions"] = f"{row['instructions']:.2f}"
    return [shown[column] for column in COLUMNS]


def table(rows):
    lines = [COLUMNS] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def summary(rows):
    return f"{sum(row['met'] for row in rows)} of {len(rows)} goals met"


def as_data(goals, rows, rounds, instructions, machine):
    return {"machine": machine, "summary": summary(rows), "rows": rows, "goals": [asdict(goal) for goal in goals],
            "rounds": rounds, "instructions": instructions}
