// A minute of calls, and of those that failed, as two small lines.
import { calls, failures } from './data';
import { peak } from './health';
import type { Sample } from './types';

export function Spark({ samples, to }: { samples: Sample[]; to: number }) {
  const from = to - 60000, most = peak(samples);
  const x = (s: Sample) => (((s.at_ms - from) / (to - from)) * 100).toFixed(1);
  const y = (n: number) => (22 - (n / most) * 20).toFixed(1);
  const line = (get: (s: Sample) => number) =>
    samples.map((s, i) => `${i ? 'L' : 'M'}${x(s)} ${y(get(s) / (s.seconds || 1))}`).join('');
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <path class="calls" d={line(calls)} />
      {samples.some((s) => failures(s) > 0) && <path class="failed" d={line(failures)} />}
    </svg>
  );
}
