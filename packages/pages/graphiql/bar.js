import { startDemo } from './demo.js';
import { mayTry } from './guide.js';

/** Shows who is signed in, why a session ended, and a button that starts the demo. */
export function showBar(parts) {
  const { session, panel, guide } = parts;
  const [notice, user, signOut, tryIt] = ['notice', 'user', 'sign-out', 'try-it'].map((id) =>
    document.querySelector(`#${id}`),
  );
  const notify = (text, isFault = false) => {
    notice.textContent = text;
    notice.classList.toggle('fault', isFault);
  };
  const show = ({ detail = '' } = {}) => {
    notify(detail, true);
    user.textContent = session.token ? `Signed in${session.name ? ` as ${session.name}` : ''}` : 'Not signed in';
    signOut.hidden = !session.token;
    tryIt.hidden = !mayTry(session);
  };
  show();
  session.addEventListener('change', show);
  signOut.addEventListener('click', () => session.end());
  tryIt.addEventListener('click', async () => {
    tryIt.disabled = true;
    try {
      const room = await startDemo(parts);
      guide.markStep(1);
      notify(`The room “${room}” is ready. Next: press play, which creates a post in it.`);
      const onEvent = () => {
        guide.markStep(2);
        notify('The post has arrived as a live event. Change the text under Variables, and press play again.');
      };
      panel.addEventListener('event', onEvent, { once: true });
    } catch (error) {
      notify(error.message, true);
    }
    tryIt.disabled = false;
  });
}
