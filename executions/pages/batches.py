"""Batches: where they stand. Their runs are in the history, filtered."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.models import Membership
from accounts.pages import member_page, show
from codeforge.errors import InvalidRequest, NotFound
from executions import paging
from executions.batches import state
from executions.models import Batch
from executions.pages.bars import parts_of

_PAGE = 50


@require_safe
@member_page()
def batch_list(request: HttpRequest, place: Membership) -> HttpResponse:
    mine = Batch.objects.filter(account=place.account, evaluation=None)
    try:
        page, following = paging.cut(mine, limit=_PAGE, cursor=request.GET.get("cursor") or None)
    except InvalidRequest:
        raise Http404 from None
    shown = [(one, state.state_of(one)) for one in page]
    return show(request, place, "batches/list.html", {"batches": shown, "following": following})


@require_safe
@member_page()
def detail(request: HttpRequest, place: Membership, batch_id: uuid.UUID) -> HttpResponse:
    try:
        batch = state.get_for(place.account, batch_id)
    except NotFound:
        raise Http404 from None
    now = state.state_of(batch)
    return show(request, place, "batches/detail.html", {"batch": batch, "state": now, "bar": parts_of(now.counts)})
