// Takes pictures of the dashboard, for people to look at:
//   node shot.mjs URL OUT_DIRECTORY [dependency]
import { open } from './browser.mjs';

const [url, out, dep = ''] = process.argv.slice(2);
const browser = await open();
for (const [name, width, height] of [['wide', 1280, 900], ['phone', 390, 844]]) {
  for (const theme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
    page.on('console', (m) => console.log(`${name} ${theme}: ${m.text()}`));
    page.on('pageerror', (e) => console.log(`${name} ${theme}: ${e}`));
    await page.goto(`${url}/#${dep}`);
    await page.waitForSelector('.tiles');
    await page.waitForTimeout(1500);
    await page.screenshot({ path: `${out}/${name}-${theme}.png`, fullPage: true });
    await page.close();
  }
}
await browser.close();
