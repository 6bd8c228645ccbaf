import { ask, employer, universities } from "./asking";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

test("a question is answered before the reader's eyes, and the answer shows what it rests on", async ({
  page,
}) => {
  const question = `Tell me in good time: ${employer}`;
  await page.goto("#/ask?kg=wikidata");
  await page.getByLabel("Your question").fill(question);
  // What is seen only for a moment is noted as it passes.
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      const running = document.querySelector(".stop.running .stop-name")?.textContent;
      if (running && seen.at(-1) !== running) {
        seen.push(running);
      }
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await page.getByRole("button", { name: "Ask", exact: true }).click();

  await test.step("stages light up one after another", async () => {
    const stages = page.getByRole("list", { name: "Stages" });
    await expect(stages.getByRole("listitem").filter({ hasText: "Draft: done" })).toBeVisible();
    await expect(stages.locator(".stop.done")).toHaveCount(5);
    await expect(stages.locator(".stop").filter({ hasText: "Draft" })).toContainText(/ s.*tokens/);
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    expect(seen).toContain("Draft");
    expect(seen.at(-1)).toBe("Answer");
  });
  await test.step("the answer has its evidence, its cost and its trace", async () => {
    const answer = page.getByRole("region", { name: "Answer" });
    await expect(answer).toContainText("Robert Stam worked at New York University.");
    await expect(answer).toContainText("Grounded in the graph");
    await expect(answer).toContainText("wikidata@1");
    await expect(answer).toContainText("Model calls");
    const trace = answer.locator("a[href^='https://traces.example.org/trace/']");
    await expect(trace).toHaveAttribute("href", /[0-9a-f]{32}$/);
  });
  await test.step("the address is that of the question and its answer", async () => {
    expect(new URL(page.url()).hash).toContain("Robert");
    await expect(page).toHaveURL(/run=[0-9A-Z]{26}/);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await expect(page.getByLabel("Your question")).toHaveValue(question);
    await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
    await expect(page.getByLabel("A question that follows")).toBeVisible();
    expect(asked.filter((path) => path.includes("ask:stream"))).toEqual([]);
  });
  await test.step("the link to its run is copied", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the link" }).click();
    await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toMatch(/#\/runs\/[0-9A-Z]{26}$/);
  });
});

test("the three graphs are one picture that becomes the next", async ({ page }) => {
  await ask(page, employer);
  const graphs = page.getByRole("region", { name: "The three graphs" });
  const tab = (name: RegExp) => graphs.getByRole("tab", { name });
  await expect(tab(/^Changes/)).toHaveAttribute("aria-selected", "true");
  const changes = graphs.getByRole("list", { name: "What verification changed" });
  await expect(changes.getByRole("listitem")).toHaveCount(1);
  await expect(changes).toContainText("Google");
  await expect(changes).toContainText("New York University");

  await test.step("what the pointer is on is told beside the picture", async () => {
    await changes.getByRole("button").first().hover();
    await expect(graphs.locator(".graph-tip")).toContainText("New York University");
    await expect(graphs.locator(".graph-tip")).toContainText(/0\.\d\d/);
  });
  await test.step("played from draft to fixed graph", async () => {
    await graphs.getByRole("button", { name: "Play" }).click();
    for (const name of [/^Draft/, /^Evidence/, /^Changes/, /^Fixed/]) {
      await expect(tab(name)).toHaveAttribute("aria-selected", "true");
    }
    await expect(graphs.getByRole("list", { name: /fixed graph/ })).toContainText(
      "New York University",
    );
    await expect(graphs.locator(".picture canvas").first()).toBeVisible();
  });
  await test.step("a triple is chosen, and what lies around it is walked", async () => {
    await tab(/^Changes/).click();
    await changes.getByRole("button").first().click();
    const place = page.getByRole("dialog");
    await expect(place).toContainText("wikidata, snapshot 1");
    await expect(place).toContainText("It rests on");
    await expect(place.getByText("New York University").first()).toBeVisible();
    await place.getByRole("button", { name: "New York University" }).first().click();
    await expect(place).toContainText("Robert Stam");
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await expect(place).toHaveCount(0);
    await expect(changes.getByRole("button").first()).toBeFocused();
  });
});

test("another threshold is tried without the model", async ({ page }) => {
  await ask(page, employer);
  await page.getByText(/^Pruning: /).click();
  const slider = page.getByRole("slider", { name: "Least confidence" });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await slider.fill("0.2");
  const rows = page.getByRole("list", { name: "Subjects by confidence" });
  await expect(rows).toContainText("would return");
  await expect(page.getByText(/By the retriever: \d+ subjects?/)).toBeVisible();
  await slider.fill("1");
  await expect(rows).toContainText("would fall");
  await expect(page.getByText("By the retriever: 0 subjects")).toBeVisible();
  expect([...new Set(asked.filter((path) => path.includes("/api/")))]).toEqual([
    "/api/v1/kgs/wikidata:ground",
  ]);
  await page.getByRole("link", { name: "Ask again at 1.00" }).click();
  await expect(page.getByText("Options (1 set)")).toBeVisible();
});

test("Ger shows its paths, its verdicts and what reflection changed", async ({ page }) => {
  await ask(page, universities, "ger");
  const candidates = page.getByRole("region", { name: "Candidates" });
  const row = (name: string) => candidates.getByRole("row").filter({ hasText: name });
  await expect(row("University Yale")).toContainText("Right");
  await expect(row("University Yale")).toContainText("95 %");
  await expect(row("New York City")).toContainText("Wrong");
  await expect(row("New York City")).toContainText("Dropped");
  await expect(row("Tisch School")).toContainText("Added");
  await expect(candidates).toContainText("something is missing");
  const paths = page.getByRole("region", { name: "Reasoning paths" });
  await expect(paths.getByRole("list", { name: "Triples on the reasoning paths" })).toContainText(
    "University Yale",
  );
  await paths.getByText(/^Relation paths: /).click();
  await expect(paths).toContainText("Proposed by the model");
});

test("a question that follows is taken with what was asked before", async ({ page }) => {
  await ask(page, employer);
  await page.getByLabel("A question that follows").fill("And who employed him?");
  await page.getByRole("button", { name: "Follow up" }).click();
  await expect(page.getByRole("list", { name: "Earlier in this conversation" })).toContainText(
    employer,
  );
  await expect(page.getByRole("list", { name: "Stages" })).toContainText("Rewrite: done");
  await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
});

test("two methods are compared on one question", async ({ page }) => {
  await page.goto("#/compare");
  await page.getByLabel("Your question").fill(universities);
  await page.getByLabel("Left", { exact: false }).selectOption("pg-akv");
  await page.getByLabel("Right", { exact: false }).selectOption("ger");
  await page.getByRole("button", { name: "Ask both" }).click();
  const differences = page.getByRole("region", { name: "Differences" });
  await expect(differences.getByRole("row", { name: /Answers/ })).toContainText("Tisch School");
  await expect(differences.getByRole("row", { name: /Model calls/ })).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test("a question is asked with the keyboard alone", async ({ page }) => {
  await page.goto("#/mesh");
  await expect(page.getByRole("heading", { name: /stages serve/ })).toBeVisible();
  await page.locator("body").press("Tab");
  await expect(page.getByRole("button", { name: "Skip to content" })).toBeFocused();
  const tabTo = async (name: string) => {
    for (let i = 0; i < 30; i++) {
      const focused = page.locator(":focus");
      const label = await focused.evaluate(
        (e) => e.getAttribute("aria-label") ?? e.textContent ?? "",
      );
      if (label.trim() === name || (await focused.getAttribute("placeholder"))?.startsWith(name)) {
        return;
      }
      await page.keyboard.press("Tab");
    }
    throw new Error(`no way to ${name} by the Tab key`);
  };
  await tabTo("Ask");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  await tabTo("Ask anything");
  await page.keyboard.type(employer);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
  await expect(page.getByRole("status").first()).toHaveText("Answered: New York University");
  await tabTo("Play");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowLeft");
  await expect(page.getByRole("tab", { name: /^Evidence/ })).toBeFocused();
  await expect(page.getByRole("tab", { name: /^Evidence/ })).toHaveAttribute(
    "aria-selected",
    "true",
  );
  await page.keyboard.press("Tab");
});

test("a run can be read by everyone, on a phone too", async ({ page }) => {
  for (const [question, method] of [
    [employer, "pg-akv"],
    [universities, "ger"],
  ] as const) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await ask(page, question, method);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
  }
});

test("colours are the system's, or those that are chosen", async ({ page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("#/ask");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole("button", { name: /^Colours: system/ }).click();
  const light = await background();
  expect(light).not.toBe(dark);
  await page.reload();
  await expect(page.getByRole("button", { name: /^Colours: light/ })).toBeVisible();
  expect(await background()).toBe(light);
});

test("a question waits until it is known which graph it reads", async ({ page }) => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/api\/v1\/kgs(\?|$)/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("#/ask");
  await page.getByLabel("Your question").fill(employer);
  const button = page.getByRole("button", { name: "Ask", exact: true });
  await expect(page.getByLabel("Method")).toHaveValue("auto");
  await expect(button).toBeDisabled();
  await page.getByLabel("Your question").press("Enter");
  answer();
  await button.click();
  await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
});

test("a question can be stopped", async ({ page }) => {
  await page.goto("#/ask");
  await page.getByLabel("Your question").fill("What does the slow one answer?");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Stopped; this is what there was by then.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Ask", exact: true })).toBeVisible();
});

test.describe("a question that cannot be asked so", () => {
  test.use({ expectedErrors: [/400/] });
  test("is refused with the field that is wrong", async ({ page }) => {
    await page.goto("#/ask?kg=Not+a+name");
    await page.getByLabel("Your question").fill(employer);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("INVALID_ARGUMENT");
    await expect(page.getByRole("alert")).toContainText("kg.name");
  });
});
