import { Icon } from "../ui/Icon";
import mark from "./mark.svg";
import { type Page, pages } from "./pages";
import { useServices } from "./services";
import type { ThemeChoice } from "./theme";

/** The bar above every page: the name, the pages, the colours. */
export function Header({ current }: { current: Page | undefined }) {
  return (
    <header class="bar">
      <a class="bar-name" href="#/ask" aria-label="triplemesh: ask a question">
        <img src={mark} alt="" width="24" height="24" />
        <span>triplemesh</span>
      </a>
      <nav class="bar-pages" aria-label="Pages">
        <ul>
          {pages.map((page) => (
            <li key={page.path}>
              <a href={`#/${page.path}`} aria-current={page === current ? "page" : undefined}>
                {page.label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <ThemeSwitch />
    </header>
  );
}

const next: Record<ThemeChoice, ThemeChoice> = { system: "light", light: "dark", dark: "system" };

function ThemeSwitch() {
  const { theme } = useServices();
  const choice = theme.choice.value;
  return (
    <button
      type="button"
      class="icon-button"
      title={`Colours: ${choice}`}
      aria-label={`Colours: ${choice}. Change to ${next[choice]}`}
      onClick={() => {
        theme.choice.value = next[choice];
      }}
    >
      <Icon name={choice === "system" ? "contrast" : choice === "light" ? "sun" : "moon"} />
    </button>
  );
}
