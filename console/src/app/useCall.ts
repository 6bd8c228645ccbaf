import { useCallback, useEffect, useState } from "preact/hooks";

/** What a call has brought so far. */
export type Called<T> = {
  /** What it answered; that of the call before stays until the next one has answered. */
  value?: T;
  error?: unknown;
  /** Whether it is under way. */
  pending: boolean;
  /** Calls once more. */
  again: () => void;
};

/**
 * Calls the mesh, and again whenever what it is asked changes; the call before
 * is aborted then, and when the component goes. Undefined asks nothing.
 */
export function useCall<T>(
  call: ((signal: AbortSignal) => Promise<T>) | undefined,
  asked: unknown[],
): Called<T> {
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Omit<Called<T>, "again">>({ pending: call !== undefined });
  useEffect(() => {
    if (!call) {
      setState({ pending: false });
      return;
    }
    const controller = new AbortController();
    setState((before) => ({ ...before, pending: true }));
    call(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, pending: false }),
      (error: unknown) => controller.signal.aborted || setState({ error, pending: false }),
    );
    return () => controller.abort();
    // What the call is made of is in asked, by its users' word.
  }, [turn, ...asked]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return { ...state, again };
}
