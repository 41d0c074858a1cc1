"""Files that people send to a bot, fetched from its server; loaded at its first use (aiogram)."""

import io

from aiogram.exceptions import (
    TelegramAPIError,
    TelegramBadRequest,
    TelegramForbiddenError,
    TelegramUnauthorizedError,
)

from agents.core.errors import ProviderError
from agents.net import NetError
from agents.services.files import MAX_BYTES
from sessions.attachments import TOO_LARGE, UNREACHABLE, NotFetched
from sessions.channels.telegram.client import bot_of
from sessions.channels.telegram.tokens import NotAToken
from sessions.models import Attachment

# Asking again changes nothing about them.
FINAL = (TelegramBadRequest, TelegramForbiddenError, TelegramUnauthorizedError)


class _TooMuch(Exception):
    """More came than the server had said."""


class _Bounded(io.BytesIO):
    def write(self, piece: object, /) -> int:
        written = super().write(piece)  # type: ignore[arg-type]  # BytesIO checks it
        if self.tell() > MAX_BYTES:
            raise _TooMuch
        return written


class TelegramFiles:
    """The source of a bot's files (``sessions.attachments.Source``)."""

    async def fetch(self, attachment: Attachment) -> bytes:
        """Return a file's bytes.

        Raises:
            NotFetched: There are none.
        """
        try:
            bot = bot_of(attachment.message.account)
            found = await bot.get_file(attachment.reference)
            if found.file_path is None or (found.file_size or 0) > MAX_BYTES:
                raise NotFetched(TOO_LARGE, is_final=True)
            content = _Bounded()
            await bot.download_file(found.file_path, content)
            return content.getvalue()
        except _TooMuch:
            raise NotFetched(TOO_LARGE, is_final=True) from None
        except FINAL as refusal:
            # The Bot API refuses what is beyond its own limit in these words.
            code = TOO_LARGE if "too big" in str(refusal) else UNREACHABLE
            raise NotFetched(code, is_final=True) from None
        except (TelegramAPIError, NetError):
            raise NotFetched(UNREACHABLE, is_final=False) from None
        except (ProviderError, NotAToken):
            raise NotFetched(UNREACHABLE, is_final=True) from None
