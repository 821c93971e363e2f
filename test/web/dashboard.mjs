// The dashboard in a browser, on a program whose engine is real:
//   node dashboard.mjs LIVE
import { spawn } from 'node:child_process';
import { open } from './browser.mjs';
import { check, finish } from './tap.mjs';

const LIVE = process.argv[2];
const TOKEN = 'a-token-of-some-length';
const browser = await open();

/** Starts a program; it ends with its standard input. */
async function start(...args) {
  const child = spawn(LIVE, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise((done) => child.stdout.once('data', (d) => done(String(d).trim())));
  return { url: `http://127.0.0.1:${port}`, end: () => child.stdin.end() };
}

const state = async (url) => (await fetch(`${url}/api/state`)).json();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits until it is so; gives how long that took, or -1. */
async function until(fn, limit = 30000) {
  const began = Date.now();
  while (Date.now() - began < limit) {
    if (await fn()) return Date.now() - began;
    await sleep(50);
  }
  return -1;
}

/** A page on which nothing may go wrong. */
async function look(url, width, height, theme = 'light') {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
  page.wrong = [];
  page.elsewhere = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && page.wrong.push(m.text()));
  page.on('pageerror', (e) => page.wrong.push(String(e)));
  const origin = new URL(url).origin;
  page.on('request', (r) => r.url().startsWith(origin) || r.url().startsWith('data:') || page.elsewhere.push(r.url()));
  await page.goto(url);
  await page.waitForSelector('main');
  return page;
}

/** The page of one dependency, from wherever it is. */
async function go(page, name) {
  if (await page.locator('.overview').count()) await page.click(`[data-row="${name}"] a`);
  else await page.click(`.dep[data-name="${name}"]`);
  await page.waitForSelector(`main[data-dep="${name}"]`);
}

const text = (page, selector) => page.textContent(selector).then((t) => t.trim());
const number = (t) => Number(t.replace(/[,×]/g, ''));

/** What is written as a total on the page. */
function totals(page) {
  return page.evaluate(() => Object.fromEntries([...document.querySelectorAll('[data-total]')]
    .map((e) => [e.dataset.total, e.textContent])));
}

/** Waits until the calls of a program have ended. */
async function ended(url) {
  let before = 0;
  await until(async () => {
    const now = (await state(url)).deps.reduce((n, d) => n + d.calls.first_success + d.calls.late_success + d.calls.failure, 0);
    const same = now > 0 && now === before;
    before = now;
    await sleep(1000);
    return same;
  });
}

/** What the page says of a dependency, and what it should, by name. */
async function compare(page, now) {
  const shown = await totals(page);
  const refused = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('[data-refused]')]
    .map((e) => [e.dataset.refused, Number(e.textContent.replace(/,/g, ''))])));
  const budget = await text(page, '[data-test=budget] .value');
  const pairs = {
    'first_success': [number(shown.first_success), now.calls.first_success],
    'late_success': [number(shown.late_success), now.calls.late_success],
    'failure': [number(shown.failure), now.calls.failure],
    'amplification': [shown.amplification, `${now.amplification.toFixed(2)}×`],
    'openings': [number(shown.opened), now.breaker.opened],
    'reasons': [JSON.stringify(Object.entries(refused).sort()), JSON.stringify(Object.entries(now.refused).sort())],
    'budget': [budget, now.budget.left === null ? 'none' : String(now.budget.left)],
  };
  if (now.hedges.on) pairs.hedges = [number(shown.hedges_sent), now.hedges.sent];
  return pairs;
}

async function values() {
  const program = await start('--traffic', '3');
  const page = await look(program.url, 1280, 900);
  await ended(program.url);
  check('there is an overview first', (await page.locator('.overview [data-row]').count()) === 4);
  for (const dep of (await state(program.url)).deps) {
    await go(page, dep.name);
    // The page is a second behind, and budgets go on to recover: until it is even.
    let pairs = {};
    await until(async () => {
      pairs = await compare(page, (await state(program.url)).deps.find((d) => d.name === dep.name));
      return Object.values(pairs).every(([shown, said]) => shown === said);
    });
    for (const [name, [shown, said]] of Object.entries(pairs)) {
      check(`${dep.name}: ${name} is as /api/state says`, shown === said, [shown, said]);
    }
    if (dep.hedges.on) check(`${dep.name}: there were hedges`, pairs.hedges[0] > 0, pairs);
    const legends = await page.locator('.legend b').allTextContents();
    check(`${dep.name}: nothing is less than nothing`, legends.length > 5 && !legends.some((l) => l.startsWith('-')), legends);
  }
  check('nothing went wrong in the browser', page.wrong.length === 0, page.wrong);
  check('nothing was asked of anybody else', page.elsewhere.length === 0, page.elsewhere);
  await page.close();
  program.end();
}

async function breaker() {
  const program = await start('--ill', '--token', TOKEN);
  const page = await look(program.url, 1280, 900);
  await alarm(page);
  await go(page, 'payments');
  const opened = await until(async () => (await state(program.url)).deps[0].breaker.opened > 0);
  check('failures open the breaker', opened >= 0);
  const shown = await until(async () => (await totals(page)).opened !== '0'
    && (await page.locator('[data-test=timeline] rect.open').count()) > 0);
  check('the page shows it', shown >= 0);
  console.log(`# after ${shown} ms; 2 s are the aim`);
  check('the timeline names the turn', (await until(async () => /closed\s*→\s*open/.test(await text(page, '[data-test=timeline] .turns')))) >= 0);
  await actions(page, program);
  await keys(page);
  await decisions(page, program);
  check('nothing went wrong in the browser', page.wrong.filter((w) => !/401/.test(w)).length === 0, page.wrong);
  await page.close();
  await layouts(program);
  await policy(program);
  program.end();
}

/** Trouble shows in a tab that nobody looks at, and first in the list. */
async function alarm(page) {
  const mood = () => page.getAttribute('link[rel=icon]', 'data-mood');
  check('trouble shows in the title', (await until(async () => /^✖ .*payments|^✖ \d+ in trouble/.test(await page.title()))) >= 0, await page.title());
  check('and in the icon', (await mood()) === 'bad', await mood());
  const first = () => page.getAttribute('.overview tbody tr >> nth=0', 'data-row');
  check('the worst is first', (await until(async () => (await first()) === 'payments')) >= 0, await first());
  const why = await text(page, '[data-row=payments] .why');
  check('with the reason', why.length > 3, why);
  const labels = await page.locator('.all-deps thead th').allTextContents();
  check('every column has a label', labels.length === 12 && labels.every((l) => l.trim()), labels);
  await page.click('[data-filter=bad]');
  check('a filter leaves those in trouble', (await page.locator('.overview [data-row]').count()) < 4);
  await page.click('[data-filter=all]');
  await page.keyboard.press('/');
  await page.keyboard.type('MAI');
  check('/ searches, in any case', (await until(async () => (await page.locator('.overview [data-row]').count()) === 1)) >= 0
    && (await page.locator('[data-row=mail]').count()) === 1);
  await page.keyboard.press('Escape');
  check('Escape ends that', (await until(async () => (await page.locator('.overview [data-row]').count()) === 4)) >= 0);
}

async function actions(page, program) {
  const mail = async () => (await state(program.url)).deps.find((d) => d.name === 'mail').breaker.state;
  const payments = async () => (await state(program.url)).deps.find((d) => d.name === 'payments').breaker;
  await until(async () => (await payments()).state === 'open');
  await page.click('[data-test=probe]');
  await page.fill('input[type=password]', TOKEN);
  const before = Date.now();
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog', { state: 'detached' });
  const turned = await until(async () => (await state(program.url)).turns.some((t) => t.dep === 'payments' && t.to === 'half_open' && t.at_ms >= before - 1000));
  check('an open breaker can be told to probe now, and Enter sends the token', turned >= 0);
  await go(page, 'mail');
  await page.click('[data-test=force]');
  await page.check('input[type=radio] >> nth=1');
  await page.fill('input[type=password]', 'wrong');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.said');
  check('a wrong token is told', (await text(page, '.said')) === 'invalid token' && (await mail()) === 'closed');
  await page.fill('input[type=password]', TOKEN);
  await page.click('dialog .primary');
  check('with the right one the breaker opens', (await until(async () => (await mail()) === 'open')) >= 0);
  check('and shows', (await until(async () => (await text(page, '[data-test=breaker] .value')) === 'open')) >= 0);
  const says = await text(page, '[data-test=breaker] .sub');
  check('and that it was forced', says.startsWith('forced: every call is refused'), says);
  await retriesSwitch(page, program);
  await go(page, 'payments');
}

/** On the page of `mail`: off, with the token, and on again. */
async function retriesSwitch(page, program) {
  const on = async () => (await state(program.url)).deps.find((d) => d.name === 'mail').retries_on;
  const button = () => text(page, '[data-test=retries]');
  check('a button offers to turn retries off', (await button()) === 'retries off' && (await on()) === true, await button());
  for (const to of [false, true]) {
    await page.click('[data-test=retries]');
    await page.fill('input[type=password]', TOKEN);
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog', { state: 'detached' });
    check(`retries are turned ${to ? 'on again' : 'off'}`, (await until(async () => (await on()) === to)) >= 0);
    const word = to ? 'retries off' : 'retries on';
    check('and the button offers the contrary', (await until(async () => (await button()) === word)) >= 0, await button());
  }
}

async function keys(page) {
  const heading = () => text(page, '.title h2');
  await page.keyboard.press('o');
  check('o is the overview', (await until(async () => (await heading()) === 'Dependencies')) >= 0);
  await page.evaluate(() => { // two at once, before anything can be drawn
    for (const key of ['j', 'j']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  });
  check('keys may come faster than pages', (await until(async () => !['Dependencies', 'payments'].includes(await heading()))) >= 0, await heading());
  await page.keyboard.press('k');
  check('k goes back', (await until(async () => (await heading()) === 'payments')) >= 0, await heading());
  await page.goBack();
  check('so does the browser', (await until(async () => (await heading()) !== 'payments')) >= 0);
  await go(page, 'payments');
  await page.hover('.chart .plot >> nth=0', { position: { x: 300, y: 60 } });
  const when = () => page.locator('.legend .when').allTextContents();
  check('the charts say what time is under the mouse', (await until(async () => (await when()).some((w) => /^\d\d:\d\d:\d\d$/.test(w)))) >= 0, await when());
  await page.keyboard.press('3');
  check('3 is fifteen minutes', (await until(async () => (await page.getAttribute('.segments button >> nth=2', 'aria-pressed')) === 'true')) >= 0);
  await page.keyboard.press('1');
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.keyboard.press('t');
  check('t turns light into dark', before === 'light' && (await until(async () => (await theme()) === 'dark')) >= 0);
  await page.keyboard.press('t');
  await page.keyboard.press(' ');
  await until(async () => (await text(page, '.link-state')) === 'paused');
  const still = await text(page, '.content');
  await sleep(2200);
  check('space stops the page', (await text(page, '.content')) === still && (await text(page, '.link-state')) === 'paused');
  await page.keyboard.press(' ');
  check('and lets it go on', (await until(async () => (await text(page, '.content')) !== still)) >= 0);
  await page.keyboard.press('?');
  check('? shows the keys', (await until(() => page.isVisible('dialog .keys'))) >= 0);
  await page.keyboard.press('Escape');
  check('Escape closes that', (await until(async () => !(await page.isVisible('dialog')))) >= 0);
}

async function decisions(page, program) {
  await page.keyboard.press(' '); // they move
  await until(async () => (await text(page, '.link-state')) === 'paused');
  const first = page.locator('.decision').first();
  const id = Number(await first.getAttribute('data-decision'));
  const said = (await state(program.url)).decisions.find((d) => d.id === id);
  await first.click();
  await page.waitForSelector('[data-test=explain]');
  const explained = await text(page, '[data-test=explain]');
  check('a click explains a decision', said !== undefined && explained.includes('What was decided') && explained.includes(said.reason), [explained, said]);
  check('and says how to ask again, or why one cannot', explained.includes('bide explain'), explained);
  const headless = await page.evaluate(() => [...document.querySelectorAll('.content table')].filter((t) => !t.querySelector('thead th')).length);
  check('every table has labels', headless === 0, headless);
  await page.keyboard.press('Escape');
  await page.keyboard.press(' ');
}

async function layouts(program) {
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    for (const theme of ['light', 'dark']) {
      const page = await look(`${program.url}/#payments`, width, height, theme);
      await until(async () => (await page.locator('.chart canvas').count()) >= 5);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${width} ${theme}: fits its width`, wide <= width, wide);
      const outside = await page.evaluate((w) => [...document.querySelectorAll('.card')]
        .filter((c) => { const b = c.getBoundingClientRect(); return b.left < 0 || b.right > w + 0.5; })
        .map((c) => c.className), width);
      check(`${width} ${theme}: so does each card`, outside.length === 0, outside);
      const clipped = await page.evaluate(() => [...document.querySelectorAll('.tile')]
        .filter((c) => c.scrollWidth > c.clientWidth + 1).map((c) => c.textContent));
      check(`${width} ${theme}: no tile is cut off`, clipped.length === 0, clipped);
      const colours = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      check(`${width} ${theme}: goes by the system's choice`, (colours === 'rgb(13, 18, 25)') === (theme === 'dark'), colours);
      const drawn = await page.evaluate(() => [...document.querySelectorAll('.chart canvas')].length);
      check(`${width} ${theme}: charts are drawn`, drawn >= 5, drawn);
      check(`${width} ${theme}: nothing went wrong`, page.wrong.length === 0, page.wrong);
      await page.close();
    }
  }
}

async function policy(program) {
  const page = await look(program.url, 1280, 900);
  const ran = await page.evaluate(async () => {
    const s = document.createElement('script');
    s.textContent = 'window.injected = true';
    document.body.append(s);
    const asked = await fetch('http://127.0.0.1:1/').then(() => 'sent', (e) => String(e));
    return [window.injected ?? false, asked];
  });
  check('a script that is not ours does not run', ran[0] === false, ran);
  check('the page cannot ask anybody else', page.wrong.some((w) => /Content Security Policy/i.test(w)), page.wrong);
  await page.close();
}

async function lost() {
  const program = await start('--calm');
  const page = await look(program.url, 1280, 900);
  let asked = 0;
  page.on('request', (r) => { asked += r.url().includes('/api/history') ? 1 : 0; });
  await until(async () => (await text(page, '.link-state')) === 'live');
  program.end();
  check('a program that is gone is told', (await until(async () => /lost/.test(await text(page, '.link-state')))) >= 0);
  asked = 0;
  const again = await start('--calm', '--port', new URL(program.url).port);
  check('and found again', (await until(async () => (await text(page, '.link-state')) === 'live')) >= 0);
  check('with what was missed', (await until(() => asked > 0)) >= 0);
  await page.close();
  again.end();
}

/** Whatever the address says, there is a page. */
async function addresses() {
  const program = await start('--calm');
  for (const hash of ['#%', '#nobody', '#search']) {
    const page = await look(`${program.url}/${hash}`, 1280, 900);
    await page.waitForSelector(hash === '#search' ? '.tiles' : '.overview');
    const heading = await text(page, '.title h2');
    check(`the address may end in ${hash}`, heading === (hash === '#search' ? 'search' : 'Dependencies') && page.wrong.length === 0, [heading, page.wrong]);
    await page.close();
  }
  program.end();
}

/** With 30 and with 300 of them, whose names are alike. */
async function many() {
  for (const n of [30, 300]) {
    const program = await start('--many', String(n));
    for (const [width, height] of [[1280, 900], [390, 844]]) {
      const page = await look(program.url, width, height);
      const rows = () => page.locator('.overview [data-row]').count();
      check(`${n} in ${width}: all are there`, (await until(async () => (await rows()) === n + 4)) >= 0, await rows());
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(`${n} in ${width}: the page fits its width`, wide <= width, wide);
      const cut = await page.evaluate(() => [...document.querySelectorAll('.depname')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).length);
      check(`${n} in ${width}: no name is cut`, cut === 0, cut);
      const shared = await page.textContent('[data-row^="shop-platform"] .shared');
      check(`${n} in ${width}: what they share is set apart`, shared === 'shop-platform-', shared);
      const name = 'shop-platform-catalog-api-eu-central-1/default';
      await page.click(`[data-row="${name}"] a`);
      await page.waitForSelector('.tiles');
      check(`${n} in ${width}: one opens, slash and all`, (await text(page, '.title h2')) === name);
      check(`${n} in ${width}: and the list is beside it`, (await page.locator('.dep').count()) === n + 4);
      check(`${n} in ${width}: nothing went wrong`, page.wrong.length === 0, page.wrong);
      await page.close();
    }
    program.end();
  }
}

/** What is shared: a fleet, and the store of keys; all numbers are live.c's. */
async function sharing() {
  const program = await start('--calm', '--shared');
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    const page = await look(program.url, width, height);
    const shown = (test) => text(page, `[data-test=${test}]`);
    check(`${width}: the overview has the store`, (await until(async () => (await page.locator('[data-test=store]').count()) === 1)) >= 0);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${width}: with it, the page fits its width`, wide <= width, wide);
    await go(page, 'mail');
    await page.waitForSelector('[data-test=fleet]');
    const rows = {
      'store-state': 'up', 'store-records': '12,345', 'store-room': '256 MiB (25.0%)', 'store-oldest': '2 h 1 min',
      'store-claims': '13k', 'store-replays': '250', 'store-mismatch': '3', 'store-in_progress': '17',
      'fleet-state': 'joined', 'fleet-instances': '3', 'fleet-used': '7 of 18', 'fleet-failing': '1 of 3', 'fleet-leased': '4',
    };
    for (const [test, said] of Object.entries(rows)) {
      check(`${width}: ${test} is ${said}`, (await until(async () => (await shown(test)) === said)) >= 0, await shown(test));
    }
    const also = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`${width}: the page of one fits its width`, also <= width, also);
    check(`${width}: a store that is up is no alarm`, (await page.locator('[data-test=store-down]').count()) === 0);
    await go(page, 'search');
    check(`${width}: one in no fleet has no card of it`, (await page.locator('[data-test=fleet]').count()) === 0);
    check(`${width}: nothing went wrong`, page.wrong.length === 0, page.wrong);
    await page.close();
  }
  program.end();
}

/** A store that is down refuses what no dependency sees: all tiles may be green. */
async function storeDown() {
  const program = await start('--calm', '--store-down');
  for (const [width, height] of [[1280, 900], [390, 844]]) {
    const page = await look(program.url, width, height);
    for (const where of ['', 'mail']) {
      if (where) await go(page, where);
      await page.waitForSelector('[data-test=store-down]');
      const said = await text(page, '[data-test=store-down]');
      check(`${width}: ${where || 'the overview'} says that the store is down`,
        said === 'The store of idempotency keys is down. 12 requests with a key were refused. The log says why.', said);
      const box = await page.locator('[data-test=store-down]').boundingBox();
      check(`${width}: it is on the first screen`, box && box.y + box.height < height, box);
    }
    await page.close();
  }
  program.end();
}

await values();
await sharing();
await storeDown();
await many();
await breaker();
await lost();
await addresses();
await browser.close();
finish();
