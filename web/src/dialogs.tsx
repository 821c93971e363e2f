// What opens over the page: a decision explained, the keys, forcing a breaker.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clock, ms } from './format';
import type { Brief, Decision, Dep } from './types';
import { decided, explain } from './words';

function Dialog(p: { title: ComponentChildren; onClose: () => void; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current!.showModal(), []);
  // a click beside it closes it
  const beside = (e: MouseEvent) => e.target === ref.current && p.onClose();
  return (
    <dialog ref={ref} onClose={p.onClose} onClick={beside}>
      <header>
        <h2>{p.title}</h2>
        <button class="icon" onClick={p.onClose} aria-label="close">×</button>
      </header>
      {p.children}
    </dialog>
  );
}

/** The wait as computed and as drawn, one under the other. */
function WaitBars({ d }: { d: Decision }) {
  const most = Math.max(d.value_ms, d.wait_ms, 1);
  const row = (name: string, v: number, kind: string) => (
    <div class="waitrow">
      <span>{name}</span>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class={kind} width={(v / most) * 100} height="8" rx="2" />
      </svg>
      <b>{ms(v)}</b>
    </div>
  );
  return <div class="waitbars">{row('computed', d.value_ms, 'computed')}{row('drawn', d.wait_ms, 'drawn')}</div>;
}

export function Explain({ d, dep, file, onClose }: { d: Decision; dep: Brief | undefined; file: string | undefined; onClose: () => void }) {
  const e = explain(d, dep, file);
  return (
    <Dialog title={<>{d.dep}: {decided(d)}</>} onClose={onClose}>
      <div class="explain" data-test="explain">
        <h4>What happened <time>{clock(d.at_ms)}</time></h4>
        <p>{e.happened}</p>
        <p>{e.judged}</p>
        <h4>What was decided <code>{d.reason}</code></h4>
        <p>{e.decided}</p>
        {d.action === 'wait' && d.wait_ms > 0 && <WaitBars d={d} />}
        {e.advice && <><h4>What that means</h4><p>{e.advice}</p></>}
        <h4>Ask again</h4>
        {e.command ? <pre data-test="command">{e.command}</pre> : <p class="quiet">bide explain knows the policy, but not the load at that moment, which decided this.</p>}
        {d.request_id && <p class="quiet">request <code>{d.request_id}</code></p>}
      </div>
    </Dialog>
  );
}

const keys: [string, string][] = [
  ['space p', 'pause, resume'],
  ['1 2 3', 'the last minute, five, fifteen'],
  ['j k', 'the next dependency, the one before'],
  ['o', 'overview of all dependencies'],
  ['/', 'search'],
  ['a', 'decisions of all dependencies'],
  ['t', 'dark, light'],
  ['?', 'these keys'],
];

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <table class="keys"><tbody>
        {keys.map(([key, what]) => (
          <tr key={key}><th scope="row">{key.split(' ').map((k) => <kbd key={k}>{k}</kbd>)}</th><td>{what}</td></tr>
        ))}
      </tbody></table>
    </Dialog>
  );
}

const modes: [string, string][] = [
  ['normal', 'by its counts'],
  ['forced_open', 'refuse every call'],
  ['forced_closed', 'refuse none'],
  ['dry_run', 'count, and refuse none'],
];

// The token stays in this page's memory, and nowhere else.
let token = '';

/** Asks for the token, and sends an action: `path` is below the dependency's. */
function Action(p: { dep: Dep; title: ComponentChildren; path: string; verb: string; children: ComponentChildren; onClose: () => void }) {
  const [said, setSaid] = useState('');
  const send = async () => {
    const answer = await fetch(`api/deps/${encodeURIComponent(p.dep.name)}/${p.path}`, {
      method: 'POST', headers: { Authorization: `Bearer ${token}` },
    });
    if (answer.ok) return p.onClose();
    const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
    setSaid(problem.detail ?? `refused with ${answer.status}`);
  };
  const submit = (e: Event) => {
    e.preventDefault();
    void send().catch(() => setSaid('no response'));
  };
  return (
    <Dialog title={p.title} onClose={p.onClose}>
      <form class="force" onSubmit={submit}>
        {p.children}
        <label class="token">token <input type="password" autocomplete="off" value={token} onInput={(e) => { token = e.currentTarget.value; }} /></label>
        {said && <p class="said" role="alert">{said}</p>}
        <button class="primary" type="submit">{p.verb}</button>
      </form>
    </Dialog>
  );
}

export function Force({ dep, onClose }: { dep: Dep; onClose: () => void }) {
  const [mode, setMode] = useState<string>(dep.breaker.mode);
  return (
    <Action dep={dep} title={<>Breaker of {dep.name}</>} path={`breaker/${mode}`} verb="Apply" onClose={onClose}>
      {modes.map(([key, what]) => (
        <label key={key}><input type="radio" name="mode" checked={mode === key} onChange={() => setMode(key)} /> <b>{key}</b> {what}</label>
      ))}
    </Action>
  );
}

export function Probe({ dep, onClose }: { dep: Dep; onClose: () => void }) {
  return (
    <Action dep={dep} title={<>Probe {dep.name} now</>} path="probe/now" verb="Probe now" onClose={onClose}>
      <p>The breaker stops waiting: the next calls are its probes. If they fail, it opens again.</p>
    </Action>
  );
}

export function Retries({ dep, onClose }: { dep: Dep; onClose: () => void }) {
  const on = dep.retries_on !== false;
  return (
    <Action dep={dep} title={<>Retries of {dep.name}</>} path={`retries/${on ? 'off' : 'on'}`} verb={on ? 'Turn retries off' : 'Turn retries on'} onClose={onClose}>
      <p>{on ? 'Every call makes one attempt, until retries are turned on again. That takes load off something that is down, and lets callers see every failure.' : 'Calls are retried again, as the policy says.'}</p>
    </Action>
  );
}
