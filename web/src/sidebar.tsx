// Every dependency at a glance.
import { calls, failures, sum, within } from './data';
import { brief, percent } from './format';
import type { Dep, Sample, State } from './types';

/** The worst of what can be seen. */
function mood(dep: Dep, failed: number): string {
  if (dep.breaker.state === 'open' || failed > 0.05) return 'open';
  if (dep.breaker.state === 'half_open' || failed > 0.001) return 'half_open';
  return 'closed';
}

function Spark({ samples, from, to }: { samples: Sample[]; from: number; to: number }) {
  const most = Math.max(1, ...samples.map((s) => calls(s) / (s.seconds || 1)));
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

export function Sidebar(p: { state: State; samples: Map<string, Sample[]>; name: string; onChoose: (n: string) => void }) {
  const to = p.state.now_ms, from = to - 60000;
  return (
    <nav class="deps" aria-label="dependencies">
      {p.state.deps.map((dep) => {
        const samples = within(p.samples.get(dep.name) ?? [], from, to);
        const t = sum(samples.slice(-10));
        const failed = t.judged ? t.failed / t.judged : 0;
        return (
          <button key={dep.name} class="dep" title={dep.name} aria-current={dep.name === p.name} onClick={() => p.onChoose(dep.name)}>
            <span class="name"><i class={`dot ${mood(dep, failed)}`} /><b>{dep.name}</b></span>
            <Spark samples={samples} from={from} to={to} />
            <span class="facts">
              <span>{brief(t.seconds ? t.calls / t.seconds : 0)}/s</span>
              <span>{t.judged ? percent((t.first + t.late) / t.judged) : '–'}</span>
              <span>{t.calls ? `${(t.attempts / t.calls).toFixed(2)}×` : '–'}</span>
            </span>
          </button>
        );
      })}
    </nav>
  );
}
