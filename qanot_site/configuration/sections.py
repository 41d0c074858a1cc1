"""The tables that a file may have, in the order in which they are written.

Other kinds of rows join here: what reads, compares, applies and exports goes through this list.
"""

from typing import Final

from qanot_site.configuration.accounts import Accounts
from qanot_site.configuration.agents import Agents
from qanot_site.configuration.channels import Channels
from qanot_site.configuration.section import Section

SECTIONS: Final[tuple[Section, ...]] = (Accounts(), Agents(), Channels())
