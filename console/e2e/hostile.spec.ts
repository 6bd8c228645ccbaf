import { ask } from "./asking";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

const markup = "<img src=x onerror=alert(1)>";
const long = "Donaudampfschifffahrtsgesellschaft".repeat(12);

// A graph whose names are what no name should be.
test.beforeAll(async ({ request }) => {
  const facts = [
    `${markup}\temployer\t<script>alert(2)</script>`,
    `${markup}\tname in its own language\tآدا لوفلايس`,
    `${markup}\tdescription\t${long}`,
    `آدا لوفلايس\temployer\t${markup}`,
    "",
  ].join("\n");
  const response = await request.post(
    `${process.env.MESH_HTTP}/api/v1/kgs/planted:load?file=facts.tsv`,
    {
      data: Buffer.from(facts),
      headers: { "Content-Type": "application/octet-stream" },
    },
  );
  expect(await response.text()).toContain("event: result");
});

test("markup, right-to-left and very long names are shown as text all the way", async ({
  page,
}) => {
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const question = `Who employed ${markup}?`;
  await ask(page, question, "pg-akv", "planted");
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer).toContainText("<script>alert(2)</script>");
  const graphs = page.getByRole("region", { name: "The three graphs" });
  await graphs.getByRole("tab", { name: /^Evidence/ }).click();
  await expect(graphs).toContainText("آدا لوفلايس");
  await graphs
    .getByRole("list", { name: /knowledge graph holds/ })
    .getByRole("button")
    .first()
    .click();
  await expect(page.getByRole("dialog")).toContainText(markup);
  await page.keyboard.press("Escape");
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await page.goto("#/runs?kg=planted");
  await expect(page.getByRole("link", { name: question }).first()).toBeVisible();
  await expectNoSidewaysScroll(page);
  await expect(page.locator("main img, main script")).toHaveCount(0);
  expect(dialogs).toEqual([]);
});
