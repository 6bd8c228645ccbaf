import { useState } from "preact/hooks";
import type { Quota } from "../../api/messages";
import { useServices } from "../../app/services";
import { TokenDialog } from "../../app/TokenDialog";
import { useCall } from "../../app/useCall";
import { toNumber } from "../../format/quantity";
import { words } from "../../format/text";
import { moment } from "../../format/time";
import { Badge } from "../../ui/Badge";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";

/** Who the reader is to the mesh, what they may do, and how much of it is used. */
export function Who() {
  const { api, token } = useServices();
  const [asking, ask] = useState(false);
  const { value, error, again } = useCall((signal) => api.quota({ signal }), [token.value.value]);
  return (
    <section class="card who" aria-labelledby="who">
      <h2 id="who">You</h2>
      {error !== undefined ? (
        <ErrorBox error={error} doing="Asking who you are" retry={again} />
      ) : value ? (
        <>
          <dl class="who-facts">
            <div>
              <dt>Tenant</dt>
              <dd>{value.tenant}</dd>
            </div>
            {value.subject ? (
              <div>
                <dt>Name</dt>
                <dd>{value.subject}</dd>
              </div>
            ) : null}
            <div>
              <dt>May</dt>
              <dd>
                {(value.scopes ?? []).map((scope) => (
                  <Badge key={scope} tone="fixed">
                    {words(scope, "SCOPE_")}
                  </Badge>
                ))}
              </dd>
            </div>
          </dl>
          <Quotas quotas={value.quotas ?? []} />
        </>
      ) : (
        <Spinner label="Asking who you are" />
      )}
      <p class="who-token">
        <button type="button" class="button" onClick={() => ask(true)}>
          {token.value.value ? "Use another token" : "Use a token"}
        </button>
        {token.value.value ? (
          <button type="button" class="button" onClick={() => token.set("")}>
            Forget the token
          </button>
        ) : null}
      </p>
      {asking ? <TokenDialog onClose={() => ask(false)} /> : null}
    </section>
  );
}

function Quotas({ quotas }: { quotas: Quota[] }) {
  if (quotas.length === 0) {
    return null;
  }
  return (
    <div class="scroll-x">
      <table>
        <caption class="unseen">How much of each quota is used</caption>
        <thead>
          <tr>
            <th scope="col">Quota</th>
            <th scope="col">Used</th>
            <th scope="col">Of</th>
            <th scope="col">Free again</th>
          </tr>
        </thead>
        <tbody>
          {quotas.map((quota) => (
            <tr key={quota.name}>
              <th scope="row">{words(quota.name, "")}</th>
              <td class="figures">{amount(quota.used)}</td>
              <td class="figures">{toNumber(quota.limit) ? amount(quota.limit) : "no bound"}</td>
              <td>{moment(quota.resetTime)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function amount(value: Quota["used"]): string {
  return toNumber(value).toLocaleString("en-GB", { maximumFractionDigits: 2 });
}
