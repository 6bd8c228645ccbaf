import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Check, CheckProgress, CheckRequest } from "../../api/messages";
import { useApi } from "../../app/services";

/** A text that is checked, as far as it has come. */
export type Checking = {
  /** The text as it was sent. */
  text: string;
  running: boolean;
  /** How far it has come; the claims found so far are in it. */
  progress?: CheckProgress;
  /** The checked text, at the end. */
  check?: Check;
  error?: unknown;
};

/** Checks one text at a time. */
export function useCheck() {
  const api = useApi();
  const [checking, setChecking] = useState<Checking>();
  const running = useRef<AbortController>(undefined);

  const stop = useCallback(() => {
    running.current?.abort();
    setChecking((now) => now && { ...now, running: false });
  }, []);

  const start = useCallback(
    async (request: CheckRequest) => {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      // Whoever was stopped, or is no longer the latest, says nothing more.
      const update = (news: Partial<Checking>) =>
        controller.signal.aborted || setChecking((now) => now && { ...now, ...news });
      setChecking({ text: request.text ?? "", running: true });
      try {
        for await (const event of api.check(request, { signal: controller.signal })) {
          if (event.check) {
            update({ check: event.check });
          } else if (event.progress) {
            update({ progress: event.progress });
          }
        }
        update({ running: false });
      } catch (error) {
        update({ error, running: false });
      }
    },
    [api],
  );

  useEffect(() => () => running.current?.abort(), []);
  return { checking, start, stop };
}
