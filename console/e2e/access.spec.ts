import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mesh, startMesh, triplemesh } from "./mesh";
import { expect, expectAccessible, test } from "./test";

// A mesh of its own that wants to know who asks.
test.describe.configure({ mode: "serial", timeout: 60_000 });
test.use({ expectedErrors: [/401|403/] });

let folder: string;
let mesh: Mesh;
let token: string;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "triplemesh-console-access-"));
  const tokens = join(folder, "tokens.yaml");
  const made = ["--name", "ada", "--tenant", "acme", "--scope", "ask,kg:read"];
  token = (await triplemesh("token", "new", "--file", tokens, ...made)).trim();
  mesh = await startMesh({ data: folder, nth: 5000, set: [`server.auth.tokens_file=${tokens}`] });
});

test.afterAll(async () => {
  await mesh?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the console asks for a token, keeps it in its tab and shows whose it is", async ({
  page,
}) => {
  await page.goto(`${mesh.http}/#/mesh`);
  const dialog = page.getByRole("dialog", { name: "Your token" });
  await expect(dialog).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel("Token", { exact: false }).fill("not-a-token");
  await dialog.getByRole("button", { name: "Use it" }).click();
  await expect(dialog).toContainText("does not take the token you gave");
  await dialog.getByLabel("Token", { exact: false }).fill(token);
  await dialog.getByRole("button", { name: "Use it" }).click();
  await expect(dialog).toHaveCount(0);

  const who = page.getByRole("region", { name: "You" });
  await expect(who).toContainText("acme");
  await expect(who).toContainText("ada");
  await page.reload();
  await expect(who).toContainText("acme");
  expect(await page.context().cookies()).toEqual([]);
  expect(page.url()).not.toContain(token);

  await test.step("what the token does not allow is refused", async () => {
    await page.goto(`${mesh.http}/#/kgs`);
    await page.getByRole("textbox", { name: /^Name/ }).fill("films");
    await page.locator("input[type=file]").setInputFiles({
      name: "facts.tsv",
      mimeType: "text/plain",
      buffer: Buffer.from("a\tb\tc\n"),
    });
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("PERMISSION_DENIED");
  });
  await test.step("reports are read with it", async () => {
    await page.goto(`${mesh.http}/#/reports`);
    await expect(page.getByText("No report was published yet")).toBeVisible();
  });
  await test.step("a forgotten token is gone", async () => {
    await page.goto(`${mesh.http}/#/mesh`);
    await who.getByRole("button", { name: "Forget the token" }).click();
    await expect(dialog).toBeVisible();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });
});

test("a report is not read by its address without a token", async ({ page }) => {
  const response = await page.goto(`${mesh.http}/reports/any.html`);
  expect(response?.status()).toBe(401);
});
