const maxEvents = 100;

/** Shows the events of one stream beside the tabs of GraphiQL, latest first. */
export class LivePanel {
  #panel = document.querySelector('#live');
  #state = document.querySelector('#live-state');
  #events = document.querySelector('#live-events');
  #stream;
  #hasEnded = false;
  #notice = '';

  constructor() {
    document.querySelector('#live-close').addEventListener('click', () => this.#close());
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
    this.#say(text);
  }

  #add(result) {
    this.#say('live.');
    const event = document.createElement('li');
    event.textContent = JSON.stringify(result.errors ?? result.data, null, 2);
    this.#events.prepend(event);
    if (this.#events.childElementCount > maxEvents) this.#events.lastElementChild.remove();
  }

  #close() {
    this.#stream?.stop();
    this.#stream = undefined;
    this.#panel.hidden = true;
    this.#events.replaceChildren();
  }
}
