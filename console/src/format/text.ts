/** A text cut to at most so many characters, the last of them "…" where it was cut. */
export function clip(text: string, most: number): string {
  // By characters, not UTF-16 units, so that none is cut in two.
  if (text.length <= most) {
    return text;
  }
  const characters = Array.from(text);
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trimEnd()}…`;
}

/** "1 triple", "2 triples". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** A whole number with its thousands apart. */
export function number(n: number): string {
  return n.toLocaleString("en-GB", { maximumFractionDigits: 0 });
}

/** An enum's value in words: ("STAGE_PSEUDO_GRAPH", "STAGE_") is "pseudo graph". */
export function words(value: string | undefined, prefix: string): string {
  if (!value || value === `${prefix}UNSPECIFIED`) {
    return "";
  }
  return (value.startsWith(prefix) ? value.slice(prefix.length) : value)
    .toLowerCase()
    .replaceAll("_", " ");
}

// Control characters, and those that turn the direction of writing around: they
// show nothing themselves, and make a name look like another.
const unseen = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** A text with what cannot be seen in it made visible; line ends and tabs stay. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => (/[\n\r\t]/.test(character) ? character : "\uFFFD"));
}
