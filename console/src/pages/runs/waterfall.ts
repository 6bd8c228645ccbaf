import type { Span } from "../../api/messages";
import { milliseconds } from "../../format/quantity";

/** A span in its place under its parent. */
export type Bar = {
  span: Span;
  /** How many spans it lies in. */
  depth: number;
  /** Where it begins and how long it is, as parts of the whole trace, 0 to 1. */
  start: number;
  length: number;
};

/** Puts spans in order: each behind its parent, those of one parent by time. */
export function barsOf(spans: Span[]): Bar[] {
  const known = new Set(spans.map((span) => span.spanId));
  const below = new Map<string, Span[]>();
  for (const span of spans) {
    const parent = span.parentSpanId ?? "";
    // One whose parent was lost, or that names itself, stands at the top.
    const under = known.has(parent) && parent !== span.spanId ? parent : "";
    below.set(under, [...(below.get(under) ?? []), span]);
  }
  const starts = spans.map(began);
  const first = Math.min(...starts);
  const whole = Math.max(...spans.map((s) => began(s) + milliseconds(s.duration))) - first || 1;
  const bars: Bar[] = [];
  const walk = (parent: string, depth: number) => {
    const children = below.get(parent) ?? [];
    below.delete(parent); // spans that name each other cannot go round
    for (const span of children.sort((a, b) => began(a) - began(b))) {
      const start = (began(span) - first) / whole;
      bars.push({ span, depth, start, length: milliseconds(span.duration) / whole });
      walk(span.spanId ?? "", depth + 1);
    }
  };
  walk("", 0);
  return bars;
}

function began(span: Span): number {
  return precise(span.startTime);
}

// A timestamp in milliseconds, with the parts of one that Date leaves out.
function precise(timestamp: string | undefined): number {
  const parts = /^(.*:\d\d)(\.\d+)?(Z|[+-].*)$/.exec(timestamp ?? "");
  const whole = Date.parse(parts ? `${parts[1]}${parts[3]}` : (timestamp ?? ""));
  return Number.isNaN(whole) ? 0 : whole + Number(parts?.[2] ?? 0) * 1000;
}
