const maxEvents = 100;

/**
 * Shows the events of one stream beside the tabs of GraphiQL, latest first; on a small screen in a drawer. Emits `event` for
 * each of them.
 */
export class LivePanel extends EventTarget {
  #panel = document.querySelector('#live');
  #state = document.querySelector('#live-state');
  #count = document.querySelector('#live-count');
  #events = document.querySelector('#live-events');
  #toggle = document.querySelector('#live-toggle');
  #stream;
  #hasEnded = false;
  #notice = '';
  #total = 0;
  /** Whether the connection was lost, and not all missed events have arrived. */
  #isAway = false;
  #unfollow = () => {};

  constructor() {
    super();
    document.querySelector('#live-close').addEventListener('click', () => this.#close());
    this.#toggle.addEventListener('click', () => this.#open(this.#toggle.ariaExpanded !== 'true'));
  }

  /** Takes over a stream, and stops the previous one. */
  show(stream) {
    const stopped = this.#hasEnded ? undefined : this.#stream?.name;
    this.#notice = stopped ? ` ${stopped} was stopped: only one subscription continues here.` : '';
    this.#close();
    this.#stream = stream;
    this.#hasEnded = false;
    this.#say('waiting for events.');
    this.#panel.hidden = false;
    const sink = {
      next: (result) => this.#add(result),
      error: (fault) => this.#end(`ended: ${fault.message ?? fault[0]?.message}`),
      complete: () => this.#end('ended.'),
    };
    this.#unfollow = stream.connection.subscribe(() => this.#follow(stream.connection.get()));
    stream.sendTo(Object.fromEntries(Object.entries(sink).map(([name, act]) => [name, this.#ifCurrent(stream, act)])));
  }

  /** A stream that is stopped completes after the next one was shown. */
  #ifCurrent(stream, act) {
    return (value) => {
      if (stream === this.#stream) act(value);
    };
  }

  #say(text) {
    this.#state.textContent = `${this.#stream.name}: ${text}${this.#notice}`;
  }

  #end(text) {
    this.#hasEnded = true;
    this.#unfollow();
    this.#say(text);
  }

  #add(result) {
    const event = describe(result);
    this.#total += 1;
    this.#countEvents();
    if (!this.#isAway) this.#say('live.');
    this.#events.prepend(toItem(event));
    if (this.#events.childElementCount > maxEvents) this.#events.lastElementChild.remove();
    this.dispatchEvent(new Event('event'));
  }

  #countEvents() {
    this.#count.textContent = this.#total === 0 ? '' : countOf(this.#total);
  }

  #follow({ state, caughtUp }) {
    if (state === 'stale') this.#say('the connection is lost. Reconnecting …');
    if (state === 'live' && this.#isAway) {
      this.#say(`reconnected, ${caughtUp === 0 ? '0 missed' : `${countOf(caughtUp)} while away, 0 missed`}.`);
    }
    this.#isAway = state === 'stale' || state === 'catching up';
  }

  /** The drawer of a small screen; a wide screen always shows the events. */
  #open(isOpen) {
    this.#toggle.ariaExpanded = String(isOpen);
    this.#panel.toggleAttribute('data-open', isOpen);
  }

  #close() {
    this.#unfollow();
    this.#isAway = false;
    this.#stream?.stop();
    this.#stream = undefined;
    this.#panel.hidden = true;
    this.#open(false);
    this.#events.replaceChildren();
    this.#total = 0;
    this.#countEvents();
  }
}

function countOf(events) {
  return `${events} ${events === 1 ? 'event' : 'events'}`;
}

/** Works with any subscription: what a document does not select is replaced. */
function describe({ data, errors }) {
  const [[field, value] = []] = Object.entries(data ?? {});
  const at = value?.at ?? new Date().toISOString();
  const json = JSON.stringify(errors ?? data, null, 2);
  if (errors) return { at, type: 'Error', actor: errors[0].message, json };
  const actor = value?.actor === undefined ? JSON.stringify(value) : (value.actor?.name ?? 'a deleted user');
  return { at, type: value?.__typename ?? field, actor, json };
}

/** One line, which shows its JSON when it is clicked. */
function toItem({ at, type, actor, json }) {
  const time = create('time', new Date(at).toLocaleTimeString([], { hourCycle: 'h23' }));
  time.dateTime = at;
  const name = create('span', type);
  name.className = 'type';
  const [summary, details, item] = ['summary', 'details', 'li'].map((tag) => create(tag));
  summary.append(time, ' ', name, ' ', actor);
  details.append(summary, create('pre', json));
  item.append(details);
  return item;
}

function create(tag, text = '') {
  return Object.assign(document.createElement(tag), { textContent: text });
}
