"""What must never be stored in clear; plain, no database."""

import time

import pytest

from memory.detector import mask_secrets, scan

SECRETS = [
    ("My password is hunter2secret, don't forget it", "hunter2secret"),
    ("my wifi password: qwerty and the router is upstairs", "qwerty"),
    ("My password is correct horse battery staple, remember", "battery"),
    ("password for the server is Tr0ub4dor&3. Keep it.", "Tr0ub4dor"),
    ("hunter2 is my password", "hunter2"),
    ("my_password=abc12", "abc12"),
    ("parolim: salom123", "salom123"),
    ("parolim hunter2, unutma", "hunter2"),
    ("Parolim qwerty — eslab qol", "qwerty"),
    ("Менинг паролим: кирит77, эслаб қол", "кирит77"),
    ("maxfiy soʻz: olma", "olma"),
    ("PIN 1234", "1234"),
    ("my pin code is 9876", "9876"),
    ("card 4111 1111 1111 1111, cvv 123", "1111"),
    ("card 4111111111111111, cvv 123", "123"),
    ("8600 1234 5678 9012 mening kartam", "8600"),
    ("API_KEY=zzz999aaa", "zzz999aaa"),
    ("token: abc123def", "abc123def"),
    ("the key is sk-ant-api03-abcdefghijk123", "abcdefghijk"),
    ("use ghp_abcdefghijklmnopqrstuvwxyz012345", "abcdefghij"),
    ("the cloud key AKIAIOSFODNN7EXAMPLE", "FODNN7"),
    ("the cloud key ASIAIOSFODNN7EXAMPL", "FODNN7"),
    ("use sk-ant-api03-ab-cd", "ab-cd"),
    ("use sk_live_abcdefghij", "abcdefghij"),
    ("use xoxe-12-34-abcdef", "34-abcdef"),
    ("use gsk_abcdefghij12", "abcdefghij"),
    ("use xai-abcdefghij12", "abcdefghij"),
    ("use glpat-ab_cd-ef_gh", "ab_cd"),
    ("use AIzaSyabcdefghijklmnopqrstuvwxyz0123456", "abcdefghij"),
    ("bot 123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "AAHdqTcv"),
    ("see https://u:pw99@host.example/x?token=abc&b=1", "pw99"),
    ("see https://host.example/x?token=abcq&b=1", "abcq"),
    ("postgres://bob:hunter2@db.example/x", "hunter2"),
    ("Authorization: Bearer abcd.efgh.ijkl", "efgh"),
    ("мой пароль от почты qwerty123", "qwerty123"),
    ("Мой пароль от вайфая: zima", "zima"),
    ("мой пароль qwerty", "qwerty"),
    ("логин admin пароль admin123", "admin123"),
    ("PIN-код 4455", "4455"),
    ("şifrem aslan", "aslan"),
    ("Şifre: Kedi.1907", "1907"),
    ("aslan99 benim şifrem", "aslan99"),
    ("moje hasło to kotek", "kotek"),
    ("Hasło do poczty kotek12", "kotek12"),
    ("hasłem jest zielonyKot", "zielonyKot"),
    ("pw: hunter2", "hunter2"),
    ("pass: hunter2", "hunter2"),
    ("moje hasło kotek", "kotek"),
    ("пароль qwerty", "qwerty"),
    ("пароль от wifi qwerty", "qwerty"),
    ("OTP is 839201", "839201"),
    ("the sms code 839201", "839201"),
    ("код из смс 839201", "839201"),
    ("SMSdan kod 839201", "839201"),
    ("doğrulama kodu 839201", "839201"),
    ("kod z SMS-a 839201", "839201"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQ\nabc\n-----END PRIVATE KEY-----", "MIIEvQ"),
]
HARMLESS = [
    "Remember that the API key rotates monthly",
    "The API key is rotated monthly",
    "The password is not easy",
    "mening parolim esimdan chiqdi",
    "the secret is patience",
    "Pink is my favourite colour",
    "call +998 90 123-45-67",
    "from 2025-06-15 to 2025-06-16",
    "id 0192f0c1-7c3a-7b1e-9a55-0123456789ab",
    "kapı şifresi değişti",
    "пароль сложный",
    "забыл пароль вчера",
    "код из смс не пришёл",
    "I pass: no thanks",
    "hasło jest trudne",
    "INV-88123 and my passport is AA1234567",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secret_is_masked(text: str, secret: str) -> None:
    assert secret not in mask_secrets(text)
    assert all(secret not in hit.text for hit in scan(f"Remember: {text}"))


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    "piece", ["password is ", "password ", "x is my password ", "1", "eyJa.", "-"]
)
def test_masking_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    mask_secrets((piece * 100_000)[:100_000])
    assert time.process_time() - started < 2.0
