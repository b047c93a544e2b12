// A recording: its calls.

export const tests = {
  async "a recording has a list of calls"({ page, show, until, shot }) {
    await show("s=1&v=calls");
    await page.waitForSelector(".list tbody tr");
    const name = await page.textContent(".list .kind-function");
    await page.fill("[aria-label='function to find']", name);
    await page.click("text=find next");
    await until("found", async () => /took|none after/.test(await page.textContent(".find .status")));
    await shot("calls");
  },
};
