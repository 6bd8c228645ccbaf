import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Feedback, Judgement } from "../api/messages";
import { useApi } from "../app/services";
import { findFeedback, type Item, markOf, withStored } from "./feedback";

/** The caller's feedback on a run, and what may be done with it. */
export type RunFeedback = {
  all: Feedback[];
  /** Why the last change, or reading what there is, failed. */
  error?: unknown;
  /** What was done last, in words to be read out. */
  said: string;
  of: (item: Item) => Feedback | undefined;
  /** Marks an item, or takes the mark away where it says the same already. Resolves to whether that worked. */
  toggle: (item: Item, judgement: Judgement) => Promise<boolean>;
  remove: (feedback: Feedback) => Promise<boolean>;
};

/** The feedback on the run that is shown; null where none can be given. */
export const FeedbackContext = createContext<RunFeedback | null>(null);

/** The feedback on the run this component is in. */
export const useRunFeedback = (): RunFeedback | null => useContext(FeedbackContext);

/** Reads and changes the caller's feedback on a run. Without an id there is none yet. */
export function useFeedback(runId: string | undefined): RunFeedback | null {
  const api = useApi();
  const [all, setAll] = useState<Feedback[]>([]);
  const [error, setError] = useState<unknown>();
  const [said, setSaid] = useState("");
  const shown = useRef(runId);
  useEffect(() => {
    shown.current = runId;
    setAll([]);
    setError(undefined);
    setSaid("");
    if (!runId) {
      return;
    }
    const controller = new AbortController();
    api.feedback({ runId, own: true, pageSize: 1000 }, { signal: controller.signal }).then(
      ({ feedback = [] }) =>
        controller.signal.aborted || setAll((now) => withStored(feedback, now)),
      (reason: unknown) => controller.signal.aborted || setError(reason),
    );
    return () => controller.abort();
  }, [api, runId]);
  if (!runId) {
    return null;
  }

  const change = async (does: () => Promise<void>): Promise<boolean> => {
    setError(undefined);
    try {
      await does();
      return true;
    } catch (reason) {
      if (shown.current === runId) {
        setError(reason);
      }
      return false;
    }
  };
  const remove = (feedback: Feedback) =>
    change(async () => {
      await api.deleteFeedback(feedback.id ?? "");
      if (shown.current === runId) {
        setAll((now) => now.filter(({ id }) => id !== feedback.id));
        setSaid("Mark removed");
      }
    });
  const toggle = (item: Item, judgement: Judgement) => {
    const before = findFeedback(all, item);
    if (before?.mark?.judgement === judgement) {
      return remove(before);
    }
    return change(async () => {
      const marks = [markOf(item, judgement)];
      const { feedback = [] } = await api.createFeedback({ runId, marks });
      if (shown.current === runId) {
        setAll((now) => withStored(now, feedback));
        setSaid(`Marked ${judgements[judgement]}`);
      }
    });
  };
  return { all, error, said, of: (item) => findFeedback(all, item), toggle, remove };
}

const judgements: Record<Judgement, string> = {
  JUDGEMENT_UNSPECIFIED: "",
  JUDGEMENT_RIGHT: "right",
  JUDGEMENT_WRONG: "wrong",
  JUDGEMENT_MISSING: "missing",
};
