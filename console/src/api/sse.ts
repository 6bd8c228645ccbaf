/** One server-sent event. */
export type ServerEvent = {
  /** Its name; "message" where it has none. */
  event: string;
  /** Its data, lines joined by line feeds. */
  data: string;
};

/**
 * Reads server-sent events (WHATWG HTML §9.2) out of text that comes in pieces
 * cut anywhere. An event without data is none; one that the end cuts off is
 * lost, as the standard has it. Ids and retry times are of no use here: a
 * question is not asked again behind its reader's back.
 */
export class EventParser {
  #line = "";
  #afterReturn = false;
  #atStart = true;
  #event = "";
  #data: string[] = [];

  /** Takes the next piece and returns the events that it ends. */
  push(piece: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    let start = 0;
    let text = piece;
    if (this.#atStart && text !== "") {
      this.#atStart = false;
      text = text.replace(/^\uFEFF/, "");
    }
    if (this.#afterReturn && text !== "") {
      this.#afterReturn = false;
      // The line feed of a line end that was cut in two.
      start = text.startsWith("\n") ? 1 : 0;
    }
    while (start < text.length) {
      const end = lineEnd(text, start);
      if (end < 0) {
        this.#line += text.slice(start);
        break;
      }
      const event = this.#take(this.#line + text.slice(start, end));
      if (event) {
        events.push(event);
      }
      this.#line = "";
      start = end + 1;
      if (text[end] === "\r") {
        if (text[start] === "\n") {
          start++;
        } else if (start === text.length) {
          this.#afterReturn = true;
        }
      }
    }
    return events;
  }

  // Takes a whole line; an empty one ends an event.
  #take(line: string): ServerEvent | undefined {
    if (line === "") {
      const event = { event: this.#event || "message", data: this.#data.join("\n") };
      const whole = this.#data.length > 0;
      this.#event = "";
      this.#data = [];
      return whole ? event : undefined;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") {
      this.#event = value;
    } else if (field === "data") {
      this.#data.push(value);
    }
    return undefined;
  }
}

/** The events of a response's body, as they come. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    // A reader who leaves early tells the mesh, which ends the question.
    await reader.cancel().catch(() => undefined);
  }
}

function lineEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\n" || text[i] === "\r") {
      return i;
    }
  }
  return -1;
}
