import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import "./tabs.css";

/** One of several views of the same thing. */
export type Tab = { name: string; label: ComponentChildren; body: () => ComponentChildren };

/**
 * Views of which one is shown; arrows go from one to the next (ARIA's tabs
 * pattern). Which one is shown is the tabs' own matter unless `chosen` says.
 */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  label: string;
  tabs: Tab[];
  chosen?: string;
  onChoose?: (name: string) => void;
}) {
  const [own, setOwn] = useState(tabs[0]?.name);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const shown = chosen ?? own;
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.name === shown),
  );
  const current = tabs[at];
  const choose = (name: string) => {
    setOwn(name);
    onChoose?.(name);
  };
  const move = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) {
      return;
    }
    event.preventDefault();
    const next = (to + tabs.length) % tabs.length;
    choose(tabs[next]?.name ?? "");
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  if (!current) {
    return null;
  }
  return (
    <div class="tabs">
      <div class="tabs-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            aria-selected={tab === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab === current ? 0 : -1}
            onClick={() => choose(tab.name)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${current.name}`}>
        {current.body()}
      </div>
    </div>
  );
}
