import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { RunFilter } from "../../api/client";
import type { Run } from "../../api/messages";
import { useApi } from "../../app/services";

/** Runs that were found, page by page. */
export type Found = {
  runs: Run[];
  /** Token of the next page; empty where there is none. */
  next: string;
  pending: boolean;
  error?: unknown;
};

/** How many runs a page has. */
const pageSize = 30;

/** Lists runs; another filter begins anew. */
export function useRuns(filter: RunFilter) {
  const api = useApi();
  const { method = "", kgName = "", query = "" } = filter;
  const [found, setFound] = useState<Found>({ runs: [], next: "", pending: true });
  const controller = useRef<AbortController>(undefined);

  const read = useCallback(
    (before: Run[], pageToken: string) => {
      controller.current?.abort();
      const latest = new AbortController();
      controller.current = latest;
      const { signal } = latest;
      setFound((now) => ({ runs: before, next: now.next, pending: true }));
      api.runs({ pageSize, pageToken, method, kgName, query }, { signal }).then(
        (page) =>
          signal.aborted ||
          setFound({
            runs: [...before, ...(page.runs ?? [])],
            next: page.nextPageToken ?? "",
            pending: false,
          }),
        (error: unknown) =>
          signal.aborted || setFound({ runs: before, next: pageToken, pending: false, error }),
      );
    },
    [api, method, kgName, query],
  );

  useEffect(() => {
    read([], "");
    return () => controller.current?.abort();
  }, [read]);
  // After an error, what could not be read is asked for again.
  const more = () => read(found.runs, found.next);
  return { ...found, more };
}
