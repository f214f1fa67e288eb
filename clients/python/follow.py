"""Prints each event of ROOM as a line of JSON."""

import asyncio
import json
import os

from gql import GraphQLRequest

from postroom import connect, follow

URL = os.environ.get("POSTROOM_URL", "http://127.0.0.1:4000/graphql")
ROOM = os.environ["ROOM"]
AUTHORIZATION = f"Bearer {os.environ['TOKEN']}" if "TOKEN" in os.environ else None


def show(line: dict) -> None:
    print(json.dumps(line), flush=True)


async def main() -> None:
    async with connect(URL, AUTHORIZATION) as session:
        query = GraphQLRequest("query ($room: ID!) { room(id: $room) { cursor } }", variable_values={"room": ROOM})
        cursor = (await session.execute(query))["room"]["cursor"]
    show({"ready": True})
    async for event in follow(URL, ROOM, cursor, AUTHORIZATION):
        show({"event": event["__typename"], "title": (event.get("post") or {}).get("title")})


asyncio.run(main())
