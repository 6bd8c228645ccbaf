/** A moment in the reader's own words and time zone; empty where there is none. */
export function moment(timestamp: string | undefined): string {
  const at = timestamp ? new Date(timestamp) : undefined;
  return at && !Number.isNaN(at.getTime())
    ? at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
    : "";
}
