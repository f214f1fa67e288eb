import type { ConsoleClient } from './client.ts';
import { find } from './elements.ts';
import type { ConnectionFilter, FoundUser, Transport } from './operations.ts';
import { searchUsers } from './search.ts';

const form = find('connection-search', HTMLFormElement);
const user = find('connection-user', HTMLInputElement);
const transport = find('connection-transport', HTMLSelectElement);
const address = find('connection-address', HTMLInputElement);
const choices = find('connection-users', HTMLElement);
/** The number of the latest search; answers of earlier ones are not shown. */
let latest = 0;

interface ConnectionSearch {
  /** The server cannot search in names, so a user is found first. */
  client: ConsoleClient;
  /** `question` is shown instead of the number of connections. */
  show: (filter: ConnectionFilter, question?: string) => void;
  showFailure: (error: unknown) => void;
}

/** Calls `show` whenever the user searches for connections, or clears the search. */
export function followConnectionSearch(search: ConnectionSearch): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(search).catch(search.showFailure);
  });
  find('connection-clear', HTMLButtonElement).addEventListener('click', () => {
    clearConnectionSearch();
    search.show({});
  });
}

export function clearConnectionSearch(): void {
  latest += 1;
  form.reset();
  choices.replaceChildren();
}

async function submit({ client, show }: ConnectionSearch): Promise<void> {
  latest += 1;
  const own = latest;
  choices.replaceChildren();
  const filter = readFilter();
  const text = user.value.trim();
  if (text === '') return show(filter);
  const users = await searchUsers(client, text);
  if (own !== latest) return;
  const [first, second] = users;
  // Without a user, the text may be the id of an application.
  if (!second) return show({ ...filter, viewer: first?.id ?? text });
  const buttons = users.map((each) =>
    createChoice(each, () => {
      user.value = each.id;
      choices.replaceChildren();
      show({ ...filter, viewer: each.id });
    }),
  );
  show({ ...filter, viewer: text }, 'Several users match: choose one.');
  choices.replaceChildren(...buttons);
}

function readFilter(): ConnectionFilter {
  const from = address.value.trim();
  return {
    ...(transport.value !== '' && { transport: transport.value as Transport }),
    ...(from !== '' && { address: from }),
  };
}

function createChoice({ name, email, id }: FoundUser, choose: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = `${name}, ${email ?? id}`;
  button.addEventListener('click', choose);
  return button;
}
