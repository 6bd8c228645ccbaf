/**
 * A text by its characters (Unicode code points), as the mesh counts them.
 * JavaScript counts UTF-16 units, of which "𝒜" and most emoji are two.
 */
export class Characters {
  readonly #text: string;
  /** Where each character begins; undefined where each is one unit. */
  readonly #starts: number[] | undefined;

  constructor(text: string) {
    this.#text = text;
    if (/[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text)) {
      this.#starts = [];
      let at = 0;
      for (const character of text) {
        this.#starts.push(at);
        at += character.length;
      }
    }
  }

  /** How many there are. */
  get length(): number {
    return this.#starts ? this.#starts.length : this.#text.length;
  }

  /** Those from start up to end; what lies outside the text is left out. */
  slice(start: number, end: number): string {
    return this.#text.slice(this.#unit(start), this.#unit(end));
  }

  #unit(character: number): number {
    if (!this.#starts) {
      return Math.max(0, character);
    }
    return this.#starts[Math.max(0, character)] ?? this.#text.length;
  }
}
