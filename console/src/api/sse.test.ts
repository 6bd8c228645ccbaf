import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser, readEvents, type ServerEvent } from "./sse";

const all = (text: string): ServerEvent[] => new EventParser().push(text);

describe("EventParser", () => {
  it.each([
    ["an event with a name and data", "event: run\ndata: {}\n\n", [{ event: "run", data: "{}" }]],
    ["an event without a name is a message", "data: x\n\n", [{ event: "message", data: "x" }]],
    ["lines of data are joined", "data: a\ndata: b\n\n", [{ event: "message", data: "a\nb" }]],
    [
      "one space after the colon goes, a second stays",
      "data:  x\n\n",
      [{ event: "message", data: " x" }],
    ],
    ["no space after the colon is none too few", "data:x\n\n", [{ event: "message", data: "x" }]],
    ["a field without a colon is empty", "data\n\n", [{ event: "message", data: "" }]],
    ["comments are not events", ": alive\n\n: alive\n\n", []],
    [
      "a comment within an event does not end it",
      "data: a\n: b\ndata: c\n\n",
      [{ event: "message", data: "a\nc" }],
    ],
    [
      "a name without data is no event and is forgotten",
      "event: run\n\ndata: x\n\n",
      [{ event: "message", data: "x" }],
    ],
    ["carriage returns end lines", "data: a\r\rdata: b\r\r", two("a", "b")],
    ["both together end one line", "data: a\r\n\r\ndata: b\r\n\r\n", two("a", "b")],
    ["what the end cuts off is lost", "data: a\n\ndata: b\n", [{ event: "message", data: "a" }]],
    [
      "a byte order mark is no part of the first field",
      "\uFEFFdata: a\n\n",
      [{ event: "message", data: "a" }],
    ],
    [
      "other fields are passed over",
      "id: 7\nretry: 10\nfoo: bar\ndata: a\n\n",
      [{ event: "message", data: "a" }],
    ],
    [
      "a line separator of Unicode ends no line",
      "data: a\u2028b\n\n",
      [{ event: "message", data: "a\u2028b" }],
    ],
  ])("%s", (_, text, events) => {
    expect(all(text)).toEqual(events);
  });

  it("reads the same however the text is cut", () => {
    const text = fc
      .array(
        fc.constantFrom(
          "data: a",
          "data",
          "event: run",
          ": alive",
          "",
          "x",
          ":",
          "\r",
          "\n",
          "\r\n",
          "\uFEFF",
          "é𝕏",
        ),
      )
      .map((parts) => parts.join("\n"));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 40 })), (whole, cuts) => {
        const parser = new EventParser();
        const events: ServerEvent[] = [];
        let rest = whole;
        for (const cut of cuts) {
          events.push(...parser.push(rest.slice(0, cut)));
          rest = rest.slice(cut);
        }
        events.push(...parser.push(rest));
        expect(events).toEqual(all(whole));
      }),
      { numRuns: 500 },
    );
  });

  it("gives back any data that was written as the standard says", () => {
    const line = fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n]/g, ""));
    const event = fc.record({
      event: line.filter((name) => name !== "" && name !== "message"),
      data: fc.array(line, { minLength: 1 }).map((lines) => lines.join("\n")),
    });
    const ends = fc.constantFrom("\n", "\r\n", "\r");
    fc.assert(
      fc.property(fc.array(event), ends, (events, end) => {
        const written = events.map(({ event: name, data }) =>
          [`event: ${name}`, ...data.split("\n").map((text) => `data: ${text}`), "", ""].join(end),
        );
        expect(all(written.join(""))).toEqual(events);
      }),
    );
  });

  it("throws at nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" })), (parts) => {
        const parser = new EventParser();
        for (const part of parts) {
          parser.push(part);
        }
      }),
    );
  });
});

describe("readEvents", () => {
  it("reads letters whose bytes came apart", async () => {
    const bytes = new TextEncoder().encode("data: Žižek\n\n");
    const events: ServerEvent[] = [];
    for await (const event of readEvents(
      streamOf(...Array.from(bytes, (byte) => Uint8Array.of(byte))),
    )) {
      events.push(event);
    }
    expect(events).toEqual([{ event: "message", data: "Žižek" }]);
  });

  it("tells the sender when its reader leaves", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\ndata: b\n\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const event of readEvents(body)) {
      expect(event.data).toBe("a");
      break;
    }
    expect(cancelled).toBe(true);
  });
});

function two(a: string, b: string): ServerEvent[] {
  return [
    { event: "message", data: a },
    { event: "message", data: b },
  ];
}

function streamOf(...pieces: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) {
        controller.enqueue(piece);
      }
      controller.close();
    },
  });
}
