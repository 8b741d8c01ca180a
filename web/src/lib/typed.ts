// What a person is typing, until it is settled.
import { useReducer, useRef } from "preact/hooks";

/**
 * The text of a box whose settled value is `value`. What is typed stays when the page is drawn
 * again; a new value takes its place at once, not after the next key. Spaces around it count only
 * if it is to be exact.
 */
export function useTyped(value: string, exact = false): [string, (text: string) => void] {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const typed = useRef({ value, text: value });
  if (typed.current.value !== value) {
    const same = !exact && typed.current.text.trim() === value; // a space at the end is the start of a word
    typed.current = { value, text: same ? typed.current.text : value };
  }
  const type = (text: string) => {
    typed.current.text = text;
    again(0);
  };
  return [typed.current.text, type];
}
