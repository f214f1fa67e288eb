const maxEvents = 100;

/** Shows the events of one stream beside the tabs of GraphiQL, latest first. */
export class LivePanel {
  #panel = document.querySelector('#live');
  #state = document.querySelector('#live-state');
  #events = document.querySelector('#live-events');
  #stream;

  constructor() {
    document.querySelector('#live-close').addEventListener('click', () => this.#close());
  }

  /** Takes over a stream, and stops the previous one. */
  show(stream) {
    this.#close();
    this.#stream = stream;
    this.#state.textContent = 'Waiting for events.';
    this.#panel.hidden = false;
    const sink = {
      next: (result) => this.#add(result),
      error: (fault) => {
        this.#state.textContent = `Ended: ${fault.message ?? fault[0]?.message}`;
      },
      complete: () => {
        this.#state.textContent = 'Ended.';
      },
    };
    stream.sendTo(Object.fromEntries(Object.entries(sink).map(([name, act]) => [name, this.#ifCurrent(stream, act)])));
  }

  /** A stream that is stopped completes after the next one was shown. */
  #ifCurrent(stream, act) {
    return (value) => {
      if (stream === this.#stream) act(value);
    };
  }

  #add(result) {
    this.#state.textContent = 'Live.';
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
