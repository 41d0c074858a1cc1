"""What an agent is and for whom: team, people, persona, providers, tools, ledger, the loop."""
