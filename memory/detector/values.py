"""Values that look the same in every language."""

import re

from memory.detector.packs import any_of

VALUES = any_of(
    r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b",
    r"\bhttps?://\S{3,}|\bwww\.\w\S{2,}",
    r"(?<!\w)\+\d[\d\s().-]{6,20}\d",
    r"\b(?:19|20)\d\d[-./](?:0?[1-9]|1[0-2])[-./](?:0?[1-9]|[12]\d|3[01])\b",
    r"\b(?:0?[1-9]|[12]\d|3[01])[./-](?:0?[1-9]|1[0-2])[./-](?:(?:19|20)\d\d|\d\d)\b",
    r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
    r"(?<![\w#&])#\d{3,}\b",
)
# Names of invoices, flights, parts: capitals, then figures.
IDENTIFIERS = re.compile(
    r"\b[A-Z]{1,6}[-/]\d{3,}[\w-]*|\b(?=[A-Z]*\d{2})[A-Z]{1,4}\d{4,}[A-Z0-9]*\b"
)
MEASURES = any_of(
    r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?![\d:])",
    r"[$€£₽¥]\s?\d|\b\d[\d.,]{0,20}\s?[$€£₽¥]",
    r"(?<![\d.,])\d{1,3}(?:[ ,.'\u00a0]\d{3})+(?![\d])",
    r"(?<![\w.,+-])\d{5,}(?![\w])",
)
