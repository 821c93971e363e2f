// What the dashboard of a worker shows, as JSON: node queue.mjs PORT
import { open } from './browser.mjs';

const browser = await open();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const errors = [];
page.on('pageerror', (e) => errors.push(String(e)));
page.on('console', (m) => m.type() === 'error' && errors.push(m.text()));
await page.goto(`http://127.0.0.1:${process.argv[2]}/`);
await page.waitForSelector('[data-test=queue]');
await page.waitForTimeout(1500);
const text = (selector) => page.textContent(selector);
const seen = { errors };
for (const name of ['waiting', 'oldest', 'paused', 'running', 'dead']) seen[name] = await text(`[data-test=${name}] .value`);
seen.pausedSub = await text('[data-test=paused] .sub');
seen.pausedNote = await text('[data-test=paused] .note');
seen.deadNote = await text('[data-test=dead] .note');
seen.done = await text('[data-test=done] .note b');
console.log(JSON.stringify(seen));
await browser.close();
