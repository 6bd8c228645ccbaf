import type { Claim, Correction, TextSpan, Verdict } from "../../api/messages";
import { Characters } from "../../format/characters";

/** A part of a text on which the same claims stand. */
export type Segment = {
  text: string;
  /** The claims that stand on it, by their places in the list; none is plain text. */
  claims: number[];
  /** The claims that end with it. */
  ending: number[];
};

/** Cuts a text where claims begin and end. The segments joined are the text. */
export function segmentsOf(text: string, claims: Claim[]): Segment[] {
  const characters = new Characters(text);
  const spans = claims.map((claim) => inside(claim.span, characters.length));
  const cuts = [
    0,
    characters.length,
    ...spans.flatMap((span) => (span ? [span.start, span.end] : [])),
  ];
  const edges = [...new Set(cuts)].sort((a, b) => a - b);
  const segments: Segment[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start = 0, end = 0] = [edges[i], edges[i + 1]];
    segments.push({
      text: characters.slice(start, end),
      claims: placesOf(spans, (span) => span.start <= start && end <= span.end),
      ending: placesOf(spans, (span) => span.end === end),
    });
  }
  return segments;
}

/** The verdict that a text of several claims is shown with: the one to look at first. */
export function foremost(verdicts: (Verdict | undefined)[]): Verdict {
  const order: Verdict[] = ["VERDICT_CONTRADICTED", "VERDICT_NOT_IN_KG", "VERDICT_SUPPORTED"];
  return order.find((verdict) => verdicts.includes(verdict)) ?? "VERDICT_UNSPECIFIED";
}

/** A part of a corrected text. */
export type Change = {
  /** What stands there now. */
  text: string;
  /** The correction that put it there; undefined where nothing was changed. */
  correction?: Correction;
};

/** Cuts a corrected text where it was changed. The parts' texts joined are the text. */
export function changesOf(corrected: string, corrections: Correction[]): Change[] {
  const characters = new Characters(corrected);
  const parts: Change[] = [];
  let at = 0;
  for (const correction of corrections) {
    const start = correction.correctedSpan?.start ?? 0;
    const end = correction.correctedSpan?.end ?? 0;
    if (start < at || end < start || end > characters.length) {
      continue; // it lies over another, or outside the text: there is no showing it
    }
    if (start > at) {
      parts.push({ text: characters.slice(at, start) });
    }
    parts.push({ text: characters.slice(start, end), correction });
    at = end;
  }
  if (at < characters.length) {
    parts.push({ text: characters.slice(at, characters.length) });
  }
  return parts;
}

type Span = { start: number; end: number };

// A span within a text; undefined where nothing of the text is in it.
function inside(span: TextSpan | undefined, length: number): Span | undefined {
  const start = Math.min(span?.start ?? 0, length);
  const end = Math.min(span?.end ?? 0, length);
  return start < end ? { start, end } : undefined;
}

function placesOf(spans: (Span | undefined)[], test: (span: Span) => boolean): number[] {
  return spans.flatMap((span, place) => (span && test(span) ? [place] : []));
}
