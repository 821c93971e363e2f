// How long retries waited, against the shape that the policy should make of it.
import { count, ms } from './format';
import { useWidth } from './width';
import type { Buckets, Dep } from './types';

const H = 168, LEFT = 4, BOTTOM = 22;

/** Neighbours put together: four buckets of the engine are one doubling. */
function halves(list: Buckets): Map<number, number> {
  const out = new Map<number, number>();
  for (const [i, n] of list) {
    const k = Math.floor(i / 2);
    out.set(k, (out.get(k) ?? 0) + n);
  }
  return out;
}

function ticks(first: number, last: number, width: number): number[] {
  const list: number[] = [];
  for (let k = first; k <= last; k++) {
    if (k % 2 === 0) list.push(k);
  }
  const step = Math.ceil((list.length * 64) / Math.max(width, 64));
  return list.filter((_, i) => i % step === 0);
}

export function Waits({ dep, bounds }: { dep: Dep; bounds: number[] }) {
  const [box, W] = useWidth();
  const drawn = halves(dep.waits.jittered);
  const ideal = halves(dep.waits.ideal);
  const slept = halves(dep.waits.slept);
  const total = dep.waits.jittered.reduce((sum, [, n]) => sum + n, 0);
  // What is too rare to be seen would only stretch the scale.
  const seen = [...drawn.keys(), ...[...ideal].filter(([, n]) => n > total / 100).map(([k]) => k)];
  const jitter = dep.rules.find((r) => r[0] === 'backoff.jitter')?.[1] ?? '';
  const head = (
    <header>
      <h3>Waits before retries</h3>
      <p class="hint">as drawn, against the shape that {jitter === 'none' ? 'no' : jitter} jitter should make of what was computed; since the start</p>
    </header>
  );
  if (!total) {
    return <section class="card waits">{head}<div class="plot" ref={box}><p class="empty">no retry yet</p></div></section>;
  }
  const first = Math.min(...seen), last = Math.max(...seen);
  const most = Math.max(...drawn.values(), ...ideal.values(), 1);
  const step = (W - LEFT) / (last - first + 1);
  const x = (k: number) => LEFT + (k - first) * step;
  const y = (n: number) => H - BOTTOM - (n / most) * (H - BOTTOM - 10);
  const line = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    .map((k, i) => `${i ? 'L' : 'M'}${x(k).toFixed(1)} ${y(ideal.get(k) ?? 0).toFixed(1)}H${(x(k) + step).toFixed(1)}`)
    .join('');
  return (
    <section class="card waits">
      {head}
      <ul class="legend">
        <li><i class="key" data-colour="backoff" />drawn <b>{count(total)}</b></li>
        <li><i class="key dash" data-colour="ink" />ideal</li>
        <li><i class="key tick" data-colour="late" />really slept</li>
      </ul>
      <div class="plot" ref={box}>
      <svg width={W} height={H} role="img" aria-label="histogram of waits">
        {[...drawn].map(([k, n]) => (
          <rect key={k} class="bar" x={x(k) + 1} width={Math.max(1, step - 2)} y={y(n)} height={H - BOTTOM - y(n)}>
            <title>{`${ms(bounds[2 * k]!)} to ${ms(bounds[2 * k + 2]!)}: ${count(n)} drawn, ${Math.round(ideal.get(k) ?? 0)} expected, ${count(slept.get(k) ?? 0)} slept`}</title>
          </rect>
        ))}
        {[...slept].filter(([k]) => k >= first && k <= last).map(([k, n]) => (
          <line key={k} class="slept" x1={x(k) + 2} x2={x(k) + step - 2} y1={y(n)} y2={y(n)} />
        ))}
        <path class="ideal" d={line} />
        <line class="base" x1={LEFT} x2={W} y1={H - BOTTOM} y2={H - BOTTOM} />
        {ticks(first, last, W).filter((k) => x(k) < W - 40).map((k) => (
          <text key={k} x={x(k)} y={H - 7}>{ms(bounds[2 * k]!)}</text>
        ))}
      </svg>
      </div>
    </section>
  );
}
