import { useEffect, useRef, useState } from "preact/hooks";

/**
 * What is typed into a field that begins with a text, and follows it when the
 * text changes otherwise, as by the back button.
 */
export function useTyped(text: string): [string, (typed: string) => void] {
  const [typed, type] = useState(text);
  const shown = useRef(text);
  // Not of the first text: effects come late, and would take back what was typed before.
  useEffect(() => {
    if (shown.current !== text) {
      shown.current = text;
      type(text);
    }
  }, [text]);
  return [typed, type];
}
