/** What the shades of a slice mean. */
export function Shades() {
  const names = ["<¼", "½", "less", "usual", "more", "×2", "×4"];
  return (
    <p class="shades">
      <span class="soft">Share of what is found against the whole:</span>
      {names.map((name, shade) => (
        <span key={name} class={`shade d${shade}`}>
          {name}
        </span>
      ))}
    </p>
  );
}
