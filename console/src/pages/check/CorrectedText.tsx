import { useState } from "preact/hooks";
import type { Check } from "../../api/messages";
import { Icon } from "../../ui/Icon";
import { changesOf } from "./segments";

/** The text with what the knowledge graph contradicts put right. */
export function CorrectedText({ check, show }: { check: Check; show: (claim: number) => void }) {
  const [copied, setCopied] = useState(false);
  const corrected = check.correctedText ?? "";
  return (
    <section class="card corrected" aria-labelledby="corrected">
      <header>
        <h2 id="corrected">Put right</h2>
        <button
          type="button"
          class="button small"
          onClick={() => navigator.clipboard.writeText(corrected).then(() => setCopied(true))}
        >
          <Icon name={copied ? "check" : "copy"} size={16} />
          {copied ? "Copied" : "Copy the corrected text"}
        </button>
      </header>
      <p class="checked-text" dir="auto">
        {changesOf(corrected, check.corrections ?? []).map(({ text, correction }, place) =>
          correction ? (
            <span key={place}>
              <del class="change-before">
                <bdi>{correction.before}</bdi>
              </del>{" "}
              <ins class="change-after">
                <bdi>{text}</bdi>
              </ins>
              <button
                type="button"
                class="claim-mark tone-replace"
                title={`Why: claim ${(correction.claim ?? 0) + 1}`}
                onClick={() => show(correction.claim ?? 0)}
              >
                <Icon name="swap" size={11} />
                <span class="unseen">Changed by claim </span>
                {(correction.claim ?? 0) + 1}
              </button>
            </span>
          ) : (
            text
          ),
        )}
      </p>
    </section>
  );
}
