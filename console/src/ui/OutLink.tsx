import type { ComponentChildren } from "preact";

/** A link to a page elsewhere, in a tab of its own, which learns nothing of the console. */
export function OutLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="out-link" href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}
