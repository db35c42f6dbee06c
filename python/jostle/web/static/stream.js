// One stream of events a tab, closed while the tab is hidden: a browser has six connections for all tabs.

/**
 * Calls `told` with each message, and `changed` with "open", "hidden", "lost", "unable" (this browser has no event
 * streams) or what the server said instead. Returns what ends it.
 */
export function follow(address, told, changed) {
  if (!("EventSource" in window)) {
    changed("unable");
    return () => {};
  }
  let source = null;
  let over = false;

  function open() {
    if (source || over || document.hidden) return;
    source = new EventSource(address);
    source.onopen = () => changed("open");
    source.onmessage = (event) => told(JSON.parse(event.data));
    source.onerror = () => (source.readyState === EventSource.CLOSED ? refused() : changed("lost"));
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  // An event source does not say why it was refused.
  async function refused() {
    close();
    let why = "lost";
    try {
      const response = await fetch(address, { signal: AbortSignal.timeout(5000) });
      if (!response.ok) why = (await response.text()).trim();
      else response.body.cancel();
    } catch {
      // nobody is there
    }
    changed(why);
    if (!over) setTimeout(open, 5000);
  }

  function shown() {
    if (document.hidden) {
      close();
      changed("hidden");
    } else {
      open();
    }
  }

  document.addEventListener("visibilitychange", shown);
  open();
  return () => {
    over = true;
    document.removeEventListener("visibilitychange", shown);
    close();
  };
}
