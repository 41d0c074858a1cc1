"""Doorbells: thin shells that hand work to the process's event loop."""

import threading

from asgiref.sync import async_to_sync
from celery import shared_task, signals

from sessions import bells
from sessions.channels.telegram import menu
from sessions.models import ChannelContact
from sessions.turns.worker import Worker

_workers: list[Worker] = []


@signals.worker_init.connect
def _start(**_: object) -> None:
    worker = Worker()
    worker.start()
    _workers.append(worker)


@signals.worker_shutting_down.connect
def _close(**_: object) -> None:
    # A thread, since this runs inside a signal handler, which must not wait for locks that the
    # code it interrupted may hold. Tasks end when their turns are handed back.
    while _workers:
        threading.Thread(target=_workers.pop().close, name="farewell").start()


@shared_task(name=bells.RUN, ignore_result=True)
def run(session_id: int) -> None:
    """Run a session's waiting turns and wait for them; without a worker, leave it to the sweep."""
    for worker in _workers:
        worker.run_session(session_id)


@shared_task(name=bells.SEND, ignore_result=True)
def send(outgoing_id: int) -> None:
    """Send what waits for a chat, without waiting for it; without a worker, leave it to the sweep.

    Args:
        outgoing_id: A row that was queued; what stands before it in its chat leaves first.
    """
    for worker in _workers:
        worker.send(outgoing_id)


@shared_task(name=bells.MENU, ignore_result=True)
def set_menu(contact_id: int) -> None:
    """Set the menu of one contact's chat in the language that they chose."""
    rows = ChannelContact.objects.select_related("account", "person")
    contact = rows.filter(pk=contact_id).first()
    if contact is not None:
        async_to_sync(menu.refresh)(contact)
