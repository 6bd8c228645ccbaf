import type { Check, Claim, ScoredTriple } from "../../api/messages";
import { href } from "../../app/router";
import { percent, score } from "../../format/quantity";
import { TripleView } from "../../ui/TripleView";
import { VerdictBadge } from "../../ui/VerdictBadge";

/** The claims, each with what the knowledge graph says of it. */
export function ClaimList({
  id,
  claims,
  check,
  look,
}: {
  id: string;
  claims: Claim[];
  check: Check | undefined;
  look: (claim: number | undefined) => void;
}) {
  return (
    <section class="check-claims" aria-labelledby={`${id}-claims`}>
      <h2 id={`${id}-claims`}>Claims</h2>
      <ol>
        {claims.map((claim, place) => (
          <li
            key={place}
            id={`${id}-${place}`}
            class="card claim"
            tabIndex={-1}
            onMouseEnter={() => look(place)}
            onMouseLeave={() => look(undefined)}
            onFocusIn={() => look(place)}
            onFocusOut={() => look(undefined)}
          >
            <p class="claim-head">
              <span class="figures">
                <span class="unseen">Claim </span>
                {place + 1}
              </span>
              <VerdictBadge verdict={claim.verdict} />
              {claim.verdict ? (
                <span class="muted figures">{`${percent(claim.confidence)} sure`}</span>
              ) : null}
            </p>
            {claim.triple ? (
              <p>
                <TripleView triple={claim.triple} />
              </p>
            ) : null}
            {claim.reason ? <p class="muted">{claim.reason}</p> : null}
            {claim.evidence?.length ? <Evidence triples={claim.evidence} check={check} /> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Evidence({ triples, check }: { triples: ScoredTriple[]; check: Check | undefined }) {
  return (
    <details class="claim-evidence">
      <summary>{`Evidence (${triples.length})`}</summary>
      <ul>
        {triples.map(({ triple, score: closeness }, place) =>
          triple ? (
            <li key={place}>
              <TripleView triple={triple} />{" "}
              <span class="muted figures" title="cosine to the claim">
                {score(closeness)}
              </span>{" "}
              <a href={browse(check, triple.kgName, triple.subject)}>
                Look around<span class="unseen">{` ${triple.subject}`}</span>
              </a>
            </li>
          ) : null,
        )}
      </ul>
    </details>
  );
}

// Where the subject's other triples are seen, in the snapshot that was read.
function browse(
  check: Check | undefined,
  kg: string | undefined,
  entity: string | undefined,
): string {
  const read = [check?.kg, ...(check?.otherKgs ?? [])];
  const from = read.find((ref) => ref?.name === kg) ?? check?.kg;
  return href(["kgs", from?.name ?? kg ?? ""], {
    entity: entity ?? "",
    snapshot: from?.snapshot ?? "",
  });
}
