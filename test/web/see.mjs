// Shows the dashboard in a browser, and for each line on its standard input tells
// what is on it, as JSON:  node see.mjs URL [PICTURE.png]
// `see`: what is on the page. `ask`: the reason of each kind of decision in the list,
// and the command that the page has for asking again.
import { createInterface } from 'node:readline';
import { open } from './browser.mjs';

const [url, picture] = process.argv.slice(2);
const browser = await open();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const wrong = [];
page.on('console', (m) => ['error', 'warning'].includes(m.type()) && wrong.push(m.text()));
page.on('pageerror', (e) => wrong.push(String(e)));
page.on('request', (r) => r.url().startsWith(url) || r.url().startsWith('data:') || wrong.push(`asked ${r.url()}`));
await page.goto(url);
await page.waitForSelector('.tiles');

function look() {
  const text = (e) => e?.textContent.trim() ?? '';
  const all = (s) => [...document.querySelectorAll(s)];
  return {
    dep: document.querySelector('main').dataset.dep,
    totals: Object.fromEntries(all('[data-total]').map((e) => [e.dataset.total, text(e)])),
    breaker: text(document.querySelector('[data-test=breaker] .value')).replace('-', '_'),
    turns: text(document.querySelector('.turns')).replace(/\s+/g, ' '),
    endpoints: all('.endpoints td:first-child').map(text),
    decisions: all('.decision').map(text),
  };
}

async function ask() {
  const found = {};
  await page.keyboard.press(' '); // they move
  await page.waitForSelector('.link-state.paused');
  for (const button of await page.locator('.decisions li .decision').all()) {
    await button.click();
    const explained = page.locator('[data-test=explain]');
    await explained.waitFor();
    const reason = await explained.locator('h4 code').textContent();
    const command = explained.locator('[data-test=command]');
    found[reason] = (await command.count()) ? await command.textContent() : '';
    await page.keyboard.press('Escape');
    await explained.waitFor({ state: 'detached' });
  }
  await page.keyboard.press(' ');
  return found;
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'ask') console.log(JSON.stringify(await ask()));
  if (line === 'see') console.log(JSON.stringify({ ...(await page.evaluate(look)), wrong }));
}
if (picture) await page.screenshot({ path: picture });
await browser.close();
