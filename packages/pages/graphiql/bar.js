import { startDemo } from './demo.js';

/** Shows who is signed in, why a session ended, and a button that starts the demo on a server without rooms. */
export function showBar(parts) {
  const { session } = parts;
  const [notice, user, signOut, tryIt] = ['notice', 'user', 'sign-out', 'try-it'].map((id) =>
    document.querySelector(`#${id}`),
  );
  const show = ({ detail = '' } = {}) => {
    notice.textContent = detail;
    user.textContent = session.token ? `Signed in${session.name ? ` as ${session.name}` : ''}` : 'Not signed in';
    signOut.hidden = !session.token;
  };
  show();
  session.addEventListener('change', show);
  signOut.addEventListener('click', () => session.end());
  tryIt.addEventListener('click', async () => {
    tryIt.hidden = true;
    try {
      await startDemo(parts);
    } catch (error) {
      notice.textContent = error.message;
      tryIt.hidden = false;
    }
  });
  void hasNoRooms(parts.client).then((isEmpty) => {
    tryIt.hidden = !isEmpty;
  });
}

/** False also if the server does not run the query, for example with trusted documents. */
async function hasNoRooms(client) {
  try {
    const { data } = await client.post({ query: '{ rooms(limit: 1) { pagination { total } } }' });
    return data?.rooms?.pagination.total === 0;
  } catch {
    return false;
  }
}
