"""A LangChain agent with fitted messages and a long-term store; here the model is a script."""

import tempfile

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from haversack import Memory
from haversack.adapters.langchain import FitMessages, MemoryStore

with tempfile.TemporaryDirectory() as home, Memory(project="thesis", home=home) as memory:
    store = MemoryStore(memory)
    store.put(("users", "ada"), "editor", {"likes": "modal editing"})
    agent = create_agent(
        GenericFakeChatModel(messages=iter([AIMessage("Done.")])),
        [],
        middleware=[FitMessages(memory, max_tokens=1_000)],
        store=store,
    )
    history = [HumanMessage(f"Message {number}. " + "Many words. " * 50) for number in range(40)]
    state = agent.invoke({"messages": history})
    print(f"the state is whole: {len(state['messages'])} messages; {state['messages'][-1].content}")
    print(f"found: {store.search(('users',), query='modal editing')[0].key}")
