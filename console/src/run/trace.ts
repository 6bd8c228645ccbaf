/**
 * Where a trace can be looked at, by the address the operator gave with
 * "{trace_id}" in it; undefined where there is none, or where it is no address
 * of the web: an operator's typo must not become a script.
 */
export function traceLink(
  template: string | undefined,
  traceId: string | undefined,
): string | undefined {
  if (!template || !traceId || !URL.canParse(template)) {
    return undefined;
  }
  return ["http:", "https:"].includes(new URL(template).protocol)
    ? template.replaceAll("{trace_id}", encodeURIComponent(traceId))
    : undefined;
}
