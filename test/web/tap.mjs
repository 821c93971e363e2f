// Results as TAP.
let count = 0, failed = 0;

export function check(name, ok, detail) {
  count += 1;
  if (!ok) failed += 1;
  console.log(`${ok ? 'ok' : 'not ok'} ${count} - ${name.replaceAll('#', '')}`);
  if (!ok && detail !== undefined) {
    for (const line of JSON.stringify(detail, null, 1).split('\n')) console.log(`# ${line}`);
  }
}

export function finish() {
  console.log(`1..${count}`);
  process.exit(failed ? 1 : 0);
}
