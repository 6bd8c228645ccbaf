/** How many bytes become characters at once: a call takes no more arguments than some ten thousand. */
const step = 8192;

/** The bytes of a blob in base64, which is how JSON has bytes. */
export async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += step) {
    text += String.fromCharCode(...bytes.subarray(at, at + step));
  }
  return btoa(text);
}
