// Names that begin alike: what they share is written quietly, what tells them apart
// is not, and nothing is cut off.
import { Fragment } from 'preact';

/** How much of each name at least half of all share: whole words only. */
export function sharedPrefix(names: string[]): string {
  if (names.length < 3) return '';
  let prefix = '';
  for (;;) {
    const next = new Map<string, number>();
    for (const n of names) {
      if (!n.startsWith(prefix)) continue;
      const word = /^[^-_./:]*[-_./:]/.exec(n.slice(prefix.length))?.[0];
      if (word && n.length > prefix.length + word.length) next.set(word, (next.get(word) ?? 0) + 1);
    }
    const [word, n] = [...next].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
    if (n <= names.length / 2) return prefix;
    prefix += word;
  }
}

/** It may break after - _ . / and :, as an address may. */
export function Name({ name, shared }: { name: string; shared: string }) {
  const quiet = name.startsWith(shared) ? shared : '';
  const parts = name.slice(quiet.length).split(/(?<=[-_./:])/);
  return (
    <span class="depname">
      {quiet && <span class="shared">{quiet}<wbr /></span>}
      <b>{parts.map((p, i) => <Fragment key={i}>{p}<wbr /></Fragment>)}</b>
    </span>
  );
}
