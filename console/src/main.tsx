import { render } from "preact";
import { createApi } from "./api/client";
import { createToken } from "./api/token";
import { App } from "./app/App";
import { createRouter } from "./app/router";
import { Services } from "./app/services";
import { createTheme } from "./app/theme";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";

const root = document.getElementById("console");
if (root) {
  const token = createToken(sessionStorage);
  const watched = async (url: string, init?: RequestInit) => {
    const response = await fetch(url, init);
    if (response.status === 401) {
      token.wanted.value = true;
    }
    return response;
  };
  const services = {
    token,
    api: createApi({ fetch: watched, token: () => token.value.value }),
    router: createRouter(window),
    theme: createTheme(localStorage, document.documentElement),
  };
  render(
    <Services.Provider value={services}>
      <App />
    </Services.Provider>,
    root,
  );
}
