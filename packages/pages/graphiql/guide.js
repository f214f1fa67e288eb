const reasons = {
  users:
    'On this server, accounts are created by its operator or with an invitation. With an account, run SignIn in the tab SignUp; then “Try it” creates a room of your own.',
  nobody: 'This server runs only trusted documents. It refuses the documents of these tabs.',
};

/** What to do next, where GraphiQL shows results: CSS hides it while there is one. */
export class Guide {
  #section = document.querySelector('#guide-content').content.querySelector('#guide');

  constructor(session) {
    const show = () => this.#show(session);
    show();
    session.addEventListener('change', show);
    const observer = new MutationObserver(() => this.#place(observer));
    observer.observe(document.querySelector('#root'), { childList: true, subtree: true });
  }

  /** Marks the step with this number, from 0, as the next one. */
  markStep(number) {
    const steps = this.#section.querySelectorAll('#guide-steps li');
    for (const [index, step] of steps.entries()) {
      step.toggleAttribute('data-done', index < number);
      if (index === number) step.setAttribute('aria-current', 'step');
      else step.removeAttribute('aria-current');
    }
  }

  #show(session) {
    const isOffered = mayTry(session);
    const reason = this.#section.querySelector('#guide-reason');
    this.#section.querySelector('#guide-title').textContent = isOffered ? 'A live event in two clicks' : 'First steps';
    this.#section.querySelector('#guide-steps').hidden = !isOffered;
    reason.hidden = isOffered;
    reason.textContent = isOffered ? '' : reasons[whoMayTry];
  }

  /** GraphiQL renders its panes later than the page. */
  #place(observer) {
    const pane = document.querySelector('#root .graphiql-response');
    if (!pane) return;
    observer.disconnect();
    pane.append(this.#section);
  }
}

/** Whether the demo can run: it signs up, unless somebody is signed in. */
export function mayTry({ token }) {
  return whoMayTry === 'everybody' || (whoMayTry === 'users' && token !== undefined);
}
