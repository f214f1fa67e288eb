import os
import unittest
import uuid
from datetime import datetime

from gql import GraphQLRequest
from gql.transport.exceptions import TransportConnectionFailed, TransportQueryError
from graphql import GraphQLError

from postroom import code, connect, follow

URL = os.environ.get("POSTROOM_URL", "http://127.0.0.1:4000/graphql")

SIGN_UP = "mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }"
CREATE_ROOM = "mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id cursor } } }"
CREATE_POST = "mutation ($input: CreatePostInput!) { createPost(input: $input) { post { title publishedAt } } }"
ROOM = "query ($room: ID!) { room(id: $room) { posts(last: 10) { nodes { title publishedAt } } } }"


class PostroomTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        async with connect(URL) as session:
            ada = {"name": "Ada", "email": f"ada-{uuid.uuid4()}@example.org", "password": "correct horse"}
            signed_up = await session.execute(GraphQLRequest(SIGN_UP, variable_values={"input": ada}))
        self.authorization = f"Bearer {signed_up['signUp']['accessToken']}"
        self.client = connect(URL, self.authorization)
        self.session = await self.client.connect_async()
        created = await self.mutate(CREATE_ROOM, {"name": f"room {uuid.uuid4()}"})
        self.room = created["createRoom"]["room"]

    async def asyncTearDown(self) -> None:
        await self.client.close_async()

    async def mutate(self, document: str, values: dict) -> dict:
        return await self.session.execute(GraphQLRequest(document, variable_values={"input": values}))

    async def test_a_query_returns_what_a_mutation_has_created(self) -> None:
        created = await self.mutate(CREATE_POST, {"room": self.room["id"], "title": "hello"})
        read = await self.session.execute(GraphQLRequest(ROOM, variable_values={"room": self.room["id"]}))
        self.assertEqual(read["room"]["posts"]["nodes"], [created["createPost"]["post"]])
        datetime.fromisoformat(created["createPost"]["post"]["publishedAt"])

    async def test_the_schema_of_the_introspection_validates_documents(self) -> None:
        self.assertIn("ISO 8601", self.client.schema.get_type("DateTime").description)
        with self.assertRaisesRegex(GraphQLError, "Cannot query field 'titel'"):
            await self.session.execute(GraphQLRequest("{ posts { data { titel } } }"))

    async def test_a_mutation_that_fails_raises_an_error_with_its_code(self) -> None:
        with self.assertRaises(TransportQueryError) as refused:
            await self.mutate(CREATE_POST, {"room": self.room["id"], "title": ""})
        self.assertEqual(code(refused.exception), "VALIDATION_ERROR")

    async def test_a_stream_begins_after_its_cursor(self) -> None:
        for title in ("one", "two"):
            await self.mutate(CREATE_POST, {"room": self.room["id"], "title": title})
        events = follow(URL, self.room["id"], self.room["cursor"], self.authorization)
        titles = [(await anext(events))["post"]["title"] for _ in range(2)]
        await events.aclose()
        self.assertEqual(titles, ["one", "two"])

    async def test_a_stream_that_cannot_continue_raises_an_error_with_its_code(self) -> None:
        with self.assertRaises(TransportQueryError) as refused:
            await anext(follow(URL, self.room["id"], "no cursor"))
        self.assertEqual(code(refused.exception), "CURSOR_INVALID")

    async def test_credentials_that_are_refused_are_not_sent_again(self) -> None:
        with self.assertRaises(TransportConnectionFailed):
            await anext(follow(URL, self.room["id"], self.room["cursor"], "Bearer wrong"))


if __name__ == "__main__":
    unittest.main()
