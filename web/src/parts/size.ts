import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Width and height of an element, followed. */
export function useSize<E extends Element>(): [RefObject<E | null>, number, number] {
  const element = useRef<E>(null);
  const [size, setSize] = useState<[number, number]>([0, 0]);
  useLayoutEffect(() => {
    const one = element.current;
    if (!one) return undefined;
    const look = () => {
      const { clientWidth, clientHeight } = one;
      setSize((now) => (now[0] === clientWidth && now[1] === clientHeight ? now : [clientWidth, clientHeight]));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(one);
    return () => observer.disconnect();
  }, []);
  return [element, ...size];
}
