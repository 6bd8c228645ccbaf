import { useState } from "preact/hooks";
import { Icon } from "./Icon";

/** Copies the address of a place of the console; nothing where the browser allows no copies. */
export function CopyLink({ href }: { href: string }) {
  const [copied, setCopied] = useState(false);
  if (!navigator.clipboard) {
    return null;
  }
  const copy = async () => {
    await navigator.clipboard.writeText(new URL(href, location.href).href);
    setCopied(true);
  };
  return (
    <button type="button" class="button small" onClick={copy}>
      <Icon name={copied ? "check" : "copy"} size={16} /> {copied ? "Copied" : "Copy the link"}
    </button>
  );
}
