"""What a conversation uses: the provider's own figures, prices of the settings, and limits."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd import Conversation, ModelError, Usage
from toolmd.testing import ModelServer, RawReply, asking

PRICES = {"scripted": {"input": 1.0, "output": 4.0, "cached": 0.5}}
WATER = asking(("water", {"plant": "fern", "litres": 2}))


def stated(reply, tokens_in: int, tokens_out: int, **more):
    message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
    return {
        "message": message,
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, **more},
    }


@pytest.mark.parametrize("stream", [False, True])
def test_the_providers_figures_are_added_up(nursery, stream: bool) -> None:
    cached = {"prompt_tokens_details": {"cached_tokens": 80}}
    with ModelServer(
        stated(WATER, 100, 10, cost=0.25), stated("Done.", 120, 5, cost=0.5, **cached)
    ) as server:
        (exchange,) = nursery.talk(server, "Water the fern", stream=stream, on_text=print)
    assert exchange.usage == Usage(2, 0, 220, 80, 15, 0.75)
    assert exchange.usage.tokens == 235


def test_an_exchange_has_the_usage_of_the_conversation(nursery) -> None:
    with ModelServer(stated("One.", 10, 1), stated("Two.", 20, 2)) as server:
        _, second = nursery.talk(server, "One?", "Two?")
    assert second.to_dict()["usage"] == {
        "requests": 2,
        "unreported": 0,
        "input_tokens": 30,
        "cached_tokens": 0,
        "output_tokens": 3,
    }


def test_without_figures_nothing_is_counted_or_invented(make_nursery) -> None:
    nursery = make_nursery(**{"chat.prices": json.dumps(PRICES)})
    with ModelServer("Hi") as server:
        (exchange,) = nursery.talk(server, "Hello")
    assert exchange.usage == Usage(requests=1, unreported=1, cost=None)


def test_prices_are_used_where_the_provider_states_no_cost(make_nursery) -> None:
    nursery = make_nursery(**{"chat.prices": json.dumps(PRICES)})
    cached = {"prompt_tokens_details": {"cached_tokens": 400_000}}
    with ModelServer(stated("Hi", 1_000_000, 250_000, **cached)) as server:
        (exchange,) = nursery.talk(server, "Hello")
    assert exchange.usage.cost == pytest.approx(0.6 + 0.2 + 1.0)


def test_the_providers_cost_goes_before_prices(make_nursery) -> None:
    nursery = make_nursery(**{"chat.prices": json.dumps(PRICES)})
    with ModelServer(stated("Hi", 1_000_000, 0, cost=0.01)) as server:
        (exchange,) = nursery.talk(server, "Hello")
    assert exchange.usage.cost == 0.01


def test_the_price_of_another_model_is_not_used(make_nursery) -> None:
    nursery = make_nursery(**{"chat.prices": json.dumps({"other": PRICES["scripted"]})})
    with ModelServer(stated("Hi", 10, 1)) as server:
        (exchange,) = nursery.talk(server, "Hello")
    assert exchange.usage.cost is None


@pytest.mark.parametrize(
    ("details", "cost"), [({"upstream_inference_cost": 0.5}, 0.51), ({}, None), ("much", None)]
)
def test_with_an_own_key_the_provider_behind_costs_too(nursery, details, cost) -> None:
    figures = {"cost": 0.01, "is_byok": True, "cost_details": details}
    with ModelServer(stated("Hi", 10, 1, **figures)) as server:
        (exchange,) = nursery.talk(server, "Hello")
    assert exchange.usage.cost == cost


def test_at_the_limit_of_tokens_nothing_more_is_sent(make_nursery) -> None:
    nursery = make_nursery(**{"chat.max_tokens": 100})
    with ModelServer(stated("One.", 90, 9), stated("Two.", 1, 0), "never said") as server:
        one, two, three = nursery.talk(server, "One?", "Two?", "Three?")
    assert (one.stopped, two.stopped, three.stopped) == ("", "", "max_tokens")
    assert (three.text, three.rounds) == ("", 0)
    assert len(server.heard) == 2


def test_a_limit_that_is_reached_between_calls_keeps_what_was_done(make_nursery, client_of) -> None:
    nursery = make_nursery(**{"chat.max_cost": 0.1})

    async def say():
        async with Conversation(
            nursery.workspace, model="scripted", client=client_of(server)
        ) as talk:
            exchange = await talk.say("Water the fern")
            after = await talk.say("And?")
            return exchange, after, talk.messages

    with ModelServer(stated(WATER, 10, 1, cost=0.1), "never said") as server:
        exchange, after, messages = asyncio.run(say())
    assert (exchange.stopped, exchange.rounds) == ("max_cost", 1)
    assert [result.outcome for result in exchange.results] == ["ok"]
    assert after.stopped == "max_cost"
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]


def test_a_limit_of_cost_denies_where_the_cost_is_unknown(make_nursery) -> None:
    nursery = make_nursery(**{"chat.max_cost": 5})
    with ModelServer(stated("One.", 10, 1), "never said") as server:
        one, two = nursery.talk(server, "One?", "Two?")
    assert (one.stopped, two.stopped) == ("", "unknown_cost")
    assert len(server.heard) == 1


def test_a_limit_of_tokens_counts_nothing_where_no_figure_is_stated(make_nursery) -> None:
    nursery = make_nursery(**{"chat.max_tokens": 1})
    with ModelServer("One.", "Two.") as server:
        exchanges = nursery.talk(server, "One?", "Two?")
    assert [one.stopped for one in exchanges] == ["", ""]
    assert exchanges[-1].usage.unreported == 2


def test_a_rejected_request_costs_nothing_and_an_unreadable_answer_is_unknown(
    nursery, client_of
) -> None:
    async def say() -> list[Usage]:
        async with Conversation(nursery.workspace, model="m", client=client_of(server)) as talk:
            seen = []
            for _ in range(2):
                with contextlib.suppress(ModelError):
                    await talk.say("Hello")
                seen.append(talk.usage)
            return seen

    with ModelServer(RawReply(429, "{}"), RawReply(200, "<html>")) as server:
        rejected, unreadable = asyncio.run(say())
    assert rejected == Usage()
    assert unreadable == Usage(requests=1, unreported=1, cost=None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["cached_tokens", "upstream_inference_cost"]), inner)
    ),
    max_leaves=4,
)
KEYS = ["prompt_tokens", "completion_tokens", "prompt_tokens_details", "cost", "is_byok",
        "cost_details"]  # fmt: skip


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(told=st.dictionaries(st.sampled_from(KEYS), json_values) | json_values, stream=st.booleans())
def test_any_figures_are_counted_or_unknown(nursery, told, stream: bool) -> None:
    reply = {"message": {"role": "assistant", "content": "Hi"}, "usage": told}
    with ModelServer(reply) as server, contextlib.suppress(ModelError):
        (exchange,) = nursery.talk(server, "Hello", stream=stream, on_text=str)
        usage = exchange.usage
        assert exchange.text == "Hi"
        assert (usage.requests, usage.unreported in {0, 1}) == (1, True)
        assert 0 <= usage.cached_tokens <= usage.input_tokens
        assert usage.output_tokens >= 0
        assert usage.cost is None or usage.cost >= 0
