"""What staff do to an account, each with a reason: a page with a form, and one call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from accounts import invitations, suspension
from accounts.addresses import MAX_LENGTH, clean_address
from accounts.audited import actor
from accounts.entitlements import override, set_plan
from accounts.models import Account, Plan, Role, User
from accounts.plans import OVERRIDABLE


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=500, help_text="Stands in the audit log.")


class PlanForm(ReasonForm):
    plan = forms.ChoiceField(choices=Plan.choices)
    field_order = ("plan", "reason")


class OverrideForm(ReasonForm):
    name = forms.ChoiceField(choices=[(name, name) for name in OVERRIDABLE], label="Number")
    value = forms.IntegerField(
        min_value=0, max_value=1 << 40, required=False, help_text="Empty: without limit. 0: none."
    )
    expires_at = forms.DateTimeField(required=False, help_text="UTC. Empty: for good.")
    field_order = ("name", "value", "expires_at", "reason")


class InviteForm(forms.Form):
    email = forms.CharField(max_length=MAX_LENGTH, label="E-mail")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.OWNER)

    def clean_email(self) -> str:
        return clean_address(self.cleaned_data["email"])


def _plan(account: Account, asked: Mapping[str, Any], by: User) -> str:
    changed = set_plan(account, asked["plan"], by=by, reason=asked["reason"])
    return f"The plan is {asked['plan']}." if changed else "It was on that plan already."


def _override(account: Account, asked: Mapping[str, Any], by: User) -> str:
    made = override(
        account, asked["name"], asked["value"], by=by, reason=asked["reason"], expires_at=asked["expires_at"]
    )
    return f"Changed: {made}."


def _suspend(account: Account, asked: Mapping[str, Any], by: User) -> str:
    done = suspension.suspend(account, by=by, reason=asked["reason"])
    return "Suspended. What runs may finish; nothing new starts." if done else "It was suspended already."


def _restore(account: Account, asked: Mapping[str, Any], by: User) -> str:
    done = suspension.restore(account, by=by, reason=asked["reason"])
    return "Restored." if done else "It was not suspended."


def _invite(account: Account, asked: Mapping[str, Any], by: User) -> str:
    sent = invitations.invite(account, asked["email"], role=asked["role"], by=by)
    return f"Invited {asked['email']}." if sent else "The mail could not be sent: try again."


@dataclass(frozen=True, slots=True)
class Action:
    title: str
    form: type[forms.Form]
    do: Callable[[Account, Mapping[str, Any], User], str]


ACTIONS: Mapping[str, Action] = {
    "plan": Action("Change the plan", PlanForm, _plan),
    "override": Action("Change a number", OverrideForm, _override),
    "suspend": Action("Suspend", ReasonForm, _suspend),
    "restore": Action("Restore", ReasonForm, _restore),
    "invite": Action("Invite somebody", InviteForm, _invite),
}


def act(model_admin: ModelAdmin, request: HttpRequest, account: Account, name: str) -> HttpResponse:
    """The page of an action, and the action. Needs the permission to change accounts."""
    action = ACTIONS.get(name)
    if action is None:
        raise Http404
    if not model_admin.has_change_permission(request, account):
        raise PermissionDenied
    form = action.form(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            message = action.do(account, form.cleaned_data, actor(request))
        except ValidationError as error:
            form.add_error(None, error if not hasattr(error, "error_dict") else ValidationError(error.messages))
        else:
            messages.success(request, message)
            return HttpResponseRedirect(reverse("admin:accounts_account_change", args=[account.pk]))
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"{action.title}: {account.name}",
        "opts": model_admin.opts,
        "original": account,
        "form": form,
    }
    return render(request, "admin/accounts/account/act.html", context, status=400 if form.is_bound else 200)
