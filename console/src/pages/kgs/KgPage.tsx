import { href } from "../../app/router";
import { useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { Tabs } from "../../ui/Tabs";
import { Browse } from "./Browse";
import { LoadForm } from "./LoadForm";
import { RankerTable } from "./RankerTable";
import { SnapshotTable } from "./SnapshotTable";
import { kgsOf } from "./snapshots";

/** One knowledge graph: what is in it, its snapshots, and a way to load more into it. */
export function KgPage({ kg, query }: { kg: string; query: URLSearchParams }) {
  const { api, router } = useServices();
  const { value, error, again } = useCall((signal) => api.kgs(kg, { signal }), [kg]);
  const found = kgsOf(value?.snapshots).find(({ name }) => name === kg);
  return (
    <section class="page">
      <p>
        <a href="#/kgs">All knowledge graphs</a>
      </p>
      <h1>{kg}</h1>
      {found?.active ? (
        <p>
          <a class="button small" href={href(["ask"], { kg })}>
            Ask {kg}
          </a>
        </p>
      ) : null}
      {error !== undefined ? (
        <ErrorBox error={error} doing={`Reading the snapshots of ${kg}`} retry={again} />
      ) : found ? (
        <Tabs
          label={`Views of ${kg}`}
          chosen={query.get("tab") ?? "browse"}
          onChoose={(tab) =>
            router.replace(["kgs", kg], {
              ...Object.fromEntries(query),
              tab: tab === "browse" ? "" : tab,
            })
          }
          tabs={[
            { name: "browse", label: "Browse", body: () => <Browse kg={kg} query={query} /> },
            {
              name: "snapshots",
              label: `Snapshots (${found.snapshots.length})`,
              body: () => <SnapshotTable kg={found} onChanged={again} />,
            },
            {
              name: "ranking",
              label: "Ranking",
              body: () => <RankerTable kg={kg} />,
            },
            {
              name: "load",
              label: "Load a file",
              body: () => <LoadForm kg={kg} onLoaded={again} />,
            },
          ]}
        />
      ) : (
        <Spinner label={`Reading the snapshots of ${kg}`} />
      )}
    </section>
  );
}
