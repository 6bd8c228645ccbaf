import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Run } from "../../api/messages";
import { dollars, elapsed } from "../../format/quantity";
import { number } from "../../format/text";
import { GroundingBadge } from "../../run/GroundingBadge";
import { Name } from "../../ui/Name";
import { TripleView } from "../../ui/TripleView";
import { compare, type Figure, type Shared } from "./compare";

/** How two runs of one question differ: answers, evidence, time and cost. */
export function Differences({ left, right }: { left: Run; right: Run }) {
  const found = useMemo(() => compare(left, right), [left, right]);
  return (
    <section class="card differences" aria-label="Differences">
      <h2>How they differ</h2>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">
                Only <code>{left.method}</code>
              </th>
              <th scope="col">Both</th>
              <th scope="col">
                Only <code>{right.method}</code>
              </th>
            </tr>
          </thead>
          <tbody>
            <SharedRow
              name="Answers"
              shared={found.answers}
              show={(answer) => <Name>{answer}</Name>}
            />
            <SharedRow
              name="Evidence"
              shared={found.evidence}
              show={(triple) => <TripleView triple={triple} />}
            />
          </tbody>
        </table>
      </div>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col">
                <code>{left.method}</code>
              </th>
              <th scope="col">
                <code>{right.method}</code>
              </th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">Rests on</th>
              <td>
                <GroundingBadge grounding={left.grounding} />
              </td>
              <td>
                <GroundingBadge grounding={right.grounding} />
              </td>
            </tr>
            {found.figures
              .filter((figure) => figure.left || figure.right)
              .map((figure) => (
                <FigureRow key={figure.name} figure={figure} />
              ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function SharedRow<T>({
  name,
  shared,
  show,
}: {
  name: string;
  shared: Shared<T>;
  show: (item: T) => ComponentChildren;
}) {
  const cell = (items: T[]) =>
    items.length ? (
      <ul class="plain">
        {items.map((item) => (
          <li key={JSON.stringify(item)}>{show(item)}</li>
        ))}
      </ul>
    ) : (
      <span class="muted">none</span>
    );
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{cell(shared.left)}</td>
      <td>{cell(shared.both)}</td>
      <td>{cell(shared.right)}</td>
    </tr>
  );
}

const names: Record<Figure["name"], { label: string; show: (value: number) => string }> = {
  time: { label: "Time", show: elapsed },
  calls: { label: "Model calls", show: number },
  tokens: { label: "Tokens", show: number },
  cost: { label: "Cost", show: dollars },
};

function FigureRow({ figure }: { figure: Figure }) {
  const { label, show } = names[figure.name];
  const most = Math.max(figure.left, figure.right);
  const cell = (value: number) => (
    <td>
      <span class="bar-cell">
        <meter min={0} max={most} value={value} aria-label={`${label}: ${show(value)}`} />
        <span class="figures">{show(value)}</span>
      </span>
    </td>
  );
  return (
    <tr>
      <th scope="row">{label}</th>
      {cell(figure.left)}
      {cell(figure.right)}
    </tr>
  );
}
