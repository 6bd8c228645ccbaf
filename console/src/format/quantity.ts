/** A number as protojson has it: floats may be names, 64-bit integers are strings, zero is left out. */
export type JsonNumber = number | string | undefined;

/** The number; 0 where there is none. */
export function toNumber(value: JsonNumber): number {
  const n = Number(value ?? 0);
  return Number.isNaN(n) ? 0 : n;
}

/** A cosine, a confidence or a probability: "0.83". */
export function score(value: JsonNumber): string {
  return toNumber(value).toFixed(2);
}

/** A share: 0.834 is "83 %". */
export function percent(value: JsonNumber): string {
  return `${Math.round(toNumber(value) * 100)} %`;
}

/** A protojson duration ("1.5s") in milliseconds. */
export function milliseconds(duration: string | undefined): number {
  return duration?.endsWith("s") ? toNumber(duration.slice(0, -1)) * 1000 : 0;
}

/** A time span as a person reads it: "12 ms", "1.5 s", "2 min 5 s". */
export function elapsed(ms: number): string {
  if (ms < 1) {
    return ms > 0 ? "< 1 ms" : "0 ms";
  }
  if (ms < 999.5) {
    return `${Math.round(ms)} ms`;
  }
  if (ms < 59_950) {
    return `${(ms / 1000).toFixed(1)} s`;
  }
  const seconds = Math.round(ms / 1000);
  return seconds % 60 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${seconds / 60} min`;
}

/** US dollars; small sums keep two digits that say something. */
export function dollars(value: JsonNumber): string {
  const usd = toNumber(value);
  if (usd === 0 || usd >= 0.01) {
    return `$${usd.toFixed(2)}`;
  }
  return `$${usd.toPrecision(2)}`;
}

/** A size: "1.5 MB". */
export function bytes(value: JsonNumber): string {
  let n = toNumber(value);
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 999.5) {
      return unit === "B" || n >= 99.5 ? `${Math.round(n)} ${unit}` : `${n.toFixed(1)} ${unit}`;
    }
    n /= 1000;
  }
  return `${n.toFixed(1)} TB`;
}
