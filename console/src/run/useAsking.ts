import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { AskRequest, Stage } from "../api/messages";
import { useApi } from "../app/services";
import { asked, ended, heard, type LiveRun } from "./live";

/** A question that can be asked, followed and stopped. */
export type Asking = {
  /** The question under way, or the last one; undefined before the first. */
  live: LiveRun | undefined;
  /** Asks; a question under way is stopped first. The stages are those the method says it has. */
  ask(request: AskRequest, stages: Stage[]): void;
  stop(): void;
};

/** Asks questions for one part of a page; leaving the page stops the one under way. */
export function useAsking(): Asking {
  const api = useApi();
  const [live, setLive] = useState<LiveRun>();
  const under = useRef<AbortController | undefined>(undefined);

  const ask = useCallback(
    (request: AskRequest, stages: Stage[]) => {
      under.current?.abort();
      const mine = new AbortController();
      under.current = mine;
      // What an older question still tells is of no interest to this one.
      const change = (next: (live: LiveRun) => LiveRun) => {
        if (under.current === mine) {
          setLive((known) => (known ? next(known) : known));
        }
      };
      setLive(asked(stages, performance.now()));
      (async () => {
        for await (const event of api.ask(request, { signal: mine.signal })) {
          change((known) => heard(known, event, performance.now()));
        }
        change((known) =>
          known.state === "asking" ? ended(known, "failed", new Error(silent)) : known,
        );
      })().catch((error: unknown) => {
        change((known) =>
          mine.signal.aborted ? ended(known, "stopped") : ended(known, "failed", error),
        );
      });
    },
    [api],
  );
  const stop = useCallback(() => under.current?.abort(), []);
  useEffect(() => stop, [stop]);
  return { live, ask, stop };
}

const silent = "The stream ended before the answered question came. Ask again.";
