// How wide a box is, now and whenever that changes.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

export function useWidth(): [RefObject<HTMLDivElement>, number] {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);

  useEffect(() => {
    const watch = new ResizeObserver(([e]) => setWidth(Math.floor(e!.contentRect.width)));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [box.current]);
  return [box, width];
}
