import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorBox } from "../ui/ErrorBox";
import { Spinner } from "../ui/Spinner";
import { Header } from "./Header";
import { type Page, pageAt } from "./pages";
import type { Place } from "./router";
import { useServices } from "./services";
import { TokenDialog } from "./TokenDialog";
import "./app.css";

/** The console: its header and the page the reader is at. */
export function App() {
  const { router, token } = useServices();
  const place = router.place.value;
  const page = pageAt(place);
  const main = useRef<HTMLElement>(null);
  const arrived = useRef(page);

  useEffect(() => {
    document.title = page ? `${page.label} · triplemesh` : "Not found · triplemesh";
    if (arrived.current !== page) {
      // Whoever reads by ear hears the new page, not the link left behind.
      main.current?.focus();
      arrived.current = page;
    }
  }, [page]);

  return (
    <>
      {/* Not a link: the address behind "#" says which page this is. */}
      <button type="button" class="skip button" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Header current={page} />
      <main id="main" tabIndex={-1} ref={main}>
        {page ? (
          // Whoever gives a token sees the page anew, as the one they are.
          <Loaded key={`${page.path} ${token.value.value}`} page={page} place={place} />
        ) : (
          <NotFound />
        )}
      </main>
      {token.wanted.value ? (
        <TokenDialog
          onClose={() => {
            token.wanted.value = false;
          }}
        />
      ) : null}
    </>
  );
}

function Loaded({ page, place }: { page: Page; place: Place }) {
  const [Body, setBody] = useState<FunctionComponent<Place>>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    page.load().then((code) => setBody(() => code.default), setError);
  }, [page]);
  if (error !== undefined) {
    return <ErrorBox error={error} doing="Loading this page" />;
  }
  return Body ? <Body {...place} /> : <Spinner label={`Loading ${page.label}`} />;
}

function NotFound() {
  return (
    <section class="page">
      <h1>There is no such page</h1>
      <p>
        <a href="#/ask">Ask a question</a> instead.
      </p>
    </section>
  );
}
