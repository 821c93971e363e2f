// Debian's chromium, without a network of its own to call home on.
import { chromium } from 'playwright-core';

process.env.TMPDIR = '/tmp'; // it has sockets there, whose paths must be short

export function open() {
  return chromium.launch({
    executablePath: process.env.BIDE_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update',
      '--disable-default-apps', '--disable-sync', '--no-first-run', '--disable-gpu'],
  });
}
