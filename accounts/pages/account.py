"""The account itself: its name, and what its plan gives."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts import audit
from accounts.addresses import clean_name
from accounts.entitlements import entitlements
from accounts.models import Account, Membership
from accounts.pages import member_page, show


class NameForm(forms.Form):
    name = forms.CharField(max_length=100)

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])


@require_safe
@member_page()
def account(request: HttpRequest, place: Membership) -> HttpResponse:
    return _page(request, place, NameForm({"name": place.account.name}))


@require_POST
@member_page(owners_only=True)
def rename(request: HttpRequest, place: Membership) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        return _page(request, place, form, status=400)
    name = form.cleaned_data["name"]
    audit.record(
        actor=place.user,
        action="rename",
        subject=place.account,
        before={"name": place.account.name},
        after={"name": name},
    )
    Account.objects.filter(pk=place.account_id).update(name=name)
    messages.success(request, "The account has a new name.")
    return redirect("account")


@require_safe
@member_page()
def welcome(request: HttpRequest, place: Membership) -> HttpResponse:
    """The first page after an invitation: what to do next."""
    return show(request, place, "members/welcome.html", {"entitled": entitlements(place.account)})


def _page(request: HttpRequest, place: Membership, form: NameForm, *, status: int = 200) -> HttpResponse:
    context = {"form": form, "entitled": entitlements(place.account)}
    return show(request, place, "members/account.html", context, status=status)
