"""The account's API keys. A secret is in the answer to the request that made it, and nowhere afterwards."""

from datetime import timedelta

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts import audit, keys
from accounts.addresses import clean_name
from accounts.models import ApiKey, Membership
from accounts.pages import member_page, show
from accounts.scopes import SCOPES

_LIFETIMES = {"": "never", "7": "in 7 days", "30": "in 30 days", "90": "in 90 days", "365": "in a year"}
_GRACES = {"0": "at once", "1": "in an hour", "24": "in a day", "168": "in a week"}


class KeyForm(forms.Form):
    name = forms.CharField(max_length=100, help_text="To tell it from the others: where it is used.")
    scopes = forms.MultipleChoiceField(
        choices=list(SCOPES.items()), widget=forms.CheckboxSelectMultiple, initial=list(SCOPES), label="It may"
    )
    expires = forms.ChoiceField(choices=list(_LIFETIMES.items()), required=False, label="It expires")

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])


class GraceForm(forms.Form):
    grace = forms.ChoiceField(choices=list(_GRACES.items()))


@require_safe
@member_page()
def key_list(request: HttpRequest, place: Membership) -> HttpResponse:
    return _page(request, place, KeyForm())


@require_POST
@member_page()
def make(request: HttpRequest, place: Membership) -> HttpResponse:
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _page(request, place, form, status=400)
    asked = form.cleaned_data
    days = int(asked["expires"] or 0)
    key, secret = keys.make_key(
        account=place.account,
        name=asked["name"],
        scopes=asked["scopes"],
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    _record(place, "key made", key)
    return _page(request, place, KeyForm(), made=key, secret=secret)


@require_POST
@member_page()
def rotate(request: HttpRequest, place: Membership, key_id: int) -> HttpResponse:
    old = _mine(place, key_id)
    form = GraceForm(request.POST)
    if not form.is_valid():
        return _page(request, place, KeyForm(), status=400)
    try:
        key, secret = keys.rotate(old, grace=timedelta(hours=int(form.cleaned_data["grace"])))
    except keys.KeyIsOver:
        messages.error(request, f"{old.name} is revoked or has expired: make a new one.")
        return redirect("keys")
    _record(place, "key rotated", old, successor=key.prefix)
    return _page(request, place, KeyForm(), made=key, secret=secret)


@require_POST
@member_page()
def revoke(request: HttpRequest, place: Membership, key_id: int) -> HttpResponse:
    key = _mine(place, key_id)
    if keys.revoke(key):
        _record(place, "key revoked", key)
    messages.success(request, f"{key.name} is revoked. It is refused from now on.")
    return redirect("keys")


def _mine(place: Membership, key_id: int) -> ApiKey:
    key = ApiKey.objects.filter(account=place.account, pk=key_id).first()
    if key is None:
        raise Http404
    return key


def _page(
    request: HttpRequest,
    place: Membership,
    form: KeyForm,
    *,
    made: ApiKey | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "keys": ApiKey.objects.filter(account=place.account).order_by("revoked_at", "-created_at")[:500],
        "form": form,
        "graces": _GRACES.items(),
        "made": made,
        "secret": secret,
        "now": timezone.now(),
    }
    return show(request, place, "members/keys.html", context, status=status)


def _record(place: Membership, action: str, key: ApiKey, **more: str) -> None:
    after = {"key": key.prefix, "name": key.name, **more}
    audit.record(actor=place.user, action=action, subject=place.account, before={}, after=after)
