/**
 * Creates a room, shows its events live, and selects the tab that posts to it. Signs up an account first if nobody is
 * signed in; its random password is not needed again. Returns the name of the room. Throws an Error with the message of a
 * refusal.
 */
export async function startDemo({ client, session, workspace, panel }) {
  const name = `Demo ${randomText(3)}`;
  if (!session.token) {
    const account = { name, email: `${randomText(8)}@example.org`, password: randomText(16) };
    await postOrThrow(client, 'SignUp', { account });
  }
  const { createRoom } = await postOrThrow(client, 'CreateRoom', { room: { name } });
  const room = createRoom.room.id;
  panel.show(client.stream(toRequest('WatchRoom', { room })));
  workspace.fillRoom(room);
  workspace.select('CreatePost');
  return name;
}

async function postOrThrow(client, operation, variables) {
  const { data, errors } = await client.post(toRequest(operation, variables));
  if (errors) throw new Error(errors[0].message);
  return data;
}

/** An operation of the example tabs. */
function toRequest(operationName, variables) {
  const { query } = options.defaultTabs.find((tab) => tab.query.includes(` ${operationName}(`));
  return { query, operationName, variables };
}

/** Hexadecimal digits; crypto.randomUUID does not exist on a page without TLS. */
function randomText(bytes) {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
