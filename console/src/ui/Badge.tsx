import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./Icon";
import "./badge.css";

/** What a colour stands for: the graph's word, the model's word, or a kind of edit. */
export type Tone = "graph" | "model" | "fixed" | "keep" | "replace" | "add" | "delete";

/** A word or two with a picture, in the colour of what it means. */
export function Badge({
  tone,
  icon,
  children,
}: {
  tone: Tone;
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <span class={`badge tone-${tone}`}>
      {icon ? <Icon name={icon} size={14} /> : null}
      {children}
    </span>
  );
}
