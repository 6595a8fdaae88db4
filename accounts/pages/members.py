"""Who belongs to the account, and who is invited."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts import invitations, members
from accounts.addresses import MAX_LENGTH, clean_address
from accounts.models import Membership, Role, User
from accounts.pages import member_page, show
from accounts.rates import MAILS, per_address


class InviteForm(forms.Form):
    email = forms.CharField(label="E-mail", max_length=MAX_LENGTH, widget=forms.EmailInput)
    role = forms.ChoiceField(choices=Role.choices, initial=Role.MEMBER)

    def clean_email(self) -> str:
        return clean_address(self.cleaned_data["email"])


@require_safe
@member_page()
def member_list(request: HttpRequest, place: Membership) -> HttpResponse:
    return _page(request, place, InviteForm())


@require_POST
@per_address("invite", MAILS)
@member_page(owners_only=True)
def invite(request: HttpRequest, place: Membership) -> HttpResponse:
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, place, form, status=400)
    asked = form.cleaned_data
    if invitations.invite(place.account, asked["email"], role=asked["role"], by=place.user):
        messages.success(request, f"We have written to {asked['email']}. The link works for a week.")
    else:
        messages.error(request, f"The mail to {asked['email']} could not be sent. Please invite again in a while.")
    return redirect("members")


@require_POST
@member_page(owners_only=True)
def withdraw(request: HttpRequest, place: Membership, invitation_id: int) -> HttpResponse:
    found = next((one for one in invitations.open_of(place.account) if one.pk == invitation_id), None)
    if found is None:
        raise Http404
    invitations.withdraw(found, by=place.user)
    messages.success(request, f"The invitation of {found.email} is withdrawn.")
    return redirect("members")


@require_POST
@member_page(owners_only=True)
def change_role(request: HttpRequest, place: Membership, user_id: int) -> HttpResponse:
    role = request.POST.get("role", "")
    if role not in Role.values:
        raise Http404
    return _change(request, lambda: members.change_role(place.account, user_id, role, by=place.user))


@require_POST
@member_page(owners_only=True)
def remove(request: HttpRequest, place: Membership, user_id: int) -> HttpResponse:
    return _change(request, lambda: members.remove(place.account, user_id, by=place.user))


@require_POST
@member_page()
def choose(request: HttpRequest, place: Membership) -> HttpResponse:
    """Look at another of one's accounts."""
    chosen = request.POST.get("account", "")
    assert isinstance(request.user, User)
    if not chosen.isdecimal() or not members.choose(request.user, int(chosen[:18]), request.session):
        raise Http404
    return redirect("dashboard")


def _change(request: HttpRequest, change: Any) -> HttpResponse:
    try:
        change()
    except Membership.DoesNotExist:
        raise Http404 from None
    except members.LastOwner:
        messages.error(request, "An account needs an owner: make somebody else one first.")
    return redirect("members")


def _page(request: HttpRequest, place: Membership, form: InviteForm, *, status: int = 200) -> HttpResponse:
    everybody = Membership.objects.filter(account=place.account).select_related("user").order_by("created_at", "pk")
    context = {"members": everybody, "invitations": invitations.open_of(place.account), "form": form}
    return show(request, place, "members/members.html", context, status=status)
