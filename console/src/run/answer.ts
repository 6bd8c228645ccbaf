/** A piece of an answer's text: plain, or an answer that stood in braces. */
export type Piece = { text: string; answer: boolean };

/**
 * Splits an answer's text where the model put answers into braces. A brace
 * that is not closed yet opens an answer all the same: it is being written.
 */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let rest = text;
  while (rest !== "") {
    const open = rest.indexOf("{");
    if (open < 0) {
      found.push({ text: rest, answer: false });
      break;
    }
    if (open > 0) {
      found.push({ text: rest.slice(0, open), answer: false });
    }
    const close = rest.indexOf("}", open);
    const inside = rest.slice(open + 1, close < 0 ? undefined : close);
    if (inside !== "") {
      found.push({ text: inside, answer: true });
    }
    rest = close < 0 ? "" : rest.slice(close + 1);
  }
  return found;
}
