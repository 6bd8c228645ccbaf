/**
 * The web address that an id or a provenance is; undefined if it is none. They come out of
 * knowledge graphs, which are untrusted: nothing but http and https becomes a link, and no
 * address with a user name, which can look like one of another site.
 */
export function webAddress(text: string | undefined): string | undefined {
  if (!text || !/^https?:\/\//i.test(text)) {
    return undefined;
  }
  try {
    const url = new URL(text);
    return url.username || url.password ? undefined : url.href;
  } catch {
    return undefined;
  }
}
