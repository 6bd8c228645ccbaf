/** The part of an address behind "?", with its mark; what is empty is left out. */
export function query(fields: Record<string, string | number | boolean | undefined>): string {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return kept.length
    ? `?${new URLSearchParams(kept.map(([name, value]) => [name, String(value)]))}`
    : "";
}
