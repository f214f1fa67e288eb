/* The console in the browser. page.ts joins the files of this folder. */

import { ConsoleClient } from './client.ts';
import { ConnectionsView } from './connections-view.ts';
import { find, setText } from './elements.ts';
import { renewSession } from './operations.ts';
import { pause } from './pause.ts';
import { ConsoleSession } from './session.ts';
import { SignInView } from './sign-in-view.ts';
import { followStatus, type StreamState } from './status-stream.ts';
import { StatusView } from './status-view.ts';

const retryRenewalMs = 60_000;

const session = new ConsoleSession();
// A proxy may serve the console below another path.
const client = new ConsoleClient(new URL('graphql', location.href), session);
const status = find('status', HTMLElement);
const user = find('user', HTMLElement);
const signOut = find('sign-out', HTMLButtonElement);
const state = find('state', HTMLElement);
const signInView = new SignInView(client, session);
const statusView = new StatusView();
const connectionsView = new ConnectionsView(client);

let running = new AbortController();

/** Starts or stops everything with the session. */
function follow(reason = ''): void {
  running.abort();
  const isSignedIn = session.token !== undefined;
  status.hidden = !isSignedIn;
  signOut.hidden = !isSignedIn;
  setText(user, isSignedIn ? `Signed in as ${session.name}` : '');
  if (isSignedIn) return start();
  showState('');
  statusView.clear();
  connectionsView.clear();
  signInView.show(reason);
}

function start(): void {
  running = new AbortController();
  const { signal } = running;
  signInView.hide();
  void followStatus(client, { show: (latest) => statusView.show(latest), showState }, signal);
  void connectionsView.follow(signal);
  void keepSession(signal);
}

function showState(name: StreamState | '', reason = ''): void {
  setText(state, `${name} ${reason}`.trim());
  state.classList.toggle('down', name === 'Reconnecting…');
}

async function keepSession(signal: AbortSignal): Promise<void> {
  await pause(session.renewInMs, signal);
  while (!signal.aborted) {
    try {
      session.renew((await client.post(renewSession, {})).renewSession.accessToken);
      await pause(session.renewInMs, signal);
    } catch {
      await pause(retryRenewalMs, signal);
    }
  }
}

session.addEventListener('change', (event) => follow(event instanceof CustomEvent ? event.detail : ''));
signOut.addEventListener('click', () => session.end());
follow();
