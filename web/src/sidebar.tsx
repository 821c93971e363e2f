// The dependencies beside the page of one of them: the worst first, and a search.
import type { RefObject } from 'preact';
import { calls_per_s, type Health } from './health';
import { brief, percent } from './format';
import { Name } from './names';
import { Spark } from './spark';

interface Props {
  list: Health[]; // what is left of them after search
  of: number;
  shared: string;
  now_ms: number;
  name: string; // '' is the overview
  search: string;
  onSearch: (s: string) => void;
  onChoose: (n: string) => void;
  box: RefObject<HTMLInputElement>;
}

export function Search(p: Pick<Props, 'search' | 'onSearch' | 'box'>) {
  return (
    <input type="search" class="search" placeholder="search  /" aria-label="search dependencies" value={p.search} ref={p.box}
      onInput={(e) => p.onSearch(e.currentTarget.value)}
      onKeyDown={(e) => { if (e.key === 'Escape') { p.onSearch(''); e.currentTarget.blur(); } }} />
  );
}

export function Sidebar(p: Props) {
  return (
    <nav class="deps" aria-label="dependencies">
      <button class="all" onClick={() => p.onChoose('')}>← all {p.of} dependencies</button>
      {p.of > 6 && <Search {...p} />}
      <div class="deprow head"><span>dependency</span><span>calls/s</span><span>success</span></div>
      <div class="deplist">
        {p.list.map(({ dep, t, minute, mood, why }) => (
          <button key={dep.name} class={`dep ${mood}`} title={why ? `${dep.name}: ${why}` : dep.name} data-name={dep.name}
            aria-current={dep.name === p.name} onClick={() => p.onChoose(dep.name)}>
            <span class="name"><i class={`dot ${mood}`} /><Name name={dep.name} shared={p.shared} /></span>
            <span class="deprow">
              <Spark samples={minute} to={p.now_ms} />
              <span>{brief(calls_per_s(t))}</span>
              <span>{t.judged ? percent((t.first + t.late) / t.judged) : '–'}</span>
            </span>
          </button>
        ))}
        {p.list.length === 0 && <p class="empty flat">none matches</p>}
      </div>
    </nav>
  );
}
