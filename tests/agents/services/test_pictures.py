"""Pictures made fit for models."""

import io

import PIL.Image
import pytest

from agents.services import pictures
from agents.services.pictures import LONGEST_EDGE, NotAPicture


def encoded(width: int, height: int, *, kind: str = "JPEG", mode: str = "RGB") -> bytes:
    """Return a picture whose left half is dark."""
    made = PIL.Image.new(mode, (width, height), "white")
    made.paste(PIL.Image.new(mode, (width // 2, height), "black"))
    written = io.BytesIO()
    made.save(written, kind)
    return written.getvalue()


def opened(data: bytes) -> PIL.Image.Image:
    """Return what an encoded picture shows."""
    return PIL.Image.open(io.BytesIO(data))


def test_a_large_picture_is_scaled_to_what_models_look_at() -> None:
    fitted = pictures.fit(encoded(4_000, 2_000))
    assert (fitted.width, fitted.height) == (LONGEST_EDGE, LONGEST_EDGE // 2)
    shown = opened(fitted.data)
    assert shown.size == (fitted.width, fitted.height)
    assert (fitted.media_type, shown.format) == ("image/jpeg", "JPEG")


def test_a_small_picture_keeps_its_size() -> None:
    fitted = pictures.fit(encoded(30, 20, kind="WEBP"))
    assert (fitted.width, fitted.height) == (30, 20)


def test_what_a_camera_wrote_is_dropped_and_the_picture_stands_upright() -> None:
    taken = PIL.Image.new("RGB", (40, 20))
    facts = taken.getexif()
    facts[0x0112] = 6  # turned by 90 degrees
    facts[0x010F] = "Secret Camera"
    written = io.BytesIO()
    taken.save(written, "JPEG", exif=facts)
    fitted = pictures.fit(written.getvalue())
    assert (fitted.width, fitted.height) == (20, 40)
    assert not opened(fitted.data).getexif()
    assert b"Secret Camera" not in fitted.data


def test_holes_stay_holes() -> None:
    fitted = pictures.fit(encoded(20, 20, kind="PNG", mode="RGBA"))
    assert fitted.media_type == "image/png"
    assert opened(fitted.data).mode == "RGBA"


def test_an_animation_is_shown_by_its_first_frame() -> None:
    frames = [PIL.Image.new("RGB", (10, 10), colour) for colour in ("red", "blue")]
    written = io.BytesIO()
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:])
    red, _, blue = opened(pictures.fit(written.getvalue()).data).split()
    assert (red.getextrema()[0], blue.getextrema()[1]) == (254, 0)


@pytest.mark.parametrize(
    "content",
    [b"", b"GIF89a", b"<svg/>", encoded(50, 50)[:200], encoded(20, 20, kind="TIFF")],
    ids=["nothing", "a head", "svg", "half", "another kind"],
)
def test_what_cannot_be_read_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(NotAPicture):
        pictures.fit(content)


def test_a_picture_that_unfolds_into_too_much_is_refused_before_it_does() -> None:
    bomb = PIL.Image.new("1", (8_000, 8_000))
    written = io.BytesIO()
    bomb.save(written, "PNG")
    assert len(written.getvalue()) < 20_000
    with pytest.raises(NotAPicture):
        pictures.fit(written.getvalue())
