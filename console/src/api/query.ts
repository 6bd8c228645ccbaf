type Value = string | number | boolean | undefined;

/**
 * The part of an address behind "?", with its mark. Empty values are left out,
 * and a list is one field for each of its values.
 */
export function query(fields: Record<string, Value | string[]>): string {
  const given = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => [name, String(value ?? "")]),
  );
  const kept = given.filter(([, value]) => value !== "");
  return kept.length ? `?${new URLSearchParams(kept)}` : "";
}
