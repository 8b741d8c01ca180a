// The page: header, tree, and one view.
import { render } from "preact";
import { App } from "./app";
import { refresh, watchOthers } from "./lib/api";
import { follow } from "./lib/route";
import { start } from "./lib/session";
import { isSite } from "./lib/site";

start();
document.addEventListener("click", follow);
render(<App />, document.getElementById("app")!);
void refresh()
  .catch(() => undefined)
  .then(() => isSite || watchOthers());
