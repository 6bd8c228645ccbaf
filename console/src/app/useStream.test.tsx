// @vitest-environment happy-dom
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useStream } from "./useStream";

type Event = { progress?: number; result?: string };

/** A stream whose events the test sends, and which knows whether it was ended. */
function source() {
  let take: (event: Event | Error | undefined) => void = () => undefined;
  const opened: AbortSignal[] = [];
  return {
    opened,
    send: (event: Event | Error | undefined) =>
      act(async () => {
        take(event);
        // What waits for the event has its turn before the next task.
        await new Promise((resolve) => setTimeout(resolve));
      }),
    open: (signal: AbortSignal): AsyncIterable<Event> => {
      opened.push(signal);
      return {
        async *[Symbol.asyncIterator]() {
          for (;;) {
            const event = await new Promise<Event | Error | undefined>((resolve) => {
              take = resolve;
            });
            if (event === undefined) {
              return;
            }
            if (event instanceof Error) {
              throw event;
            }
            yield event;
          }
        },
      };
    },
  };
}

let stream: ReturnType<typeof useStream<Event>>;
let root: HTMLElement;

function Reader() {
  stream = useStream<Event>();
  return null;
}

beforeEach(async () => {
  root = document.createElement("div");
  await act(() => render(<Reader />, root));
});
afterEach(() => act(() => render(null, root)));

test("the latest of each kind of event is kept, until the stream ends", async () => {
  const { open, send } = source();
  await act(() => void stream.start(open));
  expect(stream.streamed).toEqual({ running: true, seen: {} });
  await send({ progress: 1 });
  await send({ progress: 2 });
  await send({ result: "done" });
  await send(undefined);
  expect(stream.streamed).toEqual({ running: false, seen: { progress: 2, result: "done" } });
});

test("what was seen before an error stays beside it", async () => {
  const { open, send } = source();
  await act(() => void stream.start(open));
  await send({ progress: 1 });
  const error = new Error("broken");
  await send(error);
  expect(stream.streamed).toEqual({ running: false, seen: { progress: 1 }, error });
});

test("one that is stopped is told so, and says nothing more", async () => {
  const { open, send, opened } = source();
  await act(() => void stream.start(open));
  await act(() => stream.stop());
  expect(opened[0]?.aborted).toBe(true);
  await send({ progress: 1 });
  expect(stream.streamed).toEqual({ running: false, seen: {} });
});

test("another one ends the one before", async () => {
  const first = source();
  const second = source();
  await act(() => void stream.start(first.open));
  await act(() => void stream.start(second.open));
  expect(first.opened[0]?.aborted).toBe(true);
  await first.send({ progress: 1 });
  await second.send({ progress: 2 });
  expect(stream.streamed).toEqual({ running: true, seen: { progress: 2 } });
});

test("the end of the page ends it", async () => {
  const { open, opened } = source();
  await act(() => void stream.start(open));
  await act(() => render(null, root));
  expect(opened[0]?.aborted).toBe(true);
});
