import { expect, test } from "vitest";
import type { Span } from "../../api/messages";
import { barsOf } from "./waterfall";

const span = (spanId: string, parentSpanId: string, at: number, ms: number): Span => ({
  spanId,
  parentSpanId,
  startTime: new Date(Date.UTC(2026, 4, 1) + at).toISOString(),
  duration: `${ms / 1000}s`,
});

test.each<[string, Span[], [string, number, number, number][]]>([
  ["no spans", [], []],
  [
    "a tree, by time",
    [span("c", "a", 60, 40), span("a", "", 0, 100), span("b", "a", 10, 40), span("d", "b", 20, 10)],
    [
      ["a", 0, 0, 1],
      ["b", 1, 0.1, 0.4],
      ["d", 2, 0.2, 0.1],
      ["c", 1, 0.6, 0.4],
    ],
  ],
  ["a parent that was lost", [span("b", "a", 0, 100)], [["b", 0, 0, 1]]],
  ["a span that is its own parent", [span("a", "a", 0, 100)], [["a", 0, 0, 1]]],
  [
    "spans that are each other's parents are left out, and the rest is shown",
    [span("a", "b", 0, 50), span("b", "a", 0, 50), span("c", "", 0, 100)],
    [["c", 0, 0, 1]],
  ],
  [
    "spans without times",
    [{ spanId: "a" }, { spanId: "b" }],
    [
      ["a", 0, 0, 0],
      ["b", 0, 0, 0],
    ],
  ],
])("%s", (_, spans, want) => {
  const bars = barsOf(spans).map((bar) => [bar.span.spanId, bar.depth, bar.start, bar.length]);
  expect(bars).toEqual(want);
});

test("parts of milliseconds count", () => {
  const bars = barsOf([
    { spanId: "a", startTime: "2026-05-01T00:00:00.000200Z", duration: "0.000800s" },
    { spanId: "b", startTime: "2026-05-01T00:00:00.000600Z", duration: "0.000400s" },
  ]);
  expect(bars[1]?.start).toBeCloseTo(0.5, 2);
});
