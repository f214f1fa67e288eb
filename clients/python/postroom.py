"""Queries and mutations over HTTP, subscriptions over a WebSocket that resumes."""

import asyncio

from gql import Client, GraphQLRequest
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportClosed, TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport

ROOM_EVENTS = """
subscription RoomEvents($room: ID!, $after: String!) {
  roomEvents(room: $room, after: $after) {
    __typename
    cursor
    at
    ... on PostCreated { post { id title } }
  }
}
"""

FIRST_DELAY_SECONDS = 0.1
LONGEST_DELAY_SECONDS = 10

# The same request, or the same credentials, would be refused again.
FINAL_CLOSE_CODES = {1002, 1007, 1008, 1009, 4400, 4403}


def connect(url: str, authorization: str | None = None) -> Client:
    """A client that fetches the schema and validates each document before it is sent."""
    headers = {"authorization": authorization} if authorization else {}
    return Client(transport=AIOHTTPTransport(url, headers=headers), fetch_schema_from_transport=True)


async def follow(url: str, room: str, cursor: str, authorization: str | None = None):
    """Yields each event of a room after the cursor, once and in order, also after the connection was lost."""
    credentials = {"authorization": authorization} if authorization else {}
    delay = FIRST_DELAY_SECONDS
    while True:
        transport = WebsocketsTransport(url.replace("http", "ws", 1), init_payload=credentials)
        try:
            async with Client(transport=transport) as session:
                request = GraphQLRequest(ROOM_EVENTS, variable_values={"room": room, "after": cursor})
                async for result in session.subscribe(request):
                    delay = FIRST_DELAY_SECONDS
                    cursor = result["roomEvents"]["cursor"]
                    yield result["roomEvents"]
        except TransportQueryError as error:
            if code(error) != "SERVICE_UNAVAILABLE":
                raise
        except (TransportClosed, TransportConnectionFailed, TimeoutError) as error:
            if close_code(error) in FINAL_CLOSE_CODES:
                raise
        await asyncio.sleep(delay)
        delay = min(2 * delay, LONGEST_DELAY_SECONDS)


def code(error: TransportQueryError) -> str:
    return error.errors[0]["extensions"]["code"]


def close_code(error: Exception) -> int | None:
    frame = getattr(error.__cause__, "rcvd", None)
    return frame and frame.code
