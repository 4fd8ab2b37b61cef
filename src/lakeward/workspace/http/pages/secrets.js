// Scopes and keys; no route of this page answers with a value.
import { ask, cut, el, plain, table, time } from "/ui/dom.js";

export async function secrets() {
  const scopes = (await ask("/api/2.0/secrets/scopes/list")).scopes;
  const rows = await Promise.all(scopes.map(async scope => {
    const keys = await ask("/api/2.0/secrets/list?scope=" + encodeURIComponent(scope.name));
    return keys.secrets.length ? keys.secrets.map(each => [cut(scope.name), cut(each.key), time(each.last_updated_timestamp)]) : [[cut(scope.name), "", ""]];
  }));
  return [el("h1", {}, "Secrets"), plain("Names only. Code reads values with dbutils.secrets.get."), table(["scope", "key", "changed"], rows.flat(), "No scopes. databricks-sdk makes one: w.secrets.create_scope(\"NAME\"), then w.secrets.put_secret(\"NAME\", \"KEY\", string_value=\"…\").")];
}
