const roomKey = 'postroom:room';

/**
 * The tabs of GraphiQL. GraphiQL cannot change a tab that is not shown, but it passes its own objects to `onTabChange`
 * and reads them when the tab is selected.
 */
export class Workspace {
  #state = { tabs: [], activeTabIndex: 0 };
  #panel;
  #left;

  constructor(panel) {
    this.#panel = panel;
  }

  onTabChange(state) {
    this.#state = state;
    for (const tab of state.tabs) nameTab(tab);
    const left = this.#left;
    this.#left = undefined;
    if (left && state.tabs.some(({ id }) => id === left.tab)) this.#panel.show(left.stream);
    else left?.stream.stop();
  }

  /** The stream as the observable that GraphiQL expects. It continues in the panel if another tab is selected. */
  run(stream) {
    const tab = this.#state.tabs[this.#state.activeTabIndex]?.id;
    return {
      subscribe: (observer) => {
        stream.sendTo(observer);
        return { unsubscribe: () => this.#leave({ stream, tab }) };
      },
    };
  }

  /** GraphiQL calls `onTabChange` in the same turn if it unsubscribed because of another tab. */
  #leave(left) {
    this.#left = left;
    queueMicrotask(() => {
      if (this.#left !== left) return;
      this.#left = undefined;
      left.stream.stop();
    });
  }

  /** Writes the id of the room into the variables of all tabs that have the placeholder, or the id of the last room. */
  fillRoom(id) {
    // GraphiQL reports its tabs when an operation runs or a tab is selected.
    if (this.#state.tabs.length === 0) document.querySelector('.graphiql-tab-button')?.click();
    const previous = [roomPlaceholder, sessionStorage.getItem(roomKey) ?? id];
    sessionStorage.setItem(roomKey, id);
    for (const tab of this.#state.tabs) {
      for (const text of previous) tab.variables = tab.variables?.replaceAll(text, id) ?? null;
    }
  }

  /** Selects the tab with this title; it then shows its current variables. */
  select(title) {
    const index = this.#state.tabs.findIndex((tab) => tab.title === title);
    document.querySelectorAll('.graphiql-tab-button')[index]?.click();
  }
}

/** GraphiQL renames a tab to the operation that runs; it keeps the name of its first operation instead. */
function nameTab(tab) {
  const [, name] = /^(?:query|mutation|subscription)\s+(\w+)/m.exec(tab.query ?? '') ?? [];
  if (name) tab.title = name;
}
