"""The real agents, driven headless against a scripted LLM.

What holds: evidence is the marker file that a call would have left and the agent's next request
to the LLM (what the model was told), never a log of reflex. Everything happens below a throwaway
home and on loopback.
"""
