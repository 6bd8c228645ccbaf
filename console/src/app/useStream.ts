import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** What a stream has told so far. */
export type Streamed<E> = {
  running: boolean;
  /** The latest of each kind of event: {progress: …, check: …}. */
  seen: Partial<E>;
  error?: unknown;
};

/** Reads one stream at a time; another one, and the end of the component, ends it. */
export function useStream<E extends object>() {
  const [streamed, setStreamed] = useState<Streamed<E>>();
  const controller = useRef<AbortController>(undefined);

  const stop = useCallback(() => {
    controller.current?.abort();
    setStreamed((now) => now && { ...now, running: false });
  }, []);

  const start = useCallback(async (open: (signal: AbortSignal) => AsyncIterable<E>) => {
    controller.current?.abort();
    const latest = new AbortController();
    controller.current = latest;
    // One that was ended says nothing more, whatever it still reads.
    const update = (news: (now: Streamed<E>) => Streamed<E>) =>
      latest.signal.aborted || setStreamed((now) => now && news(now));
    setStreamed({ running: true, seen: {} });
    try {
      for await (const event of open(latest.signal)) {
        update((now) => ({ ...now, seen: { ...now.seen, ...event } }));
      }
      update((now) => ({ ...now, running: false }));
    } catch (error) {
      update((now) => ({ ...now, running: false, error }));
    }
  }, []);

  useEffect(() => () => controller.current?.abort(), []);
  return { streamed, start, stop };
}
