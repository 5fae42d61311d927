"""A FastAPI application with each place of a parameter and several ways to sign in."""

from typing import Annotated, Any, Literal

from fastapi import Body, Cookie, Depends, FastAPI, Form, Header, HTTPException, Query
from fastapi.security import APIKeyHeader, HTTPBasic, HTTPBasicCredentials, HTTPBearer
from pydantic import BaseModel, Field


class Card(BaseModel):
    kind: Literal["card"]
    number: str = Field(min_length=4)


class Iban(BaseModel):
    kind: Literal["iban"]
    iban: str


class Order(BaseModel):
    item: str = Field(min_length=1, max_length=20)
    count: int = Field(default=1, ge=1, le=10)
    pay: Card | Iban = Field(discriminator="kind")
    note: str | None = None


class Filter(BaseModel):
    low: int = 0
    high: int | None = Field(default=None, le=100)


def build_app() -> FastAPI:
    """Build the application; it answers with what its functions were called with."""
    bearer = Depends(HTTPBearer())
    app = FastAPI(title="Shop")

    @app.get("/health", operation_id="health")
    async def health() -> str:
        return "well"

    @app.get("/items/{item_id}", operation_id="get_item", dependencies=[bearer])
    async def get_item(
        item_id: Annotated[int, Field(ge=1)],
        tags: Annotated[list[str], Query()],
        x_trace: Annotated[str | None, Header()] = None,
        visit: Annotated[str | None, Cookie()] = None,
    ) -> dict[str, Any]:
        return {"id": item_id, "tags": tags, "trace": x_trace, "visit": visit}

    @app.get("/items", operation_id="find_items", dependencies=[bearer])
    async def find_items(within: Annotated[Filter, Query()]) -> Filter:
        return within

    @app.post("/orders", operation_id="add_order", dependencies=[bearer], status_code=201)
    async def add_order(order: Order) -> Order:
        return order

    @app.put("/notes/{name}", operation_id="put_note", dependencies=[bearer])
    async def put_note(name: str, lines: Annotated[list[str], Body()]) -> list[str]:
        return [name, *lines]

    @app.post("/login", operation_id="login")
    async def login(user: Annotated[str, Form()], word: Annotated[str, Form()]) -> list[str]:
        return [user, word]

    @app.delete("/items/{item_id}", operation_id="drop_item", status_code=204)
    async def drop_item(
        item_id: int, who: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]
    ) -> None:
        if (item_id, who.username, who.password) != (7, "ann", "secret-word"):
            raise HTTPException(403)

    @app.get("/report", operation_id="report")
    async def report(key: Annotated[str, Depends(APIKeyHeader(name="X-Key"))]) -> bool:
        return key == "secret-key"

    return app
