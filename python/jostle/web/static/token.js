// The token of whoever may change something: it came behind the # of the address, and goes back in a header.

const NAME = "jostle-token";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  localStorage.setItem(NAME, given);
  history.replaceState(null, "", location.pathname + location.search);
}

/** POST `content` as JSON. Returns the response; without the right token its status is 401. */
export function post(path, content) {
  const headers = { "content-type": "application/json", [NAME]: localStorage.getItem(NAME) ?? "" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(content) });
}
