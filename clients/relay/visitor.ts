import { graphql } from 'relay-runtime';
import type { visitorCreateRoomMutation } from './__generated__/visitorCreateRoomMutation.graphql';
import type { visitorDeletePostMutation } from './__generated__/visitorDeletePostMutation.graphql';
import type { visitorSignUpMutation } from './__generated__/visitorSignUpMutation.graphql';
import { createEnvironment } from './environment.ts';
import { mutate } from './mutate.ts';

const signUpMutation = graphql`
  mutation visitorSignUpMutation($input: SignUpInput!) {
    signUp(input: $input) {
      accessToken
      expiresAt
    }
  }
`;

const createRoomMutation = graphql`
  mutation visitorCreateRoomMutation($input: CreateRoomInput!) {
    createRoom(input: $input) {
      room {
        id
      }
    }
  }
`;

const deletePostMutation = graphql`
  mutation visitorDeletePostMutation($input: DeletePostInput!) {
    deletePost(input: $input) {
      post {
        id
      }
    }
  }
`;

/** Signs up a new account. Each visitor has a store and a WebSocket of its own. */
export async function signUp(url: string) {
  const input = { name: 'Ada', email: `ada-${crypto.randomUUID()}@example.org`, password: 'correct horse' };
  const { environment: anonymous } = createEnvironment(url);
  const { signUp } = await mutate<visitorSignUpMutation>(anonymous, signUpMutation, { input });
  const { environment, live } = createEnvironment(url, signUp?.accessToken);

  return {
    environment,
    close: () => live.dispose(),
    createRoom: async () => {
      const input = { name: `room ${crypto.randomUUID()}` };
      const { createRoom } = await mutate<visitorCreateRoomMutation>(environment, createRoomMutation, { input });
      return createRoom?.room.id ?? '';
    },
    deletePost: (id: string) => mutate<visitorDeletePostMutation>(environment, deletePostMutation, { input: { id } }),
  };
}
