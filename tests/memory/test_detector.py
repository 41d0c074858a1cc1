"""What a message gives and what it does not; plain, no database."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.detector import SCANNED_CHARACTERS, Hit, scan

# A message, and the categories that it gives.
MESSAGES = [
    ("Actually, her name is Malika, not Malina", "correction"),
    ("Actually, my name is Rustam, not Ruslan", "correction,proper_noun"),
    ("I'm hungry, what a long morning", ""),
    ("I'm flying to Bukhara on Sunday", ""),
    ("It's snowing again", ""),
    ("I want you to rewrite this paragraph in French", ""),
    ("I prefer short answers and metric units", "preference"),
    ("Let's go with Valkey for the cache", "decision"),
    ("We decided to launch in May instead of April", "decision"),
    ("Remember that the certificate renews yearly", "remember"),
    ("Please keep in mind I am lactose intolerant", "remember"),
    ("Do you remember the song from last week?", ""),
    ("The deadline is 2026-03-01", "specific_value"),
    ("Deadline: 3 March, 9am", "specific_value"),
    ("My email is eve@example.org and my phone is +998 91 765-43-21", "specific_value"),
    ("My password is swordfish99, don't forget it", "remember"),
    ('She wrote "I hate this hotel" in the review, summarise it', ""),
    ("No, I said green, you wrote grey", "correction"),
    ("Call me Lou", "proper_noun"),
    ("I don't like loud places", "preference"),
    ("use a table in this answer", ""),
    ("Forget that I work in Paris", ""),
    ("Thank you, that's perfect!", ""),
    ("The ticket number is TK-99120", "specific_value"),
    ("Mening ismim Jahongir", "proper_noun"),
    ("Ismim Sevara, Buxorodanman", "proper_noun"),
    ("Men kecha kutubxonaga bordim", ""),
    ("Yo'q, kerak emas", ""),
    ("Yoʻq, men Xiva emas, Buxoro demoqchi edim", "correction"),
    ("Menga sho'rva yoqadi, baliqni yoqtirmayman", "preference"),
    ("Men choy yoqtiraman", "preference"),
    ("Keling, Celery ishlatamiz", "decision"),
    ("Qani, mening kitobim qayerda?", ""),
    ("Eslab qol: dushanba soat 9:30 da majlis", "remember,specific_value"),
    ("Esingda bo'lsin, otamning tug'ilgan kuni 12-aprel", "remember,specific_value"),
    ("Мени исмим Нодир, эслаб қол", "proper_noun,remember"),
    ("Unutma, xat jumagacha yuborilishi kerak", "remember"),
    ("Batafsil javoblarni afzal ko'raman", "preference"),
    ("I'm Bobur", "proper_noun"),
    ("Hi, I'm Sardor from Tashkent", "proper_noun"),
    ("hey i am Dilnoza and i need help", "proper_noun"),
    ("my name is bobur", "proper_noun"),
    ("My name's Kate, what's yours?", "proper_noun"),
    ("I'm Back", ""),
    ("I'm Uzbek", ""),
    ("I'm fine, thanks", ""),
    ("You can call me Sam", "proper_noun"),
    ("Call me later", ""),
    ("Call me tomorrow at 5pm", ""),
    ("My wife's name is Nodira", "proper_noun"),
    ("My dog is called Rex", "proper_noun"),
    ("MY NAME IS BOBUR", "proper_noun"),
    ("What is my name?", ""),
    ("what's my name", ""),
    ("Do you know my name", ""),
    ("Do you know that my name is Dan?", ""),
    ("Actually, the meeting is on Tuesday", "correction"),
    ("Actually, that's great", ""),
    ("Actually I'm tired", ""),
    ("No, it's fine", ""),
    ("No, thanks", ""),
    ("No, it's Tuesday", "correction"),
    ("Sorry, I meant Friday", "correction"),
    ("I meant 5pm, not 6pm", "correction,specific_value"),
    ("It's not Sarvar, it's Sardor", "correction"),
    ("It's not bad, it's good", ""),
    ("That's wrong, the capital is Astana", "correction"),
    ("You misspelled it: it's Katherine", "correction"),
    ("The meeting is on Monday, not Tuesday", "correction"),
    ("Wait, I said three copies, you typed five", "correction"),
    ("I really like jazz", "preference"),
    ("I like it", ""),
    ("I love this!", ""),
    ("I like your answer", ""),
    ("I don't like this answer", ""),
    ("I'd like a coffee", ""),
    ("I'd like you to summarise this", ""),
    ("I want a pizza right now", ""),
    ("I want short answers", "preference"),
    ("I don't want emojis in your answers", "preference"),
    ("Do I like coffee?", ""),
    ("Do you like coffee?", ""),
    ("My favourite colour is green", "preference"),
    ("I hate meetings before 10am", "preference,specific_value"),
    ("I never liked him", ""),
    ("I can't stand loud music", "preference"),
    ("I would prefer to get answers in Uzbek", "preference"),
    ("Always answer in Uzbek", "preference"),
    ("From now on, write short answers", "preference"),
    ("Never use emojis", "preference"),
    ("Never mind", ""),
    ("answer in Russian please", ""),
    ("Write in bullet points", ""),
    ("I like tea, do you?", "preference"),
    ("She said she likes tea", ""),
    ('My boss said "I prefer Java"', ""),
    ("My brother says I love coffee too much", ""),
    ("Anna wrote: I love this phone", ""),
    ("Let's use Redis for the queue", "decision"),
    ("Let's go home", ""),
    ("Let's see", ""),
    ("Let's do it", ""),
    ("Let's not use Docker", "decision"),
    ("We agreed on a weekly call", "decision"),
    ("We haven't decided yet", ""),
    ("Have we decided?", ""),
    ("OK, go with the blue one", "decision"),
    ("I decided to switch to Linux", "decision"),
    ("Should we use Redis?", ""),
    ("We'll go with Celery", "decision"),
    ("Decision: monthly billing", "decision"),
    ("use Python for this script", ""),
    ("My budget is $5000", "specific_value"),
    ("Our server is at 10.0.0.5", "specific_value"),
    ("See https://example.com/docs", "specific_value"),
    ("Summarise https://example.com/docs", ""),
    ("Translate this: My name is Bobur and I like tea", ""),
    ("Translate this:\nMy name is Bobur. I like tea.", ""),
    ("Order number is 4512", "specific_value"),
    ("My phone is +998901234567", "specific_value"),
    ("I woke up at 7:30 today", ""),
    ("It's 15:00 already", ""),
    ("I paid 20000 yesterday", ""),
    ("I'm going to the gym at 6pm", ""),
    ("The exam is on 12.03.2026", "specific_value"),
    ("The deadline is next Friday", "specific_value"),
    ("What is 12345 times 678?", ""),
    ("Don't forget to buy milk", "remember"),
    ("Don't forget: the gate code is 4521", "remember,specific_value"),
    ("I'll never forget that day", ""),
    ("I don't remember where I put it", ""),
    ("Remember when we met?", ""),
    ("Remember when we met in Paris", ""),
    ("I remember my school", ""),
    ("Please remember that my flight is HY 601", "remember,specific_value"),
    ("Can you remember that my son is called Ali?", "remember,proper_noun"),
    ("Can you remember that movie?", ""),
    ("Could you please remember that I prefer tea?", "remember,preference"),
    ("Remember this: my son is allergic to milk", "remember"),
    ("My son is allergic to milk. Remember this!", "remember"),
    ("Remember this", ""),
    ("Keep in mind that I work nights", "remember"),
    ("Note that the office is closed on Fridays", "remember"),
    ("For future reference, the wifi is in the hall", "remember"),
    ("Forget my email dana@example.org", ""),
    ("Please forget that my name is Dan", ""),
    ("Don't remember this: my card is 4111 1111 1111 1111", ""),
    ("My card number is 4111 1111 1111 1111", ""),
    ("Remember my card 4111 1111 1111 1111", "remember"),
    ("My PIN is 4321", ""),
    ("I'm tired. My name is Bobur. It's raining.", "proper_noun"),
    ("> My name is Bobur", ""),
    ('```\nmy name = "x"\ndeadline 2025-06-15\n```', ""),
    ('{"from": "My name is Eve", "deadline": "2025-01-01"}', ""),
    ("If I like it I will tell you", ""),
    ("I think I like jazz", "preference"),
    ("I’m Bobur", "proper_noun"),
    ("Don’t forget that I’m allergic to nuts", "remember"),
    ("how do I use Redis", ""),
    ("thanks, you too", ""),
    ("Let me introduce myself: I'm Anna", "proper_noun"),
    ("Ismim aziz", "proper_noun"),
    ("Men Azizman", "proper_noun"),
    ("Men Toshkentdanman", ""),
    ("Meni Jasur deb chaqiring", "proper_noun"),
    ("Ismim nima?", ""),
    ("Mening ismim kim", ""),
    ("Mening ismim esingdami?", ""),
    ("Assalomu alaykum, ismim Malika, yordam bera olasizmi?", "proper_noun"),
    ("Men charchadim", ""),
    ("Bugun havo yaxshi", ""),
    ("Men qahvani yoqtirmayman", "preference"),
    ("Menga futbol yoqadi", "preference"),
    ("Menga bu javob yoqdi", ""),
    ("Bu menga yoqadi", ""),
    ("Senga choy yoqadimi?", ""),
    ("Menga uzun xatlar yoqmaydi", "preference"),
    ("Ko'k rangni afzal ko'raman", "preference"),
    ("Sevimli taomim — osh", "preference"),
    ("Onamga choy yoqadi", ""),
    ("Akam men kofe yoqtiraman dedi", ""),
    ("Har doim o'zbekcha javob ber", "preference"),
    ("Hech qachon emoji ishlatma", "preference"),
    ("O'zbekchaga tarjima qil", ""),
    ("Buni tarjima qil: Mening ismim Aziz, kofe yoqtiraman", ""),
    ("Qisqaroq yoz", ""),
    ("PostgreSQL ishlataylik", "decision"),
    ("Keling, Redisni tanlaymiz", "decision"),
    ("Dushanba kuni chiqarishga qaror qildik", "decision"),
    ("Keling, gaplashamiz", ""),
    ("Keling, dam olamiz", ""),
    ("Hali qaror qilmadik", ""),
    ("Yo'q, juma emas, shanba", "correction"),
    ("Yo'q, kerak emas, rahmat", ""),
    ("Aslida ismim Sardor, Sarvar emas", "proper_noun,correction"),
    ("Yo‘q, men shanba demoqchi edim", "correction"),
    ("Noto'g'ri yozding, ismim Zafar", "correction,proper_noun"),
    ("Men seshanba degandim, siz payshanba yozdingiz", "correction"),
    ("Yaxshi emas, lekin bo'ladi", ""),
    ("Eslab qoling: wifi kodi 4521", "remember,specific_value"),
    ("Esda tut, men yong'oqqa allergiyam bor", "remember"),
    ("Unutmang, ertaga majlis bor", "remember"),
    ("Yodda tut: ofis 9 da ochiladi", "remember"),
    ("eslab qol: ofis 9 da ochiladi", "remember"),
    ("Eslab qolma, bu shunchaki hazil", ""),
    ("Ismimni unut", ""),
    ("Eslaysanmi, o'tgan safar nima degandik?", ""),
    ("Men uni eslab qoldim", ""),
    ("Eslab qol", ""),
    ("Uchrashuv 15-iyun kuni soat 10:00 da", "specific_value"),
    ("Telefonim +998 90 123 45 67", "specific_value"),
    ("Byudjetim 500 ming so'm", "specific_value"),
    ("Narxi 12 000 so'm", "specific_value"),
    ("Bugun soat 7 da turdim", ""),
    ("Parolim salom123, unutma", "remember"),
    ("Менинг исмим Азиз", "proper_noun"),
    ("Менга кўк чой ёқади", "preference"),
    ("Мен кофени ёқтирмайман", "preference"),
    ("Келинг, Django ишлатамиз", "decision"),
    ("Йўқ, жума эмас, шанба", "correction"),
    ("Эслаб қол: эртага соат 15:00 да учрашув", "remember,specific_value"),
    ("Унутма, дори ичиш керак", "remember"),
    ("Менинг буюртмам қаерда?", ""),
    ("Rahmat, juda yaxshi", ""),
    ("Xayr, ertagacha", ""),
    ("Kecha kino ko'rdim", ""),
    ("Ha, to'g'ri", ""),
    ("Menga yordam kerak", ""),
    ("Ismim Bobur, sizniki nima?", "proper_noun"),
]


def categories(text: str) -> set[str]:
    return {hit.category for hit in scan(text)}


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_message_gives_its_categories(message: str, expected: str) -> None:
    assert categories(message) == set(filter(None, expected.split(",")))


@pytest.mark.parametrize("apostrophe", "ʻʼ'‘’`")
def test_every_apostrophe_is_the_same(apostrophe: str) -> None:
    message = f"Yo{apostrophe}q, men ko{apostrophe}k emas, qizil demoqchi edim"
    assert categories(message) == {"correction"}
    assert categories(f"I don{apostrophe}t like long meetings") == {"preference"}


def test_hit_is_the_sentence_that_carries_it() -> None:
    hits = scan("Hello there! My name is Bobur, what is yours? It is raining. I like green tea.")
    assert hits == [
        Hit("proper_noun", "My name is Bobur"),
        Hit("preference", "I like green tea."),
    ]


def test_negation_is_kept() -> None:
    assert scan("I don't like long emails")[0].text == "I don't like long emails"


def test_remember_this_takes_the_fact_beside_it() -> None:
    before = scan("My son is allergic to milk. Please remember this!")
    ahead = scan("Remember this: \n- the gate is blue\n- the dog bites")
    nothing = scan("Remember this!")
    assert before == [Hit("remember", "My son is allergic to milk. Please remember this!")]
    assert ahead == [Hit("remember", "Remember this: - the gate is blue - the dog bites")]
    assert nothing == []


def test_text_handed_over_is_not_the_persons_own() -> None:
    pasted = "Translate this:\nMy name is Eve. I prefer tea.\n\nMy name is Dan."
    assert scan(pasted) == [Hit("proper_noun", "My name is Dan.")]


def test_durable_are_names_likings_and_what_to_remember() -> None:
    hits = scan("My name is Bobur. I like tea. Remember the door. Let's use Redis. Due 2025-06-15.")
    assert {hit.category: hit.is_durable for hit in hits} == {
        "proper_noun": True,
        "preference": True,
        "remember": True,
        "decision": False,
        "specific_value": False,
    }


def test_long_sentence_is_kept_in_part() -> None:
    hits = scan("I like tea and " + "very long walks " * 60)
    assert [hit.category for hit in hits] == ["preference"]
    assert len(hits[0].text) <= 300


def test_end_of_a_long_message_is_read() -> None:
    hits = scan("la la la. " * 9000 + "My name is Bobur.")
    assert hits == [Hit("proper_noun", "My name is Bobur.")]


def test_unknown_language_is_skipped() -> None:
    assert scan("My name is Bobur", languages=["xx"]) == []
    assert scan("Ismim Aziz", languages=["en"]) == []


@given(st.text(max_size=400))
def test_anything_is_read_without_a_mistake(text: str) -> None:
    for hit in scan(text):
        assert 0 < len(hit.text) <= 300


_PIECES = st.sampled_from(
    ["i like ", "my name is ", "A", "a ", "1", "1234 ", '"', "'", "`", "«", "(", "- ", ",", ", ",
     ".", ". ", "?", "\n", "> ", "{", "emas, ", "men ", "password ", "password is ", "parolim ",
     "eyJ", "://", "@", "no, ", "let's use ", "x=", "&key=", "```", "е", "ў", " ", "\t"]
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(_PIECES, min_size=1, max_size=4).map("".join))
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    """100 kB take a fraction of a second, whatever is repeated in them."""
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    started = time.process_time()
    scan(text)
    assert time.process_time() - started < 2.0
    assert len(text) > SCANNED_CHARACTERS
