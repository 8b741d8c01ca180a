// What the build read, rejected and took.
import { useAnswer } from "../lib/api";
import { isSite } from "../lib/site";
import { bytes, count, moment, seconds, shown } from "../lib/text";
import { Bar, Command, Section, Show, T, Title } from "../parts/basic";

type Json = Record<string, unknown>;

const EXPORTS: [string, string][] = [
  ["json", "JSON"],
  ["csv", "CSV"],
  ["markdown", "Markdown"],
  ["graphml", "GraphML"],
  ["skos", "SKOS"],
  ["html", "HTML, one file"],
];

export function ReportView() {
  const answer = useAnswer<Json>("/api/report");
  return (
    <div>
      <Title text="Report of the build" />
      <Show of={answer} rows={12}>
        {(report) => <Body report={report} />}
      </Show>
      {!isSite && (
        <Section title="Take it with you">
          <p class="buttons">
            {EXPORTS.map(([to, name]) => (
              <a key={to} class="button" href={`/api/export?to=${to}`} download>
                {name}
              </a>
            ))}
          </p>
        </Section>
      )}
      <Command text={answer.value ? String(answer.value["command"] ?? "") : ""} />
    </div>
  );
}

function part(value: unknown): Json {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {};
}

function Body({ report }: { report: Json }) {
  const documents = part(report["documents"]);
  const stages = Object.entries(part(report["stages"])).map(([name, one]) => [name, Number(part(one)["seconds"] ?? 0)] as const);
  const longest = Math.max(...stages.map(([, took]) => took), 1e-9);
  const numbers: [string, unknown][] = [
    ["Built", moment(String(report["when"] ?? ""))],
    ["Documents read", count(Number(documents["read"] ?? 0))],
    ["Kept", count(Number(documents["kept"] ?? 0))],
    ["Rejected", count(Number(documents["rejected"] ?? 0))],
    ["The same text twice", count(Number(documents["duplicate_texts"] ?? 0))],
    ["Memory at most", bytes(Number(report["peak_memory_bytes"] ?? 0))],
    ["Compiling", seconds(Number(report["compile_seconds"] ?? 0))],
  ];
  return (
    <div class="masonry">
      <Section title="Documents">
        <Pairs rows={[...numbers, ...Object.entries(part(documents["reasons"])).map(([reason, size]): [string, unknown] => [`Rejected: ${reason}`, shown(size)])]} />
      </Section>
      <Section title="Time">
        <ol class="bars">
          {stages.map(([name, took]) => (
            <li key={name}>
              <span>
                <T text={name} longest={40} />
              </span>
              <Bar share={took / longest} />
              <span class="number">{seconds(took)}</span>
            </li>
          ))}
        </ol>
      </Section>
      {["settings", "versions"].map((name) => {
        const rows = flat(part(report[name]));
        return rows.length ? (
          <Section key={name} title={name === "settings" ? "Settings" : "Versions"}>
            <Pairs rows={rows} />
          </Section>
        ) : null;
      })}
      {Array.isArray(report["background_words"]) && report["background_words"].length > 0 && (
        <Section title="Words that are everywhere">
          <p class="phrases">
            {report["background_words"].map((word) => (
              <span key={String(word)}>
                <T text={String(word)} longest={40} />
              </span>
            ))}
          </p>
        </Section>
      )}
      <Section title="All of it">
        <details class="twin">
          <summary>As JSON</summary>
          <pre tabIndex={0} role="region" aria-label="The report as JSON">{JSON.stringify(report, null, 1).slice(0, 100_000)}</pre>
        </details>
      </Section>
    </div>
  );
}

/** Settings within settings, with their names in a row. */
function flat(content: Json, before = ""): [string, unknown][] {
  return Object.entries(content).flatMap(([name, value]): [string, unknown][] =>
    Object.keys(part(value)).length ? flat(part(value), `${before}${name} `) : [[before + name, shown(value)]],
  );
}

function Pairs({ rows }: { rows: [string, unknown][] }) {
  return (
    <dl class="numbers">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>
            <T text={name} longest={60} />
          </dt>
          <dd>
            <T text={String(value)} longest={400} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
