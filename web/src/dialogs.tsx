// What opens over the page: a decision explained, the keys, forcing a breaker.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clock, ms } from './format';
import type { Decision, Dep } from './types';
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

export function Explain({ d, dep, onClose }: { d: Decision; dep: Dep | undefined; onClose: () => void }) {
  const e = explain(d, dep);
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
        <pre>{e.command}</pre>
        {d.request_id && <p class="quiet">request <code>{d.request_id}</code></p>}
      </div>
    </Dialog>
  );
}

const keys: [string, string][] = [
  ['space p', 'pause, and go on'],
  ['1 2 3', 'the last minute, five, fifteen'],
  ['j k', 'the next dependency, the one before'],
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

export function Force({ dep, onClose }: { dep: Dep; onClose: () => void }) {
  const [mode, setMode] = useState<string>(dep.breaker.mode);
  const [said, setSaid] = useState('');
  const send = async () => {
    const answer = await fetch(`api/deps/${encodeURIComponent(dep.name)}/breaker/${mode}`, {
      method: 'POST', headers: { Authorization: `Bearer ${token}` },
    });
    if (answer.ok) return onClose();
    const problem = (await answer.json().catch(() => ({}))) as { detail?: string };
    setSaid(problem.detail ?? `refused with ${answer.status}`);
  };
  return (
    <Dialog title={<>Breaker of {dep.name}</>} onClose={onClose}>
      <div class="force">
        {modes.map(([key, what]) => (
          <label key={key}><input type="radio" name="mode" checked={mode === key} onChange={() => setMode(key)} /> <b>{key}</b> {what}</label>
        ))}
        <label class="token">token <input type="password" autocomplete="off" value={token} onInput={(e) => { token = e.currentTarget.value; }} /></label>
        {said && <p class="said" role="alert">{said}</p>}
        <button class="primary" onClick={() => void send().catch(() => setSaid('nobody answers'))}>set</button>
      </div>
    </Dialog>
  );
}
