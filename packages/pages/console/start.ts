import { PageSession } from '../session.ts';
import { ConsoleClient } from './client.ts';
import { ConnectionsView } from './connections-view.ts';
import { find, setText } from './elements.ts';
import { LoadView } from './load-view.ts';
import { ModerationView } from './moderation-view.ts';
import { RefusalsView } from './refusals-view.ts';
import { SignInView } from './sign-in-view.ts';
import { StatusView } from './status-view.ts';

const session = new PageSession('postroom:console');
// A proxy may serve the console below another path.
const client = new ConsoleClient(new URL('graphql', location.href), session);
const status = find('status', HTMLElement);
const user = find('user', HTMLElement);
const signOut = find('sign-out', HTMLButtonElement);
const state = find('state', HTMLElement);
const signInView = new SignInView(client, session);
const statusView = new StatusView();
const loadView = new LoadView(client);
const refusalsView = new RefusalsView(client);
const connectionsView = new ConnectionsView(client);
const moderationView = new ModerationView(client);

let stop = () => {};

/** Starts or stops everything with the session. */
function follow(reason = ''): void {
  stop();
  stop = () => {};
  const isSignedIn = session.token !== undefined;
  status.hidden = !isSignedIn;
  signOut.hidden = !isSignedIn;
  setText(user, isSignedIn ? `Signed in as ${session.name}` : '');
  if (isSignedIn) return start();
  showState('');
  for (const view of [statusView, loadView, refusalsView, connectionsView, moderationView]) view.clear();
  signInView.show(reason);
}

function start(): void {
  const running = new AbortController();
  signInView.hide();
  const stopStatus = client.follow({ show: (latest) => statusView.show(latest), showState });
  for (const view of [loadView, refusalsView, connectionsView]) void view.follow(running.signal);
  stop = () => {
    running.abort();
    stopStatus();
  };
}

function showState(name: string, reason = ''): void {
  setText(state, `${name} ${reason}`.trim());
  const isOld = name === 'Reconnecting…';
  state.classList.toggle('down', isOld);
  if (isOld) statusView.markOld();
}

session.addEventListener('change', (event) => follow(event instanceof CustomEvent ? event.detail : ''));
signOut.addEventListener('click', () => session.end());
follow();
