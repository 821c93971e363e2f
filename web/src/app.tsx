// The page: an overview of all dependencies, or the list on the left and one of them
// on the right.
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { useAlarm } from './alarm';
import { Chart } from './chart';
import { Feed, calls, failures, set_aside, sum, within } from './data';
import { Explain, Force, Keys, Probe, Retries } from './dialogs';
import { brief, ms, span } from './format';
import { healths, worstFirst } from './health';
import { Decisions, Endpoints, GivenUp, Hedges, Program, Routes, Rules } from './lists';
import { sharedPrefix } from './names';
import { Overview } from './overview';
import { Fleet, Keys as KeysKept, StoreDown } from './shared';
import { Depth, hasQueue, Queue } from './queue';
import { Sidebar } from './sidebar';
import { useTheme, type Theme } from './theme';
import { Tiles } from './tiles';
import { Timeline } from './timeline';
import { isWhole, type Decision, type Dep, type Sample, type State } from './types';
import { Waits } from './waits';

const ranges: [string, number][] = [['1 min', 60], ['5 min', 300], ['15 min', 900]];

/** What is on the page: all of it, or as it was when somebody said stop. */
interface Frozen {
  state: State;
  samples: Map<string, Sample[]>;
}

function freeze(feed: Feed): Frozen | null {
  if (!feed.state) return null;
  return { state: feed.state, samples: new Map([...feed.samples].map(([k, v]) => [k, [...v]])) };
}

/** Attempts per call over the last ten seconds: calls end later than their attempts
 * do, so in a single second one may be there without the other. */
function ratio(samples: Sample[]): (number | null)[] {
  const OVER = 10;
  return samples.map((_, i) => {
    let attempts = 0, ended = 0;
    for (const s of samples.slice(Math.max(0, i + 1 - OVER), i + 1)) {
      attempts += s.attempts;
      ended += calls(s);
    }
    return ended ? attempts / ended : null;
  });
}

function Charts({ dep, queue, samples, from, to, theme }: { dep: Dep; queue: boolean; samples: Sample[]; from: number; to: number; theme: Theme }) {
  const times = samples.map((s) => s.at_ms / 1000);
  const rate = (get: (s: Sample) => number) => samples.map((s) => (s.seconds ? get(s) / s.seconds : 0));
  const value = (get: (s: Sample) => number | null) => samples.map(get);
  const common = { times, from, to, theme };
  const perSecond = (v: number) => brief(v);
  if (queue) {
    return (
      <>
        <Chart {...common} title="Attempts per second" hint="by how they ended" stacked format={perSecond} series={[
          { label: 'done', colour: '--ok', values: rate((s) => s.first + s.late) },
          { label: 'failed', colour: '--bad', values: rate((s) => set_aside(s) + failures(s)) },
        ]} />
        <Chart {...common} title="Time of the handler" hint="for an attempt that succeeded" format={(v) => ms(v)} series={[
          { label: 'p99', colour: '--backoff', values: value((s) => s.p99_attempt_ms) },
          { label: 'p50', colour: '--backoff', dash: true, values: value((s) => s.p50_attempt_ms) },
        ]} />
      </>
    );
  }
  return (
    <>
      <Chart {...common} title="Calls per second" hint="by how they ended" stacked format={perSecond} series={[
        { label: 'first attempt', colour: '--ok', values: rate((s) => s.first) },
        { label: 'after retries', colour: '--late', values: rate((s) => s.late) },
        ...(samples.some(set_aside) ? [{ label: 'answered no, or gone', colour: '--quiet', values: rate(set_aside) }] : []),
        { label: 'failed', colour: '--bad', values: rate(failures) },
      ]} />
      <Chart {...common} title="Retries per second" hint="by what the wait before them went by" stacked format={perSecond} empty="no retries in this time" series={[
        { label: 'backoff', colour: '--backoff', values: rate((s) => s.backoff) },
        { label: 'server’s hint', colour: '--hint', values: rate((s) => s.hint) },
        { label: 'immediate', colour: '--immediate', values: rate((s) => s.immediate) },
        ...(dep.hedges.on ? [{ label: 'hedges', colour: '--hedge', values: rate((s) => s.hedges) }] : []),
      ]} />
      <Chart {...common} title="Latency" hint="of whole calls, and of the successful attempt alone" format={(v) => ms(v)} series={[
        { label: 'p99', colour: '--late', values: value((s) => s.p99_call_ms) },
        { label: 'p99 try', colour: '--backoff', values: value((s) => s.p99_attempt_ms) },
        { label: 'p50', colour: '--late', dash: true, values: value((s) => s.p50_call_ms) },
        { label: 'p50 try', colour: '--backoff', dash: true, values: value((s) => s.p50_attempt_ms) },
      ]} />
      <Chart {...common} title="Amplification" hint="attempts per call, over the last ten seconds" floor={1.5} format={(v) => brief(Math.round(v * 100) / 100)} series={[
        { label: 'attempts per call', colour: '--late', values: ratio(samples) },
      ]} />
    </>
  );
}

function Page({ view, name, seconds, theme, all, setAll }: { view: Frozen; name: string; seconds: number; theme: Theme; all: boolean; setAll: (b: boolean) => void }) {
  const [open, setOpen] = useState<Decision | null>(null);
  const [act, setAct] = useState<'force' | 'probe' | 'retries' | null>(null);
  const { state } = view;
  const dep = state.deps.find((d) => d.name === name);
  if (!dep || !isWhole(dep)) return <main class="content"><p class="empty big">Waiting for {name} …</p></main>;

  const to_ms = state.now_ms, from_ms = to_ms - seconds * 1000;
  const samples = within(view.samples.get(dep.name) ?? [], from_ms, to_ms);
  const t = sum(samples);
  const most = Math.max(0, ...samples.map((s) => s.budget ?? 0));
  const queue = hasQueue(state); // then each attempt is a call of its own
  const list = state.decisions.filter((d) => all || d.dep === dep.name).slice(0, 40);
  return (
    <main class="content" data-dep={dep.name}>
      <div class="title">
        <h2>{dep.name}</h2>
        {dep.policy && <span class="quiet">policy <code>{dep.policy}</code></span>}
      </div>
      <StoreDown state={state} />
      {queue ? <Queue state={state} /> : <Tiles dep={dep} t={t} most={most} onAct={state.actions ? setAct : null} />}
      <div class="grid">
        <Charts dep={dep} queue={queue} samples={samples} from={from_ms / 1000} to={to_ms / 1000} theme={theme} />
        {dep.breaker.on && <Timeline dep={dep} samples={samples} turns={state.turns} from_ms={from_ms} to_ms={to_ms} />}
        {queue ? <Depth state={state} from={from_ms / 1000} to={to_ms / 1000} theme={theme} /> : <GivenUp dep={dep} t={t} />}
        {dep.hedges.on ? <Hedges dep={dep} t={t} /> : <Waits dep={dep} bounds={state.bounds_ms} />}
        {dep.budget.left !== null && (
          <Chart title="Retry budget" hint="retries that would be granted" times={samples.map((s) => s.at_ms / 1000)} from={from_ms / 1000} to={to_ms / 1000}
            theme={theme} stacked format={(v) => brief(v)} empty="empty" floor={dep.budget.usual ?? 1} series={[
              { label: 'left', colour: '--ok', values: samples.map((s) => s.budget) },
            ]} />
        )}
        <div class="stack"><Endpoints dep={dep} /><Routes dep={dep} /></div>
        <Fleet dep={dep} />
        <KeysKept state={state} />
        <Decisions list={list} onOpen={setOpen} all={all} onAll={() => setAll(!all)} />
        <Rules dep={dep} />
        <Program state={state} />
      </div>
      {open && <Explain d={open} dep={state.deps.find((d) => d.name === open.dep)} file={state.file} onClose={() => setOpen(null)} />}
      {act === 'force' && <Force dep={dep} onClose={() => setAct(null)} />}
      {act === 'probe' && <Probe dep={dep} onClose={() => setAct(null)} />}
      {act === 'retries' && <Retries dep={dep} onClose={() => setAct(null)} />}
    </main>
  );
}

function linkWord(feed: Feed, paused: boolean): [string, string] {
  if (paused) return ['paused', 'paused'];
  if (feed.link === 'live') return ['live', feed.state?.draining ? 'draining' : 'live'];
  return feed.link === 'lost' ? ['lost', 'connection lost, trying again'] : ['connecting', 'connecting'];
}

/** The dependency that the address names; anybody may write anything there. */
function named(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
}

export function App() {
  const feed = useMemo(() => new Feed(), []);
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [theme, toggleTheme] = useTheme();
  const [range, setRange] = useState(0);
  const [frozen, setFrozen] = useState<Frozen | null>(null);
  const [chosen, setChosen] = useState(named);
  const [help, setHelp] = useState(false);
  const [all, setAll] = useState(false);
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState('all');
  const box = useRef<HTMLInputElement>(null);

  useEffect(() => feed.listen(() => redraw(0)), []);

  const view = frozen ?? (feed.state ? { state: feed.state, samples: feed.samples } : null);
  const names = view?.state.deps.map((d) => d.name) ?? [];
  // One that is alone needs no overview.
  const name = names.includes(chosen) ? chosen : names.length === 1 ? names[0]! : '';
  const list = view ? healths(view.state, view.samples) : [];
  const words = search.toLowerCase().split(/\s+/);
  const found = list.filter((h) => words.every((w) => h.dep.name.toLowerCase().includes(w) || h.dep.policy.toLowerCase().includes(w)));
  const order = worstFirst(found);
  const shared = sharedPrefix(names);
  const shown = useRef(name); // or soon will be: keys may come faster than pages
  shown.current = name;
  useEffect(() => feed.watch(view ? name : chosen), [name, view === null]);
  useAlarm(list, feed.link, view?.state.program ?? '');
  const choose = (n: string) => {
    shown.current = n;
    setChosen(n);
    setFrozen(null); // of another one there is nothing to show but what comes
    scrollTo(0, 0);
    history.pushState(null, '', n ? `#${encodeURIComponent(n)}` : location.pathname);
  };
  useEffect(() => { // the browser's own way back
    const back = () => setChosen(named());
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  const pause = () => setFrozen(frozen ? null : freeze(feed));
  const step = (by: number) => {
    const at = order.findIndex((h) => h.dep.name === shown.current);
    const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
    if (order.length) choose(order[next]!.dep.name);
  };
  const seek = () => {
    box.current?.focus();
    box.current?.select();
  };

  // Before anything is painted: a key means what is on the page.
  useLayoutEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || at.tagName === 'INPUT' || document.querySelector('dialog[open]')) return;
      const actions: Record<string, () => void> = {
        ' ': pause, p: pause, t: toggleTheme, '?': () => setHelp(true), a: () => setAll(!all), o: () => choose(''), '/': seek,
        j: () => step(1), k: () => step(-1), '1': () => setRange(0), '2': () => setRange(1), '3': () => setRange(2),
      };
      const action = actions[e.key];
      if (!action || (e.key === ' ' && at.matches('button, summary'))) return;
      e.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  // A button that was clicked keeps no focus: space is for pausing then. One that
  // was reached by keyboard does.
  useEffect(() => {
    const onClick = (e: MouseEvent) => e.detail > 0 && (e.target as Element).closest('button')?.blur();
    addEventListener('click', onClick);
    return () => removeEventListener('click', onClick);
  }, []);

  const [link, word] = linkWord(feed, frozen !== null);
  return (
    <>
      <header class="bar">
        <h1><svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4" /><path d="M3 11.5v-2M6.3 11.5V8M9.7 11.5V6M13 11.5v-8" /></svg>bide</h1>
        <span class="program">{view ? <>{view.state.program} <span class="quiet">{view.state.version} · up {span(view.state.uptime_s)}</span></> : ''}</span>
        <span class={`link-state ${link}`} role="status"><i class="dot" />{word}</span>
        <div class="controls">
          {name && <div class="segments" role="group" aria-label="time range">
            {ranges.map(([label], i) => (
              <button key={label} aria-pressed={range === i} onClick={() => setRange(i)}>{label}</button>
            ))}
          </div>}
          <button onClick={pause} aria-pressed={frozen !== null} data-test="pause">{frozen ? 'Resume' : 'Pause'}</button>
          <button onClick={toggleTheme} aria-label="dark or light" data-test="theme">{theme === 'dark' ? '☀' : '☾'}</button>
          <button onClick={() => setHelp(true)} aria-label="keys" class="helpbutton">?</button>
        </div>
      </header>
      {view && !name ? (
        <div class="columns one">
          <Overview list={found} all={list} state={view.state} shared={shared} now_ms={view.state.now_ms} search={search} filter={filter}
            onSearch={setSearch} onFilter={setFilter} onChoose={choose} box={box} />
        </div>
      ) : view ? (
        <div class={names.length > 1 ? 'columns' : 'columns one'}>
          {names.length > 1 && <Sidebar list={order} of={names.length} shared={shared} now_ms={view.state.now_ms} name={name} search={search}
            onSearch={setSearch} onChoose={choose} box={box} />}
          <Page view={view} name={name} seconds={ranges[range]![1]} theme={theme} all={all} setAll={setAll} />
        </div>
      ) : (
        <p class="empty big">{feed.link === 'lost' ? 'Nobody answers at this address.' : 'Waiting for the first second …'}</p>
      )}
      {help && <Keys onClose={() => setHelp(false)} />}
    </>
  );
}

