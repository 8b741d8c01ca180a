// Where the keys go on when what had them is gone.

/** The title of the view: who reads with a screen reader begins there. */
export function toTitle(): void {
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}

/** Once the page is drawn anew: if what had the focus is gone, or switched off, go to the title. */
export function keepFocus(before: Element | null): void {
  if (!before || before === document.body) return;
  const look = () => {
    const now = document.activeElement;
    if (!now || now === document.body || now.matches(":disabled")) toTitle();
  };
  setTimeout(() => requestAnimationFrame(() => setTimeout(look)));
}
