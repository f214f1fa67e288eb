const query = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor ... on PostCreated { post { id title } } }
}`;

/** Follows a public room; the browser resumes it. `onEnd` receives the code with which the stream ends. */
export function followRoom(url, { room, after }, onEvent, onEnd) {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify({ room, after }) });
  const source = new EventSource(`${url}?${parameters}`);
  source.addEventListener('next', ({ data: text }) => {
    const { data, errors } = JSON.parse(text);
    if (errors) onEnd(errors[0].extensions.code);
    else onEvent(data.roomEvents);
  });
  source.addEventListener('complete', () => source.close()); // otherwise it connects again
  return source;
}
