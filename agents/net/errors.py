"""What can go wrong on the way out.

NetError
├── BadAddress               no address of a web server, or one that is never asked
│   └── AddressRefused       it leads to a private network that may not be asked
├── Unreachable              nobody answered, or the answer broke off or made no sense
├── TooSlow                  the time was up
├── TooLarge                 the answer is longer than was agreed
└── TooManyRedirects         the answer led on and on
"""


class NetError(Exception):
    """The root; the text says in a few words what is wrong, never what was sent or received."""


class BadAddress(NetError):
    """No address of a web server, or one that is never asked."""


class AddressRefused(BadAddress):
    """The address leads to a private network that this caller may not ask.

    Args:
        is_closed_to_all: True where only the list of hosts in the settings opens it.
    """

    def __init__(self, text: str, *, is_closed_to_all: bool = False) -> None:
        super().__init__(text)
        self.is_closed_to_all = is_closed_to_all


class Unreachable(NetError):
    """Nobody answered, or the answer broke off or made no sense."""


class TooSlow(NetError):
    """The time was up before the answer was whole."""


class TooLarge(NetError):
    """The answer is longer than was agreed."""


class TooManyRedirects(NetError):
    """The answer led on more often than was agreed."""
