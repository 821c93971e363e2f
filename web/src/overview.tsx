// All dependencies on one page: the worst first, search, filter, and an order by any
// column.
import type { ComponentChildren, RefObject } from 'preact';
import { useState } from 'preact/hooks';
import { brief, ms, percent } from './format';
import { calls_per_s, counts, endpointsOf, worstFirst, type Health } from './health';
import { Name } from './names';
import { Search } from './sidebar';
import { Spark } from './spark';
import { stateWord } from './timeline';
import { Keys, StoreDown } from './shared';
import type { Mood, State } from './types';

const per_s = (n: number, h: Health) => (h.t.seconds ? n / h.t.seconds : 0);
const part = (n: number, of: number) => (of ? n / of : NaN);
const p99 = (h: Health) => Math.max(-1, ...h.minute.slice(-10).map((s) => s.p99_call_ms ?? -1));

/** A column: what it is ordered by (a greater number is worse), and what it shows. */
interface Column {
  label: string;
  hint: string;
  of: (h: Health) => number;
  show: (h: Health) => ComponentChildren;
  mood?: (h: Health) => Mood | '';
  narrow?: boolean; // also on a phone
}

const columns: Column[] = [
  { label: 'calls/s', hint: 'calls a second', of: (h) => calls_per_s(h.t), show: (h) => brief(calls_per_s(h.t)), narrow: true },
  {
    label: 'success', hint: 'calls that succeed in the end', narrow: true,
    of: (h) => -part(h.t.first + h.t.late, h.t.judged), show: (h) => percent(part(h.t.first + h.t.late, h.t.judged)),
    mood: (h) => (h.t.failed === 0 ? '' : part(h.t.failed, h.t.judged) > 0.01 ? 'bad' : 'warn'),
  },
  {
    label: 'first try', hint: 'calls that succeed at the first attempt',
    of: (h) => -part(h.t.first, h.t.judged), show: (h) => percent(part(h.t.first, h.t.judged)),
    mood: (h) => (part(h.t.first, h.t.judged) < 0.95 ? 'warn' : ''),
  },
  { label: 'failed/s', hint: 'calls given up, a second', of: (h) => per_s(h.t.failed, h), show: (h) => brief(per_s(h.t.failed, h)), mood: (h) => (h.t.failed ? 'bad' : '') },
  { label: 'retries/s', hint: 'retries a second', of: (h) => per_s(h.t.retries, h), show: (h) => brief(per_s(h.t.retries, h)) },
  { label: 'attempts', hint: 'attempts per call', of: (h) => part(h.t.attempts, h.t.calls), show: (h) => (h.t.calls ? `${part(h.t.attempts, h.t.calls).toFixed(2)}×` : '–') },
  { label: 'p99', hint: 'of calls that succeeded, over the last ten seconds', of: p99, show: (h) => (p99(h) < 0 ? '–' : ms(p99(h))) },
  { label: 'budget', hint: 'retries that would be granted', of: (h) => -(h.dep.budget.left ?? 1e9), show: (h) => (h.dep.budget.left === null ? '∞' : brief(h.dep.budget.left)), mood: (h) => (h.dep.budget.left !== null && h.dep.budget.left < 1 ? 'warn' : '') },
  {
    label: 'breaker', hint: 'its state', narrow: true,
    of: (h) => ({ closed: 0, half_open: 1, open: 2 })[h.dep.breaker.state],
    show: (h) => (h.dep.breaker.on ? stateWord[h.dep.breaker.state] : 'off'),
    mood: (h) => ({ closed: '' as const, half_open: 'warn' as const, open: 'bad' as const })[h.dep.breaker.state],
  },
  {
    label: 'endpoints', hint: 'those that take requests',
    of: (h) => endpointsOf(h.dep)[1] - endpointsOf(h.dep)[0], show: (h) => (endpointsOf(h.dep)[1] ? endpointsOf(h.dep).join(' of ') : '–'),
    mood: (h) => (endpointsOf(h.dep)[0] < endpointsOf(h.dep)[1] ? 'warn' : ''),
  },
];

const filters: [string, string, (m: Mood) => boolean][] = [
  ['all', 'all', () => true],
  ['bad', 'in trouble', (m) => m === 'bad'],
  ['warn', 'to watch', (m) => m === 'warn'],
  ['good', 'well', (m) => m === 'good'],
  ['idle', 'idle', (m) => m === 'idle'],
];

function total(list: Health[], get: (h: Health) => number): number {
  return list.reduce((sum, h) => sum + get(h), 0);
}

function Facts({ list }: { list: Health[] }) {
  const judged = total(list, (h) => h.t.judged), failed = total(list, (h) => h.t.failed);
  const open = list.filter((h) => h.dep.breaker.on && h.dep.breaker.state === 'open').length;
  const facts: [string, string, boolean][] = [
    ['calls/s', brief(Math.round(total(list, (h) => calls_per_s(h.t)))), false],
    ['success in the end', percent(part(judged - failed, judged)), failed / judged > 0.01],
    ['retries/s', brief(total(list, (h) => per_s(h.t.retries, h))), false],
    ['breakers open', String(open), open > 0],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value, bad]) => <div key={name}><dt>{name}</dt><dd class={bad ? 'bad' : ''}>{value}</dd></div>)}
    </dl>
  );
}

interface Props {
  list: Health[]; // after search
  all: Health[];
  state: State;
  shared: string;
  now_ms: number;
  search: string;
  filter: string;
  onFilter: (f: string) => void;
  onSearch: (s: string) => void;
  onChoose: (n: string) => void;
  box: RefObject<HTMLInputElement>;
}

export function Overview(p: Props) {
  const [by, setBy] = useState(-1); // a column; -1 is the worst first
  const n = counts(p.list);
  const keep = filters.find(([key]) => key === p.filter)![2];
  const chosen = worstFirst(p.list.filter((h) => keep(h.mood)));
  const rank = (h: Health) => { const v = columns[by]!.of(h); return Number.isFinite(v) ? v : -1e12; };
  const rows = by < 0 ? chosen : [...chosen].sort((a, b) => rank(b) - rank(a));
  return (
    <main class="content overview" data-dep="">
      <div class="title"><h2>Dependencies</h2><span class="quiet">over the last ten seconds</span></div>
      <StoreDown state={p.state} />
      <Facts list={p.all} />
      <div class="tools">
        <Search {...p} />
        <div class="segments" role="group" aria-label="filter">
          {filters.filter(([key]) => key === 'all' || n[key as Mood] || key === p.filter).map(([key, label]) => (
            <button key={key} aria-pressed={p.filter === key} onClick={() => p.onFilter(key)} data-filter={key}>
              {key !== 'all' && <i class={`dot ${key}`} />}{label} <b>{key === 'all' ? p.list.length : n[key as Mood]}</b>
            </button>
          ))}
        </div>
      </div>
      <section class="card">
        <table class="all-deps">
          <thead>
            <tr>
              <th scope="col"><button class={by < 0 ? 'sorted' : ''} title="order: the worst first" onClick={() => setBy(-1)}>dependency</button></th>
              <th scope="col" class="wide">last minute</th>
              {columns.map((c, i) => (
                <th key={c.label} scope="col" class={c.narrow ? 'n' : 'n wide'} aria-sort={by === i ? 'descending' : 'none'}>
                  <button class={by === i ? 'sorted' : ''} title={`${c.hint}; order by it`} onClick={() => setBy(by === i ? -1 : i)}>{c.label}</button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((h) => (
              <tr key={h.dep.name} data-row={h.dep.name} class={h.mood} onClick={() => p.onChoose(h.dep.name)}>
                <th scope="row"><div class="who">
                  <i class={`dot ${h.mood}`} />
                  <a href={`#${encodeURIComponent(h.dep.name)}`} onClick={(e) => { e.preventDefault(); e.stopPropagation(); p.onChoose(h.dep.name); }}>
                    <Name name={h.dep.name} shared={p.shared} />
                  </a>
                  {h.why && <span class="why">{h.why}</span>}
                </div></th>
                <td class="wide"><Spark samples={h.minute} to={p.now_ms} /></td>
                {columns.map((c) => <td key={c.label} class={`n ${c.narrow ? '' : 'wide'} ${c.mood?.(h) ?? ''}`}>{c.show(h)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length === 0 && <p class="empty flat">{p.all.length ? 'none matches' : 'no dependency is observed yet'}</p>}
      </section>
      <Keys state={p.state} />
    </main>
  );
}
