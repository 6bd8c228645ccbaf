import { useCallback, useId, useState } from "preact/hooks";
import type { Check, Claim, Verdict } from "../../api/messages";
import { spent } from "../../format/usage";
import { Icon } from "../../ui/Icon";
import { VerdictBadge, verdicts } from "../../ui/VerdictBadge";
import { TraceLink } from "../mesh/TraceLink";
import { ClaimList } from "./ClaimList";
import { CorrectedText } from "./CorrectedText";
import { foremost, type Segment, segmentsOf } from "./segments";

/** A text underlined by verdict, its claims, and what is right in their place. */
export function CheckedText({
  text,
  claims,
  check,
}: {
  text: string;
  claims: Claim[];
  check: Check | undefined;
}) {
  const id = useId();
  const [looked, look] = useState<number>();
  const show = useCallback(
    (claim: number) => document.getElementById(`${id}-${claim}`)?.focus(),
    [id],
  );
  return (
    <>
      <section class="card checked" aria-labelledby={`${id}-text`}>
        <h2 id={`${id}-text`}>The text</h2>
        <Legend claims={claims} />
        <p class="checked-text" dir="auto">
          {segmentsOf(text, claims).map((segment, place) => (
            <Marked key={place} segment={segment} claims={claims} looked={looked} show={show} />
          ))}
        </p>
        {check && claims.length === 0 ? (
          <p class="muted">No fact was found in it that a knowledge graph could hold.</p>
        ) : null}
        {check?.partial ? (
          <p class="check-partial">
            <Icon name="warning" /> The check ended before the end of the text: what is not
            underlined was not looked at.
          </p>
        ) : null}
        {check ? (
          <p class="muted figures">
            {[...spent(check.usage, check.duration), snapshotOf(check)].filter(Boolean).join(" · ")}{" "}
            <TraceLink id={check.traceId} />
          </p>
        ) : null}
      </section>
      {check?.corrections?.length ? <CorrectedText check={check} show={show} /> : null}
      {claims.length ? <ClaimList id={id} claims={claims} check={check} look={look} /> : null}
    </>
  );
}

/** How many claims have each verdict, beside the line it is underlined with. */
function Legend({ claims }: { claims: Claim[] }) {
  const all = Object.keys(verdicts) as Verdict[];
  const numbers = all.map((verdict) => ({
    verdict,
    n: claims.filter((claim) => (claim.verdict ?? "VERDICT_UNSPECIFIED") === verdict).length,
  }));
  return (
    <ul class="check-legend" aria-label="Claims by verdict">
      {numbers
        .filter(({ n, verdict }) => n > 0 || verdict !== "VERDICT_UNSPECIFIED")
        .map(({ verdict, n }) => (
          <li key={verdict}>
            <VerdictBadge verdict={verdict} />
            <span class={`line line-${verdict} tone-${verdicts[verdict].tone}`} aria-hidden="true">
              abc
            </span>
            <span class="figures">{n}</span>
          </li>
        ))}
    </ul>
  );
}

/** A part of the text; behind the end of a claim, its number and its verdict. */
function Marked({
  segment,
  claims,
  looked,
  show,
}: {
  segment: Segment;
  claims: Claim[];
  looked: number | undefined;
  show: (claim: number) => void;
}) {
  if (segment.claims.length === 0) {
    return <>{segment.text}</>;
  }
  const verdict = foremost(segment.claims.map((claim) => claims[claim]?.verdict));
  const active = looked !== undefined && segment.claims.includes(looked);
  return (
    <>
      <mark class={`line line-${verdict} tone-${verdicts[verdict].tone}`} data-active={active}>
        {segment.text}
      </mark>
      {segment.ending.map((claim) => {
        const { label, tone, icon } = verdicts[claims[claim]?.verdict ?? "VERDICT_UNSPECIFIED"];
        return (
          <button
            key={claim}
            type="button"
            class={`claim-mark tone-${tone}`}
            title={`Claim ${claim + 1}: ${label}`}
            onClick={() => show(claim)}
          >
            <Icon name={icon} size={11} />
            <span class="unseen">Claim </span>
            {claim + 1}
            <span>{label}</span>
          </button>
        );
      })}
    </>
  );
}

function snapshotOf({ kg }: Check): string {
  return kg ? `${kg.name}@${kg.snapshot ?? "0"}` : "";
}
