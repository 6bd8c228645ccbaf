import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";
import "./tabs.css";

/** One of several views of the same thing. */
export type Tab = { name: string; label: ComponentChildren; body: () => ComponentChildren };

/** Views of which one is shown; arrows go from one to the next (ARIA's tabs pattern). */
export function Tabs({ label, tabs, first = 0 }: { label: string; tabs: Tab[]; first?: number }) {
  const [chosen, choose] = useState(tabs[first]?.name);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.name === chosen),
  );
  const current = tabs[at];
  const move = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (tab && to !== undefined) {
      event.preventDefault();
      choose(tab.name);
      list.current?.querySelectorAll("button")[(to + tabs.length) % tabs.length]?.focus();
    }
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
