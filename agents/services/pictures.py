"""Pictures made fit for models: of a size that they look at, in a kind that all of them take."""

import io
import warnings
from dataclasses import dataclass
from typing import Final

import PIL.Image
import PIL.ImageOps

# Models scale down what is larger themselves, after it was paid for
# (https://docs.claude.com/en/docs/build-with-claude/vision).
LONGEST_EDGE: Final = 1_568
# A picture of a few kilobytes may unfold into gigabytes.
MOST_PIXELS: Final = 50_000_000
QUALITY: Final = 85
# Only these decoders are let at bytes from outside.
KINDS: Final = ("JPEG", "PNG", "WEBP", "GIF")


class NotAPicture(Exception):
    """The bytes are none that can be looked at, or too many."""


@dataclass(frozen=True, slots=True)
class Picture:
    """An encoded picture, upright, without what its camera wrote beside it.

    Args:
        width: Pixels.
        height: Pixels.
    """

    media_type: str
    data: bytes
    width: int
    height: int


def fit(content: bytes) -> Picture:
    """Return a picture as models take it; an animation as its first frame.

    It takes up to a second of one core: call it in a thread.

    Raises:
        NotAPicture: It cannot be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return _fit(content)
    except NotAPicture:
        raise
    except Exception as exc:
        # Decoders raise whatever broken bytes lead them to.
        raise NotAPicture(type(exc).__name__) from exc


def size_of(data: bytes) -> tuple[int, int]:
    """Return the width and height, in pixels, of a picture that ``fit`` gave."""
    with PIL.Image.open(io.BytesIO(data), formats=KINDS) as opened:
        return opened.size


def _fit(content: bytes) -> Picture:
    with PIL.Image.open(io.BytesIO(content), formats=KINDS) as opened:
        if opened.width * opened.height > MOST_PIXELS:
            raise NotAPicture("too many pixels")
        # JPEG decodes to about the wanted size at once.
        opened.draft("RGB", (LONGEST_EDGE, LONGEST_EDGE))
        upright = PIL.ImageOps.exif_transpose(opened)
        upright.thumbnail((LONGEST_EDGE, LONGEST_EDGE))
        has_holes = upright.has_transparency_data
        plain = upright.convert("RGBA" if has_holes else "RGB")
    # A new picture has nothing but its pixels: no place, no camera, no thumbnail.
    written = io.BytesIO()
    if has_holes:
        plain.save(written, "PNG")
    else:
        plain.save(written, "JPEG", quality=QUALITY)
    media_type = "image/png" if has_holes else "image/jpeg"
    return Picture(media_type, written.getvalue(), plain.width, plain.height)
